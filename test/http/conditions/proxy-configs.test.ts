/** Proxy configs over HTTP (conditions.md 10.4): fields, validation, limits and secrets. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  MAPPING_QUERY_MEMBERS_MAX,
  MAPPING_RULE_BYTES_MAX,
  MAPPING_RULES_PER_CONFIG_MAX,
  MAPPING_SEGMENTS_MAX,
  MAPPING_URL_LENGTH_MAX,
  PROXY_SECRET_BYTES_MAX,
} from '#model/limits.ts'
import type { ProxyConfig } from '#entities/proxy-config.ts'
import { PURPOSE, Seal } from '#secrets/seal.ts'
import { listRule, lists } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import {
  ADMIN_KEY,
  FACTS,
  fresh,
  RESOURCES,
  revisionOf,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { DUPLICATE, INVALID, NOT_FOUND, type Problem, refusal } from '../../support/calls/refusals.ts'

const verdict = await sharedService()
const CONFIGS = `${FACTS}/proxy_configs`
const RULE = { url: 'https://a.org/pages/{id}', http_method: 'get', resource: 'page' }
const { id: pageId } = await verdict.resource({ key: 'page', actions: { read: {}, write: {} } })

function bodyWith(fields: object = {}) {
  const [key] = fresh('gateway')
  return { key, name: 'Gateway', secret: 'hush', ...fields }
}

const post = (fields: object) => verdict.post<ProxyConfig>(CONFIGS, bodyWith(fields))

const made = (fields: object = {}) => verdict.done<ProxyConfig>('POST', CONFIGS, bodyWith(fields))

/** Positions and messages of the errors in a rule. */
async function findings(rule: object) {
  const answer = await post({ mapping_rules: [RULE, { ...RULE, ...rule }] })
  expect(refusal(answer)).toEqual(INVALID)
  return (answer.body as unknown as Problem).detail!.map(({ loc, msg }) => [loc.join('.'), msg])
}

describe('a proxy config', () => {
  test('is returned with all fields of its creation except the secret, by key and by id', async () => {
    const [key] = fresh('full')
    const answer = await verdict.post<ProxyConfig>(CONFIGS, {
      key,
      name: 'Front door',
      secret: { 'X-Key': 'hush' },
      auth_mechanism: 'Headers',
      mapping_rules: [
        { ...RULE, action: 'write', priority: -3, headers: { 'X-A': 'b' }, url_type: null, color: 'ignored' },
        { ...RULE, http_method: 'options', resource: pageId, action: null, headers: null, priority: null },
      ],
    })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect(revisionOf(answer)).toMatch(/^[\w-]+\.\d+$/u)
    expect(answer.body).toEqual({
      id: expect.any(String),
      key,
      organization_id: expect.any(String),
      project_id: expect.any(String),
      environment_id: expect.any(String),
      created_at: expect.any(String),
      updated_at: answer.body.created_at,
      name: 'Front door',
      auth_mechanism: 'Headers',
      mapping_rules: [
        { ...RULE, action: 'write', priority: -3, headers: { 'X-A': 'b' } },
        { ...RULE, http_method: 'options', action: null, priority: null, headers: {} },
      ],
    })
    expect((await verdict.get(`${CONFIGS}/${key}`)).body).toEqual(answer.body)
    expect((await verdict.get(`${CONFIGS}/${answer.body.id.toUpperCase()}`)).body).toEqual(answer.body)
    // Decision points read proxy configs under `/facts`.
    expect((await verdict.get(`/facts/proxy_configs/${key}`)).body).toEqual(answer.body)
  })

  test('accepts the id of an action, and stores its key', async () => {
    const { body: page } = await verdict.get<{ actions: Record<string, { id: string }> }>(`${RESOURCES}/page`)
    const config = await made({ mapping_rules: [{ ...RULE, action: page.actions['write']!.id }] })
    expect(config.mapping_rules[0]!.action).toBe('write')
  })

  test('is changed field by field, and its rules are replaced as a whole', async () => {
    const config = await made({ mapping_rules: [RULE, { ...RULE, url: 'https://a.org/b' }] })
    const path = `${CONFIGS}/${config.key}`
    const renamed = await verdict.patch<ProxyConfig>(path, { name: 'Other', key: 'ignored', secret: 'new' })
    expect(renamed.body).toEqual({ ...config, name: 'Other', updated_at: renamed.body.updated_at })
    const { body } = await verdict.patch<ProxyConfig>(`${CONFIGS}/${config.id}`, {
      auth_mechanism: 'Basic',
      mapping_rules: [{ ...RULE, url: 'https://a.org/c' }],
    })
    expect([body.auth_mechanism, body.mapping_rules.map(({ url }) => url)]).toEqual([
      'Basic',
      ['https://a.org/c'],
    ])
    expect((await verdict.get(path)).body).toEqual(body)
    expect((await verdict.patch<ProxyConfig>(path, { mapping_rules: [] })).body.mapping_rules).toEqual([])
  })

  test('has `case_sensitive` and `encoded_slashes` only in rules that declare them', async () => {
    const config = await made({
      mapping_rules: [
        { ...RULE, case_sensitive: true, encoded_slashes: 'literal' },
        { ...RULE, http_method: 'put', case_sensitive: false, encoded_slashes: null },
        { ...RULE, http_method: 'post', case_sensitive: null },
      ],
    })
    const read = { ...RULE, action: null, priority: null, headers: {} }
    expect(config.mapping_rules).toEqual([
      { ...read, case_sensitive: true, encoded_slashes: 'literal' },
      { ...read, http_method: 'put' },
      { ...read, http_method: 'post' },
    ])
    expect((await verdict.get(`${CONFIGS}/${config.key}`)).body).toEqual(config)
  })

  test('loses the rules that a change marks with should_delete, even if their resource was deleted', async () => {
    const [gone] = fresh('gone')
    await verdict.resource({ key: gone, actions: { read: {} } })
    const [a, b, c] = ['a', 'b', 'c'].map(path => ({ ...RULE, url: `https://a.org/${path}` }))
    const config = await made({ mapping_rules: [a, { ...b, resource: gone, action: 'read' }, c] })
    expect((await verdict.delete(`${RESOURCES}/${gone}`)).status).toBe(204)
    const urlsAfter = async (mapping_rules: readonly object[]) => {
      const changed = await verdict.done<ProxyConfig>('PATCH', `${CONFIGS}/${config.key}`, { mapping_rules })
      expect((await verdict.get(`${CONFIGS}/${config.key}`)).body).toEqual(changed)
      return changed.mapping_rules.map(({ url }) => url.at(-1))
    }
    const should_delete = true
    expect(await urlsAfter([{ ...b, resource: gone, should_delete }])).toEqual(['a', 'c'])
    // A rule with another method, resource or action is a different rule. Absent rules are ignored.
    for (const other of [{ http_method: 'put' }, { resource: gone }, { action: 'read' }]) {
      expect(await urlsAfter([{ ...a, ...other, should_delete }])).toEqual(['a', 'c'])
    }
    expect(await urlsAfter([{ ...a, resource: pageId, should_delete }])).toEqual(['c'])
    // Rules without the mark replace all existing rules.
    expect(await urlsAfter([a!, { ...b, should_delete: false }, { ...c, should_delete }])).toEqual(['a', 'b'])
    expect(await urlsAfter([a, b].map(marked => ({ ...marked, should_delete })))).toEqual([])
  })

  test('is created without the rules that are marked with should_delete', async () => {
    const marked = { ...RULE, resource: 'no-such', should_delete: true }
    const unmarked = { ...RULE, url: 'https://a.org/b', should_delete: false }
    expect((await made({ mapping_rules: [marked, unmarked] })).mapping_rules.map(({ url }) => url)).toEqual([
      unmarked.url,
    ])
    expect((await made({ mapping_rules: [marked] })).mapping_rules).toEqual([])
  })

  test('does not exist after its deletion', async () => {
    const { key } = await made()
    expect((await verdict.delete(`${CONFIGS}/${key}`)).status).toBe(204)
    for (const method of ['GET', 'DELETE'])
      expect(refusal(await verdict.send(method, `${CONFIGS}/${key}`))).toEqual(NOT_FOUND)
    expect(refusal(await verdict.patch(`${CONFIGS}/${key}`, {}))).toEqual(NOT_FOUND)
  })

  test('is listed in creation order and in pages, and is counted', async () => {
    const client = await startedService()
    for (const key of ['c', 'a', 'b'])
      expect((await client.post(CONFIGS, { key, name: 'X', secret: 'x' })).status).toBe(200)
    const keys = (query: string) => client.keysIn(`${CONFIGS}${query}`)
    expect(await keys('')).toEqual(['c', 'a', 'b'])
    expect(await keys('?per_page=2')).toEqual(['c', 'a'])
    expect(await keys('?page=2&per_page=2')).toEqual(['b'])
    expect(refusal(await client.get(`${CONFIGS}?per_page=101`))).toEqual(INVALID)
    const stats = await client.admin('GET', '/v2/projects/default/envs/default/stats')
    expect(stats.body).toMatchObject({ stats: { proxy_configs: 3 } })
  })

  test('is rejected if its key is taken, but errors in its references take precedence', async () => {
    const { key } = await made()
    expect(refusal(await post({ key }))).toEqual(DUPLICATE)
    const nowhere = { key, mapping_rules: [{ ...RULE, resource: 'nowhere' }] }
    expect(refusal(await post(nowhere))).toEqual(NOT_FOUND)
  })

  test.each([
    ['an unknown resource', { resource: 'nowhere' }, 'there is no resource "nowhere"'],
    ['a built-in resource', { resource: '__user' }, 'there is no resource "__user"'],
    ['an undeclared action', { action: 'fly' }, 'there is no action "page:fly"'],
  ])('is rejected with 404 and not created or changed if it names %s', async (_, rule, message) => {
    const mapping_rules = [RULE, { ...RULE, ...rule }]
    const rejected = bodyWith({ mapping_rules })
    const answer = await verdict.post(CONFIGS, rejected)
    expect(refusal(answer)).toEqual(NOT_FOUND)
    expect((answer.body as Problem).message).toContain(message)
    expect((await verdict.get(`${CONFIGS}/${rejected.key}`)).status).toBe(404)
    const config = await made({ mapping_rules: [RULE] })
    const path = `${CONFIGS}/${config.key}`
    expect(refusal(await verdict.patch(path, { name: 'Other', mapping_rules }))).toEqual(NOT_FOUND)
    expect((await verdict.get(path)).body).toEqual(config)
  })
})

describe('a warning about mapping rules that never decide', () => {
  const [key] = fresh('warned')
  const ruled = (url: string, more: object = {}) => ({ ...RULE, url: `https://${key}.org${url}`, ...more })
  const wide = ruled('/{page}')

  test.each([
    ['a rule of a lower priority', [ruled('/{p}', { priority: 1 }), ruled('/admin')], ['1 because of 0']],
    ['the later of two equivalent rules', [wide, ruled('/{other}')], ['1 because of 0']],
    ['a rule that differs only in case', [ruled('/Admin'), ruled('/admin')], ['1 because of 0']],
    ['a rule with a longer query', [ruled('/a', { priority: 1 }), ruled('/a?x=1')], ['1 because of 0']],
    ['no rule after a literal segment', [wide, ruled('/admin'), ruled('/admin/{rest}')], []],
    ['no case-sensitive rule', [ruled('/Admin', { case_sensitive: true }), ruled('/admin')], []],
    ['no rule with a shorter query', [ruled('/a?x=1', { priority: 1 }), ruled('/a')], []],
    ['no rule of another method', [ruled('/{p}', { priority: 1, http_method: 'put' }), ruled('/admin')], []],
  ])('names %s', async (_, mapping_rules, named) => {
    const answer = await post({ mapping_rules })
    expect(answer.status).toBe(200)
    const warning = answer.headers.get('warning')
    if (named.length === 0) expect(warning).toBeNull()
    else expect(warning).toMatch(/^299 - "mapping rules without effect, .*"$/u)
    const found = [...(warning ?? '').matchAll(/_rules\.(\d+) of (\S+) because of mapping_rules\.(\d+)/gu)]
    expect(found.map(([, rule, of, because]) => [of, `${rule} because of ${because}`])).toEqual(
      named.map(text => [answer.body.key, text]),
    )
    expect((await verdict.delete(`${CONFIGS}/${answer.body.key}`)).status).toBe(204)
  })

  test('names a rule of another config if the rules of a config change, but not if only its name changes', async () => {
    const narrow = await made({ mapping_rules: [ruled('/admin')] })
    const other = await made({ mapping_rules: [] })
    const mapping_rules = [ruled('/{p}', { priority: 1 })]
    const changed = await verdict.patch<ProxyConfig>(`${CONFIGS}/${other.key}`, { mapping_rules })
    expect(changed.headers.get('warning')).toContain(
      `mapping_rules.0 of ${narrow.key} because of mapping_rules.0 of ${other.key};`,
    )
    const renamed = await verdict.patch<ProxyConfig>(`${CONFIGS}/${other.key}`, { name: 'Other' })
    expect(renamed.headers.get('warning')).toBeNull()
  })
})

describe('an invalid proxy config', () => {
  test.each([
    ['url_type', 'regex', /regular expressions/u],
    ['url_type', 'glob', /regular expressions/u],
    ['http_method', 'GET', /must be "get"/u],
    ['http_method', 'link', /must be "get"/u],
    ['http_method', null, /must be/u],
    ['priority', 1.5, /integer/u],
    ['priority', '1', /integer/u],
    ['resource', '', /./u],
    ['headers', { a: 1 }, /string/u],
    ['case_sensitive', 'true', /boolean/u],
    ['encoded_slashes', 'separator', /literal/u],
    ['url', 'https://eve@a.org/', /user name/u],
    ['url', 'https://a.org/%252e%252e/a', /\. and \.\./u],
    ['headers', [], /object/u],
    ['url', '', /./u],
    ['url', 'https://a.org/#top', /fragment/u],
    ['url', 'https://a.org/a;b', /not contain ;/u],
    ['url', 'https://a.org/a%0Ab', /control characters/u],
    ['url', 'https://a.org/a b', /spaces/u],
    ['url', 'https://a.org/%zz', /hexadecimal/u],
    ['url', 'https://a.org/%C3', /hexadecimal/u],
    ['url', 'https://a.org/a/../b', /\. and \.\./u],
    ['url', 'https://a.org/%2e', /\. and \.\./u],
    ['url', 'https://a.org/a\nb', /control/u],
    ['url', 'https://a.org/x-{id}', /only around a name/u],
    ['url', 'https://a.org/{}', /only around a name/u],
    ['url', 'https://a.org/{a}{b}', /only around a name/u],
    ['url', 'https://{host}:80/', /only around a name/u],
    ['url', 'https://a.org/?a=x{b}', /only around a name/u],
    ['url', 'https://a.org/?{a}=b', /must name each/u],
    ['url', 'https://a.org/?=b', /must name each/u],
    ['url', 'https://a.org/{a}/{a}', /\{a\} only once/u],
    ['url', 'https://a.org/{a}?x={a}', /\{a\} only once/u],
    ['url', 'https://a.org/?a=1&%61=2', /"a" only once/u],
  ])('is rejected with the position of the error if a rule has the %s %j', async (field, value, message) => {
    const [[loc, msg] = []] = await findings({ [field]: value })
    expect([loc, msg]).toEqual([
      expect.stringMatching(new RegExp(`^body\\.mapping_rules\\.1\\.${field}`, 'u')),
      expect.stringMatching(message),
    ])
  })

  test.each(['url', 'http_method', 'resource'])('is rejected if a rule has no %s', async field => {
    expect(await findings({ [field]: undefined })).toEqual([[`body.mapping_rules.1.${field}`, 'is required']])
  })

  test.each([
    { key: undefined },
    { key: 'a b' },
    { name: undefined },
    { secret: undefined },
    { secret: null },
    { secret: '' },
    { secret: 7 },
    { secret: ['hush'] },
    { auth_mechanism: 'Digest' },
    { mapping_rules: {} },
    { mapping_rules: null },
  ])('is rejected if it has %j', async fields => {
    expect(refusal(await post(fields))).toEqual(INVALID)
  })
})

describe('limits of proxy configs', () => {
  const ofLength = (length: number): string => {
    const start = 'https://a.org/'
    return start + 'x'.repeat(length - start.length)
  }
  /** Expects that counts up to `most` are accepted, and that one more is rejected. */
  const expectLimit = async (most: number, fieldsOf: (count: number) => object) => {
    for (const count of [most - 1, most]) expect((await post(fieldsOf(count))).status).toBe(200)
    expect(refusal(await post(fieldsOf(most + 1)))).toEqual(INVALID)
  }
  const withRule = (rule: object) => ({ mapping_rules: [{ ...RULE, ...rule }] })

  const ruleOfBytes = (bytes: number) => {
    const { url, ...rest } = RULE
    const empty = JSON.stringify({ url, headers: { a: '' } })
    return { url, ...rest, headers: { a: 'x'.repeat(bytes - empty.length) } }
  }

  const times = (count: number, text: (index: number) => string) =>
    Array.from({ length: count }, (_, n) => text(n))
  const rules = (count: number) => times(count, n => `https://a.org/${n}`).map(url => ({ ...RULE, url }))

  test.each<[limited: string, most: number, fieldsOf: (count: number) => object]>([
    ['the length of a URL', MAPPING_URL_LENGTH_MAX, length => withRule({ url: ofLength(length) })],
    [
      'segments of a URL',
      MAPPING_SEGMENTS_MAX,
      count => withRule({ url: times(count, () => 's').join('/') }),
    ],
    [
      'query members of a URL',
      MAPPING_QUERY_MEMBERS_MAX,
      count => withRule({ url: `https://a.org/?${times(count, n => `m${n}`).join('&')}` }),
    ],
    ['bytes of the URL and headers of a rule', MAPPING_RULE_BYTES_MAX, bytes => withRule(ruleOfBytes(bytes))],
    ['rules of a config', MAPPING_RULES_PER_CONFIG_MAX, count => ({ mapping_rules: rules(count) })],
  ])('are inclusive for %s', async (_, most, fieldsOf) => {
    await expectLimit(most, fieldsOf)
  })

  test('do not count the members that responses add to a rule', async () => {
    const { key, mapping_rules } = await made(withRule(ruleOfBytes(MAPPING_RULE_BYTES_MAX)))
    expect(mapping_rules).toMatchObject([{ priority: null }])
    expect((await verdict.patch(`${CONFIGS}/${key}`, { mapping_rules })).status).toBe(200)
  })

  test('apply to secrets that are strings or objects, at creation and in changes', async () => {
    const text = (bytes: number) => 'x'.repeat(bytes - 2)
    const object = (bytes: number) => ({ a: 'x'.repeat(bytes - JSON.stringify({ a: '' }).length) })
    for (const of of [text, object])
      await expectLimit(PROXY_SECRET_BYTES_MAX, bytes => ({ secret: of(bytes) }))
    const { key } = await made()
    const change = (bytes: number) => verdict.patch(`${CONFIGS}/${key}`, { secret: text(bytes) })
    expect((await change(PROXY_SECRET_BYTES_MAX)).status).toBe(200)
    expect(refusal(await change(PROXY_SECRET_BYTES_MAX + 1))).toEqual(INVALID)
  })
})

describe('a proxy config secret', () => {
  const [FIRST, SECOND, INNER] = ['hush-hush-first', 'hush-hush-second', 'hush-hush-inner']

  test('is stored encrypted under the key of the organization, and never returned', async () => {
    const directory = storeDirectory()
    const client = await startedService({ storeUrl: `lmdb:${directory}` })
    const bodies: unknown[] = []
    const send = async (method: string, path: string, body?: unknown) => {
      const answer = await client.send(method, path, { body })
      bodies.push(answer.body)
      return answer
    }
    await client.resource({ key: 'page', actions: { get: {} } })
    const body = { name: 'X', mapping_rules: [RULE] }
    await send('POST', CONFIGS, { ...body, key: 'one', secret: FIRST })
    await send('POST', CONFIGS, { ...body, key: 'two', secret: { header: INNER } })
    await send('PATCH', `${CONFIGS}/one`, { secret: SECOND })
    // Errors do not contain the secret of the request.
    expect((await send('POST', CONFIGS, { ...body, key: 'one', secret: FIRST })).status).toBe(409)
    expect((await send('POST', CONFIGS, { ...body, key: 'b d', secret: FIRST })).status).toBe(422)
    expect((await send('POST', CONFIGS, { ...body, key: 'three', secret: [FIRST] })).status).toBe(422)
    for (const path of [CONFIGS, `${CONFIGS}/one`, '/v2/projects/default/envs/default/export'])
      expect((await send('GET', path)).status).toBe(200)
    const log = await send('GET', '/v2/audit-log/default/default')
    expect(JSON.stringify(log.body)).toContain('"secret":"***"')
    expect(JSON.stringify(bodies)).not.toContain('hush')
    await client.close()
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
    const files = entries.filter(entry => entry.isFile())
    expect(files.length).toBeGreaterThan(0)
    for (const { parentPath, name } of files) {
      expect([name, readFileSync(join(parentPath, name)).includes('hush')]).toEqual([name, false])
    }
    const store = await openStore(`lmdb:${directory}`, listRule)
    const { environment_id } = bodies[0] as ProxyConfig
    const { view } = await store.environment(environment_id, { begin: 'never' })
    const [one, two] = [...new RecordReader(view).list('proxy-config', lists.all('proxy-config'))]
    await store.close()
    const seal = new Seal(ADMIN_KEY, PURPOSE.proxyConfigs)
    expect(seal.unseal(one!.id, one!.sealedSecret!)).toBe(JSON.stringify(SECOND))
    expect(seal.unseal(two!.id, two!.sealedSecret!)).toBe(JSON.stringify({ header: INNER }))
    // A secret can be decrypted only with the id of its config, and not with the key for another purpose.
    expect(seal.unseal(two!.id, one!.sealedSecret!)).toBeNull()
    expect(new Seal(ADMIN_KEY, PURPOSE.apiKeys).unseal(one!.id, one!.sealedSecret!)).toBeNull()
    expect(new Seal('another', PURPOSE.proxyConfigs).unseal(one!.id, one!.sealedSecret!)).toBeNull()
  })

  test('is accepted but not stored if the organization has no key to encrypt it', async () => {
    const client = await startedService({ adminApiKey: null })
    expect((await client.post(CONFIGS, { key: 'one', name: 'X', secret: FIRST })).status).toBe(200)
    expect((await client.patch(`${CONFIGS}/one`, { secret: SECOND })).status).toBe(200)
  })
})
