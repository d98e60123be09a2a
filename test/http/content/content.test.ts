/** Export and import over HTTP: an import is atomic, and a round trip changes no data and no decision. */
import { readdirSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { HANG_MS } from '../../support/hang.ts'
import {
  ADMIN_KEY,
  type Client,
  neighbourOf,
  question,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import type { Problem } from '../../support/calls/refusals.ts'
import { content, contentOf, importInto, type Line } from '../../support/content.ts'
import { sharedDirectory } from '../../support/processes/temporary-directories.ts'

const directory = sharedDirectory()

const exportOf = (environment: string) => `/v2/projects/default/envs/${environment}/export`

const ODD_CONDITIONS = {
  'subject.__proto__': { in: [1, null, 'ž'] },
  anyOf: [{ 'user.b': { exists: true } }, {}],
}

/** Fills the default environment with all kinds of entities. */
async function fill(verdict: Client): Promise<void> {
  await verdict.createDocumentModel()
  const schema = '/v2/schema/default/default'
  const facts = '/v2/facts/default/default'
  const made = async (method: string, path: string, body: unknown) =>
    expect([path, (await verdict.send(method, path, { body })).status]).toEqual([
      path,
      expect.toBeOneOf([200, 201, 204]),
    ])
  await made('POST', `${schema}/resources/document/action_groups`, {
    key: 'all',
    name: 'All',
    actions: ['read'],
  })
  await made('POST', `${schema}/users/attributes`, { key: 'size', type: 'number' })
  await made('POST', `${schema}/resources/__tenant/attributes`, { key: 'plan', type: 'object' })
  await made('POST', `${schema}/roles`, { key: '__proto__', name: 'Odd', permissions: ['document:read'] })
  const sets = `${schema}/condition_sets`
  const rules = `${facts}/set_rules`
  await made('POST', sets, { key: 'late', name: 'Late', conditions: { 'user.late': { equals: true } } })
  await made('POST', sets, { key: 'early', name: 'Early', description: 'E', conditions: ODD_CONDITIONS })
  await made('PATCH', `${sets}/late`, { parent_id: 'early' })
  await made('POST', sets, { key: 'docs', name: 'Docs', type: 'resourceset', resource_id: 'document' })
  await made('POST', sets, { key: 'any', name: 'Any', type: 'resourceset', parent_id: 'docs' })
  for (const [user_set, resource_set] of [
    ['late', 'any'],
    ['early', 'document'],
    ['__proto__', 'docs'],
  ]) {
    await made('POST', rules, { user_set, permission: 'document:read', resource_set })
  }
  // Values that no longer fit their declaration, and a rule that is deleted before the export.
  await made('POST', `${schema}/users/attributes`, { key: 'late', type: 'array' })
  await made('POST', sets, { key: 'gone-set', name: 'Gone' })
  await made('POST', rules, { user_set: 'gone-set', permission: 'document:read', resource_set: 'docs' })
  await made('DELETE', `${sets}/gone-set`, undefined)
  const rule = { url: 'https://a.org/{id}', http_method: 'get', resource: 'document' }
  const configs = `${facts}/proxy_configs`
  await made('POST', configs, { key: 'z', name: 'Z', secret: 'hidden', mapping_rules: [rule] })
  await made('POST', `${schema}/resources`, { key: 'gone-type', name: 'G', actions: {} })
  await made('POST', configs, {
    key: 'a',
    name: 'A',
    secret: { inner: 'hidden' },
    auth_mechanism: 'Headers',
    mapping_rules: [
      {
        ...rule,
        action: 'read',
        priority: 2,
        headers: { __proto__: 'x', 'X-A': 'b' },
        case_sensitive: true,
        encoded_slashes: 'literal',
      },
    ],
  })
  await made('PATCH', `${configs}/z`, { mapping_rules: [rule, { ...rule, resource: 'gone-type' }] })
  await made('DELETE', `${schema}/resources/gone-type`, undefined)
  await made('POST', `${facts}/tenants`, {
    key: 'acme',
    name: 'Acme',
    attributes: { tier: { of: [1, null] } },
  })
  for (const key of ['alice', 'bob', 'žluťoučký "kůň"', 'a:b#c'])
    await made('POST', `${facts}/users`, { key, email: 'a@b.c', attributes: { constructor: 1 } })
  await made('POST', `${facts}/role_assignments`, { user: 'a:b#c', role: '__proto__', tenant: 'acme' })
  await verdict.groups('team', 'platform')
  await verdict.join('team', 'alice')
  await verdict.join('platform', 'bob')
  await made('PUT', `${schema}/groups/team/assign_group`, { group_instance_key: 'platform' })
  await verdict.grant('team', 'editor', 'document:d1')
  await made('POST', `${facts}/resource_instances`, { resource: 'document', key: 'x:1', tenant: 'acme' })
  // This user is deleted before the export, but its rows can still exist.
  await made('POST', `${facts}/users`, { key: 'gone' })
  await made('POST', `${facts}/role_assignments`, { user: 'gone', role: '__proto__', tenant: 'acme' })
  await made('DELETE', `${facts}/users/gone`, undefined)
}

/** Decision for a key of any environment. */
async function isAllowed(client: Client, key: string, body: ReturnType<typeof question>): Promise<boolean> {
  return (await client.send<{ allow: boolean }>('POST', '/allowed', { key, body })).body.allow
}

describe('exports and imports of environments', () => {
  let verdict: Client
  let exported: string

  beforeAll(async () => {
    verdict = await sharedService({ storeUrl: `lmdb:${directory}` })
    await fill(verdict)
    exported = await contentOf(verdict, exportOf('default'))
  })

  test('contain one entity per line, in creation order, with keys instead of ids', () => {
    const lines = exported
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Line)
    expect(lines[0]).toEqual({ kind: 'environment', format: 1 })
    expect(lines.at(-1)).toEqual({ kind: 'end', lines: lines.length - 1 })
    expect(exported).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-4/)
    const users = lines.filter(line => line.kind === 'user').map(line => line['key'])
    expect(users).toEqual(['alice', 'bob', 'žluťoučký "kůň"', 'a:b#c'])
    // Only a mapping rule still names the deleted resource.
    expect(exported.replace('"resource":"gone-type"', '')).not.toContain('gone')
    const configs = lines.filter(line => line.kind === 'proxy_config').map(line => line['key'])
    expect(configs).toEqual(['z', 'a'])
    expect(exported).not.toContain('hidden')
    const sets = lines.filter(line => line.kind === 'condition_set').map(line => line['key'])
    expect(sets).toEqual(['early', 'late', 'docs', 'any'])
    const ruled = lines.filter(line => line.kind === 'rule').map(line => line['user_set'])
    expect(ruled).toEqual(['late', 'early', '__autogen___proto__'])
  })

  test('preserve data and decisions in a round trip through another environment', async () => {
    const key = await neighbourOf(verdict, 'twin')
    const answer = await importInto(verdict, 'twin', exported, key)
    expect(answer.body).toMatchObject({
      counts: { user: 4, resource: 2, role: 1, condition_set: 4, rule: 3, proxy_config: 2 },
    })
    expect(await contentOf(verdict, exportOf('twin'), key)).toBe(exported)
    for (const user of ['alice', 'bob', 'žluťoučký "kůň"', 'unknown']) {
      const body = question(user, 'update', 'document:d1')
      const here = await verdict.send('POST', '/allowed', { body })
      const there = await verdict.send('POST', '/allowed', { body, key })
      expect([user, there.body]).toEqual([user, here.body])
      expect(here.body).toMatchObject({ allow: ['alice', 'bob'].includes(user) })
    }
    // Imported groups are still groups: revoking the grant deletes its relation.
    const grant = { role: 'editor', resource: 'document', resource_instance: 'd1', tenant: 'default' }
    const path = '/v2/schema/default/twin/groups/team/roles'
    expect((await verdict.send('DELETE', path, { key, body: grant })).status).toBe(204)
    expect(await isAllowed(verdict, key, question('bob', 'update', 'document:d1'))).toBe(false)
    expect(await contentOf(verdict, exportOf('twin'), key)).not.toContain('group_group_')
  })

  test('replace an environment only with `replace=true`, keep its API keys, and change its id', async () => {
    const key = await neighbourOf(verdict, 'replaced')
    const scope = async () =>
      (await verdict.send<{ environment_id: string }>('GET', '/v2/api-key/scope', { key })).body
        .environment_id
    await importInto(verdict, 'replaced', exported, key)
    const before = await scope()
    const other = content({ kind: 'tenant', key: 'default', name: 'D' }, { kind: 'user', key: 'zoe' })
    const rejected = await importInto(verdict, 'replaced', other, key, 409)
    expect(rejected.body).toMatchObject({
      error_code: 'DUPLICATE_ENTITY',
      message: expect.stringContaining('replace=true'),
    })
    expect(await scope()).toBe(before)
    await importInto(verdict, 'replaced', other, key, 200, '?replace=true')
    expect(await scope()).not.toBe(before)
    const lines = (await contentOf(verdict, exportOf('replaced'), key)).split('\n')
    expect(lines.filter(line => line.includes('"user"'))).toHaveLength(1)
    expect(await isAllowed(verdict, key, question('alice', 'update', 'document:d1'))).toBe(false)
  })

  test('preserve attributes of the maximum depth in a round trip', async () => {
    const [from, to] = [await neighbourOf(verdict, 'deep'), await neighbourOf(verdict, 'deeper')]
    const deep = (levels: number): object =>
      JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as object
    const put = async (path: string, body: object) => {
      expect((await verdict.send('POST', `/v2/${path}`, { key: from, body })).status).toBe(200)
    }
    await put('schema/default/deep/resources', { key: 'doc', name: 'Doc', actions: {} })
    // The request body is the first of the 64 levels.
    await put('schema/default/deep/resources/doc/actions', {
      key: 'read',
      name: 'Read',
      attributes: deep(63),
    })
    await put('schema/default/deep/resources/doc/roles', { key: 'r', name: 'R', attributes: deep(63) })
    await put('facts/default/deep/users', { key: 'u', attributes: deep(63) })
    const text = await contentOf(verdict, exportOf('deep'), from)
    expect((await importInto(verdict, 'deeper', text, to)).status).toBe(200)
    expect(await contentOf(verdict, exportOf('deeper'), to)).toBe(text)
  })

  test('preserve names with quotes and the creation times of facts, including times before 1970', async () => {
    const [from, to] = [await neighbourOf(verdict, 'old'), await neighbourOf(verdict, 'older')]
    const roles = { r: { name: 'R' } }
    const doc = { kind: 'resource', key: 'doc', name: 'Doc', actions: {}, roles, relations: { over: 'doc' } }
    const at = { created_at: '1961-04-12T06:07:00.000Z' }
    const named = '"\\ü\u2028😀'
    const instance = { kind: 'instance', resource: 'doc', tenant: 't', attributes: { [named]: named } }
    const lines = [
      { kind: 'role', key: 'held', name: 'Held' },
      { kind: 'tenant', key: 't', name: 'T' },
      { kind: 'user', key: named, first_name: named, ...at },
      { ...instance, key: named, ...at },
      { ...instance, key: 'other' },
      { kind: 'assignment', user: named, role: 'held', tenant: 't', ...at },
      { kind: 'assignment', user: named, role: 'r', resource_instance: `doc:${named}`, ...at },
      { kind: 'tuple', subject: `doc:${named}`, relation: 'over', object: 'doc:other', ...at },
    ]
    expect((await importInto(verdict, 'old', content(doc, ...lines), from)).status).toBe(200)
    const text = await contentOf(verdict, exportOf('old'), from)
    const shown = text
      .split('\n')
      .flatMap(line => (line === '' ? [] : [JSON.parse(line) as { kind: string }]))
    const facts = shown.filter(line => ['user', 'instance', 'assignment', 'tuple'].includes(line.kind))
    expect(facts).toMatchObject(lines.slice(2))
    expect((await importInto(verdict, 'older', text, to)).status).toBe(200)
    expect(await contentOf(verdict, exportOf('older'), to)).toBe(text)
  })

  test('leave the environment unchanged if the import is rejected, and name the invalid line', async () => {
    const key = await neighbourOf(verdict, 'untouched')
    const path = exportOf('untouched')
    const before = await contentOf(verdict, path, key)
    const doc = {
      kind: 'resource',
      key: 'doc',
      name: 'Doc',
      actions: { read: {} },
      roles: { r: { name: 'R' } },
    }
    const tenants = ['t1', 't2'].map(tenant => ({ kind: 'tenant', key: tenant, name: tenant }))
    const user = { kind: 'user', key: 'u' }
    const held = { kind: 'assignment', user: 'u', role: 'r', resource_instance: 'doc:1' }
    const instance = { kind: 'instance', resource: 'doc', key: '1', tenant: 't1' }
    const wrong: readonly (readonly [string | Uint8Array<ArrayBuffer>, string, string])[] = [
      ['', 'after line 0', 'an empty file'],
      ['{"kind":"environment","format":1}\n', 'after line 1', 'no end'],
      [content(doc).replace('"lines":2', '"lines":3'), 'line 3', 'a wrong count'],
      [content(doc).replace('"format":1', '"format":2'), 'line 1', 'another format'],
      [
        content(user, doc),
        'line 3: a line of kind "resource" must come before lines of kind "user"',
        'a wrong order',
      ],
      [content({ kind: 'thing' }), ', got "thing"', 'an unknown kind'],
      [content(doc, ...tenants, { ...user, key: '' }), 'line 5', 'an empty key'],
      [content(...tenants, user, user), 'line 5', 'a user twice'],
      [content(doc, ...tenants, instance, instance), 'line 6', 'an instance twice'],
      [content(doc, ...tenants, user, instance, held, held), 'line 8', 'a fact twice'],
      [content(doc, ...tenants, user, instance, { ...held, role: 's' }), 'line 7', 'an unknown role'],
      [content(doc, ...tenants, user, instance, { ...held, tenant: 't2' }), 'line 7', 'another tenant'],
      [
        content({ ...doc, roles: { r: { name: 'R', permissions: ['write'] } } }, user),
        'line 3',
        'a permission with an unknown action',
      ],
      [
        content({ ...doc, roles: { r: { name: 'R', extends: ['r'] } } }, user),
        'line 3',
        'a role that extends itself',
      ],
      ['{"kind":"environment","format":1}\nnothing\n', 'line 2', 'no JSON'],
      ['{"kind":"environment","format":1}\n\n \nnothing\n', 'line 4', 'no JSON, after blank lines'],
      [content(...tenants, user, user).replace('\n', '\n\n'), 'line 6', 'a user twice, after a blank line'],
      [
        content(...tenants, user).replace(
          '"key":"u"',
          `"key":"u","attributes":${'{"a":'.repeat(65)}{}${'}'.repeat(65)}`,
        ),
        'line 4: must not nest deeper than 66 levels',
        'too many levels',
      ],
      [
        content(...tenants, user).replace('"key":"u"', '"key":"u","first_name":"\\ud800"'),
        'line 4: must not contain unpaired surrogates',
        'an unpaired surrogate',
      ],
      [
        content(...tenants, user).replace('"key":"u"', '"key":"u","attributes":{"a":1e400}'),
        'line 4: must not contain numbers beyond 1.8e308',
        'a number that would be stored as null',
      ],
      [
        content(...tenants, { ...user, created_at: '2016-12-31T23:59:60Z' }),
        'line 4',
        'a leap second, which is not supported',
      ],
      [
        Buffer.concat([
          Buffer.from(content(...tenants).replace(/\n[^\n]*\n$/u, '\n\n')),
          Buffer.from([0xff, 0xfe, 0x0a]),
        ]),
        'line 5: expected UTF-8',
        'invalid UTF-8',
      ],
      [
        gzipSync(content(...tenants, user)),
        'line 1: expected UTF-8, found gzip: decompress it first',
        'a compressed file',
      ],
      [
        `{"kind":"environment","format":1}\n{"kind":"user","key":"${'\u{fffd}'}`,
        'line 2',
        'an incomplete line',
      ],
    ]
    for (const [text, place, fault] of wrong) {
      const answer = await importInto(verdict, 'untouched', text, key, 400)
      expect([fault, answer.body]).toEqual([
        fault,
        expect.objectContaining({ error_code: 'INVALID_INPUT', message: expect.stringContaining(place) }),
      ])
    }
    expect(await contentOf(verdict, path, key)).toBe(before)
    const { body } = await verdict.admin<unknown[]>('GET', '/v2/projects/default/envs?per_page=100')
    expect(body.filter(each => JSON.stringify(each).includes('import-'))).toEqual([])
  })

  test('ignore conditions and mapping rules that only an older release accepted', async () => {
    const key = await neighbourOf(verdict, 'older-release')
    // JavaScript writes these digits for 2^60.
    const conditions = { 'user.n': { 'not-equals': 1_152_921_504_606_847_000n } }
    const rule = { http_method: 'get', resource: 'doc' }
    const lines = [
      { kind: 'resource', key: 'doc', name: 'Doc', actions: { read: {}, get: {} } },
      { kind: 'condition_set', key: 'older', name: 'Older', type: 'userset', conditions },
      { kind: 'condition_set', key: 'all', name: 'All', type: 'userset', conditions: {} },
      { kind: 'rule', user_set: 'older', permission: 'doc:read', resource_set: '__autogen_doc' },
      { kind: 'rule', user_set: 'all', permission: 'doc:get', resource_set: '__autogen_doc' },
      {
        kind: 'proxy_config',
        key: 'proxy',
        name: 'Proxy',
        mapping_rules: [
          { ...rule, url: 'https://eve@a.org/x' },
          { ...rule, url: 'https://a.org/y' },
        ],
      },
      { kind: 'tenant', key: 'default', name: 'Default' },
      { kind: 'user', key: 'ann', attributes: { n: 1 } },
    ]
    await importInto(verdict, 'older-release', content(...lines), key, 200, '?replace=true')
    expect(await isAllowed(verdict, key, question('ann', 'read', 'doc', 'default'))).toBe(false)
    const tried = { parent_id: 'older', samples: [{ user: 'ann' }] }
    const path = '/v2/schema/default/older-release/condition_sets'
    const trial = await verdict.send('POST', `${path}/try`, { key, body: tried })
    expect([trial.status, trial.body]).toEqual([200, expect.anything()])
    expect(trial.body).toMatchObject({ samples: [{ value: 'unknown' }] })
    const allowed = async (url: string) => {
      const body = { user: { key: 'ann' }, http_method: 'get', url, tenant: 'default' }
      return (await verdict.send<{ allow: boolean }>('POST', '/allowed_url', { key, body })).body.allow
    }
    expect([await allowed('https://a.org/y'), await allowed('https://eve@a.org/x')]).toEqual([true, false])
    expect(await allowed('https://a.org/x')).toBe(false)
    const copied = await verdict.send('POST', '/v2/projects/default/envs/older-release/copy', {
      key: ADMIN_KEY,
      body: { target_env: { new: { key: 'older-copy', name: 'Copy' } } },
    })
    expect([copied.status, copied.body]).toEqual([201, expect.anything()])
    const invalid = { key: 'new', name: 'New', conditions }
    expect((await verdict.send('POST', path, { key, body: invalid })).status).toBe(422)
  })

  test('name the range of lines with a duplicate of a much earlier fact, and count blank lines', async () => {
    const key = await neighbourOf(verdict, 'duplicate')
    const doc = { kind: 'resource', key: 'doc', name: 'Doc', actions: {}, roles: { r: { name: 'R' } } }
    const users = Array.from({ length: 2_000 }, (_, n) => ({ kind: 'user', key: `u${n}` }))
    const held = users.map(user => ({
      kind: 'assignment',
      user: user.key,
      role: 'r',
      resource_instance: 'doc:1',
    }))
    const tenant = { kind: 'tenant', key: 't', name: 'T' }
    const instance = { kind: 'instance', resource: 'doc', key: '1', tenant: 't' }
    const text = content(doc, tenant, ...users, instance, ...held, held[0]!)
    const lines = text.split('\n')
    const duplicate = lines.lastIndexOf(JSON.stringify(held[0]))
    lines.splice(duplicate + 1, 0, ...Array.from({ length: 1_000 }, () => ''))
    const answer = await importInto(verdict, 'duplicate', lines.join('\n'), key, 400)
    const { message } = answer.body as { message: string }
    const [from, to = from] = [...message.matchAll(/line (\d+)/g)].map(found => Number(found[1]))
    expect(message).toContain('duplicate fact')
    expect(from).toBeLessThanOrEqual(duplicate + 1)
    expect(to).toBeGreaterThanOrEqual(duplicate + 1)
  })
})

test('an import is rejected with 503 if another import replaces the environment in the meantime', async () => {
  const storePath = storeDirectory()
  const verdict = await startedService({ storeUrl: `lmdb:${storePath}`, receiveMsMax: HANG_MS })
  const key = await neighbourOf(verdict, 'contested')
  const late = new TransformStream<Uint8Array, Uint8Array>()
  const writer = late.writable.getWriter()
  const path = '/v2/projects/default/envs/contested/import?replace=true'
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' }
  const init = { method: 'POST', headers, body: late.readable, duplex: 'half' } as const
  const fileCount = () => readdirSync(storePath).length
  const before = fileCount()
  const answer = fetch(verdict.address + path, init)
  const text = content({ kind: 'tenant', key: 'default', name: 'D' }, { kind: 'user', key: 'late' })
  const rest = text.indexOf('\n') + 1
  await writer.write(Buffer.from(text.slice(0, rest)))
  await expect.poll(fileCount).toBe(before + 1)
  const other = content({ kind: 'tenant', key: 'default', name: 'D' }, { kind: 'user', key: 'early' })
  // The HTTP library closes a connection after ten seconds without data. An import ignores blank lines.
  const drip = setInterval(() => void writer.write(Buffer.from('\n')), 500)
  try {
    await importInto(verdict, 'contested', other, key, 200, '?replace=true')
  } finally {
    clearInterval(drip)
  }
  await writer.write(Buffer.from(text.slice(rest)))
  await writer.close()
  const { status } = await answer
  expect([status, await (await answer).json()]).toEqual([
    503,
    expect.objectContaining({ error_code: 'CONCURRENT_OPERATION_DISALLOWED' }),
  ])
  const lines = await contentOf(verdict, exportOf('contested'), key)
  expect([lines.includes('"early"'), lines.includes('"late"')]).toEqual([true, false])
})

test('imported data and later changes persist across a restart', async () => {
  const first = await startedService({ storeUrl: `lmdb:${storeDirectory()}` })
  await fill(first)
  const exported = await contentOf(first, exportOf('default'))
  const key = await neighbourOf(first, 'kept')
  await importInto(first, 'kept', exported, key)
  const late = { key, body: { key: 'late' } }
  expect((await first.send('POST', '/v2/facts/default/kept/users', late)).status).toBe(200)
  const path = exportOf('kept')
  const before = await contentOf(first, path, key)
  expect(before).toContain('"late"')
  const second = await first.restart()
  expect(await contentOf(second, path, key)).toBe(before)
  expect(await isAllowed(second, key, question('bob', 'update', 'document:d1'))).toBe(true)
})

test('an import that exceeds its memory limit is rejected with the name of the setting', async () => {
  const small = await startedService({ importBytesMax: 20_000 })
  const users = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ kind: 'user', key: `user-${n}` }))
  const tenant = { kind: 'tenant', key: 'default', name: 'D' }
  const sent = (count: number) =>
    small.send<Problem>('POST', '/v2/projects/default/envs/default/import?replace=true', {
      text: content(tenant, ...users(count)),
    })
  const { status, body } = await sent(200)
  expect([status, body.message]).toEqual([400, expect.stringMatching(/^line \d+: .*MAX_IMPORT_BYTES/u)])
  expect((await sent(20)).status).toBe(200)
})
