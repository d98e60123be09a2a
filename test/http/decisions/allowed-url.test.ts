/** `/allowed_url` (conditions.md 10.3): decisions about requests by their URLs. */
import { describe, expect, test } from 'vitest'
import { ASKED_URL_LENGTH_MAX } from '#model/limits.ts'
import { changedAt } from '../../support/access-requests.ts'
import { answerFindings } from '#testing/requests/routes.ts'
import {
  ADMIN_KEY,
  type Client,
  FACTS,
  neighbourOf,
  SCHEMA,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'

const CONFIGS = `${FACTS}/proxy_configs`
const DENY = { allow: false, result: false }
const ALLOW = { allow: true, result: true }

/** Pages that readers may get, and comments that nobody but who wrote them may. */
async function fill(client: Client): Promise<void> {
  await client.resource({ key: 'page', actions: { get: {}, read: {}, patch: {} } })
  await client.tenantRole('reader', ['page:get', 'page:read'])
  await client.tenant('acme')
  await client.users('alice', 'bob')
  await client.assign('alice', 'reader', 'acme')
}

async function config(client: Client, mapping_rules: readonly object[], key = 'gateway'): Promise<void> {
  const answer = await client.post(CONFIGS, { key, name: 'Gateway', secret: 'x', mapping_rules })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
}

const rule = (url: string, more: object = {}) => ({ url, http_method: 'get', resource: 'page', ...more })

function asked(url: string, more: object = {}) {
  return { user: { key: 'alice' }, http_method: 'GET', url, tenant: 'acme', ...more }
}

const verdict = await sharedService({ httpThreads: 2 })
await fill(verdict)
await config(verdict, [
  rule('https://a.org/pages/{id}'),
  rule('https://a.org/read', { action: 'read' }),
  rule('https://a.org/pages/{id}', { http_method: 'patch' }),
  rule('https://a.org/search?q={text}', { action: 'read' }),
])

async function ask(body: object, client = verdict, key?: string) {
  const answer = await client.send('POST', '/allowed_url', { body, ...(key !== undefined && { key }) })
  if (answer.status === 200) expect(answerFindings('isAllowedUrl', 200, answer.body)).toEqual([])
  return [answer.status, answer.body]
}

describe('a request', () => {
  test.each([
    ['https://a.org/pages/1', {}, true],
    ['https://a.org/pages/1/', { http_method: 'get' }, true],
    ['https://a.org/pages/1?x=y', {}, true],
    ['https://a.org/read', {}, true],
    ['https://a.org/search?q=x', {}, true],
    // A rule fits, and what it stands for is denied.
    ['https://a.org/pages/1', { http_method: 'PATCH' }, false],
    ['https://a.org/pages/1', { user: { key: 'bob' } }, false],
    ['https://a.org/pages/1', { user: { key: 'nobody' } }, false],
    ['https://a.org/pages/1', { tenant: 'default' }, false],
    ['https://a.org/pages/1', { tenant: 'unknown' }, false],
    // No rule fits.
    ['https://a.org/pages', {}, false],
    ['https://a.org/search', {}, false],
    ['https://a.org/pages/1', { http_method: 'DELETE' }, false],
    ['https://a.org/pages/..', {}, false],
    ['https://a.org/pages/%zz', {}, false],
    ['/pages/1', {}, false],
  ])('%s %j: %s', async (url, more, isAllowed) => {
    expect(await ask(asked(url, more))).toEqual([200, isAllowed ? ALLOW : DENY])
  })

  test('is asked about in the spelling of the Java client, too, with all that it sends', async () => {
    const { http_method: httpMethod, ...body } = asked('https://a.org/pages/1')
    const user = {
      key: 'alice',
      firstName: 'Alice',
      lastName: null,
      email: 'alice@example.org',
      attributes: {},
      roles: [],
    }
    const sent = { ...body, user, httpMethod, context: {}, sdk: 'java' }
    expect(await ask(sent)).toEqual([200, ALLOW])
    expect(await ask({ ...sent, httpMethod: 'PATCH' })).toEqual([200, DENY])
    // Where both are there, the documented one counts.
    expect(await ask({ ...sent, http_method: 'GET', httpMethod: 'PATCH' })).toEqual([200, ALLOW])
  })

  test.each<[place: string, values: readonly unknown[]]>([
    ['user', [undefined]],
    ['user.key', [undefined, '']],
    ['http_method', [undefined, '']],
    ['url', [undefined, '', 7]],
    ['tenant', [undefined, '']],
    ['context', ['x']],
  ])('with a wrong %s (%j) is a 400', async (place, values) => {
    for (const value of values) {
      const body = changedAt(asked('https://a.org/pages/1'), place, value)
      expect(await ask(body), String(value)).toEqual([400, { code: 400, message: expect.any(String) }])
    }
  })

  test('with a method that is null in both spellings is a 400', async () => {
    expect((await ask(asked('https://a.org/read', { http_method: undefined, httpMethod: null })))[0]).toBe(
      400,
    )
  })

  test('has a URL of so many characters at most', async () => {
    const start = 'https://a.org/pages/1?'
    const ofLength = (length: number) => start + 'x'.repeat(length - start.length)
    for (const length of [ASKED_URL_LENGTH_MAX - 1, ASKED_URL_LENGTH_MAX])
      expect(await ask(asked(ofLength(length)))).toEqual([200, ALLOW])
    expect((await ask(asked(ofLength(ASKED_URL_LENGTH_MAX + 1))))[0]).toBe(400)
  })

  test('needs a key of an environment, and is about that environment alone', async () => {
    const body = asked('https://a.org/pages/1')
    expect((await ask(body, verdict, ADMIN_KEY))[0]).toBe(403)
    expect((await verdict.send('POST', '/allowed_url', { body, key: null })).status).toBe(401)
    const key = await neighbourOf(verdict, 'neighbour')
    expect(await ask(body, verdict, key)).toEqual([200, DENY])
  })

  test('is asked about under this path alone', async () => {
    expect((await verdict.post('/allowed/url', asked('https://a.org/pages/1'))).status).toBe(404)
    expect((await verdict.get('/allowed_url')).status).toBe(405)
  })
})

test('what a rule says decides as soon as it is answered: made, changed, removed, and after a restart', async () => {
  const client = await startedService({ storeUrl: `lmdb:${storeDirectory()}`, httpThreads: 2 })
  await fill(client)
  const allows = async (path: string, from = client) =>
    (await ask(asked(`https://a.org/${path}`), from))[1] as unknown
  expect(await allows('x')).toEqual(DENY)
  await config(client, [rule('https://a.org/x')])
  expect(await allows('x')).toEqual(ALLOW)
  await client.patch(`${CONFIGS}/gateway`, { name: 'Other' })
  expect(await allows('x')).toEqual(ALLOW)
  await client.patch(`${CONFIGS}/gateway`, { mapping_rules: [rule('https://a.org/y')] })
  expect([await allows('x'), await allows('y')]).toEqual([DENY, ALLOW])
  await config(client, [rule('https://a.org/z')], 'second')
  await client.delete(`${CONFIGS}/gateway`)
  expect([await allows('y'), await allows('z')]).toEqual([DENY, ALLOW])
  const next = await client.restart()
  expect([await allows('y', next), await allows('z', next)]).toEqual([DENY, ALLOW])
})

test('what placeholders stand for are attributes of the resource, which conditions read; one called key is no key', async () => {
  const client = await startedService()
  await fill(client)
  await client.instance('page:d1', 'acme')
  await client.patch(`${FACTS}/resource_instances/page:d1`, { attributes: { open: true } })
  await config(client, [rule('https://a.org/{owner}/{key}?as={as}', { http_method: 'patch' })])
  const conditions = {
    allOf: [
      { 'resource.owner': { equals: { ref: 'user.key' } } },
      { 'resource.as': { equals: { ref: 'context.as' } } },
    ],
  }
  await client.conditionSet({ key: 'own', type: 'resourceset', resource_id: 'page', conditions })
  await client.conditionSet({ key: 'anybody', type: 'userset' })
  await client.setRule('anybody', 'page:patch', 'own')
  const patch = (url: string, as: string) =>
    ask(asked(url, { http_method: 'PATCH', context: { as } }), client).then(([, body]) => body)
  expect(await patch('https://a.org/alice/d1?as=x%2Fy', 'x/y')).toEqual(ALLOW)
  expect(await patch('https://a.org/bob/d1?as=x%2Fy', 'x/y')).toEqual(DENY)
  expect(await patch('https://a.org/alice/d1?as=z', 'x/y')).toEqual(DENY)
  // The stored instance of that key has nothing to say.
  await client.patch(`${SCHEMA}/condition_sets/own`, { conditions: { 'resource.open': { equals: true } } })
  expect(await patch('https://a.org/alice/d1?as=z', 'z')).toEqual(DENY)
})

test('a spelling of a URL that a narrower rule is about is denied, unless that rule declares what its server distinguishes', async () => {
  const client = await startedService()
  await fill(client)
  await client.resource({ key: 'secret', actions: { get: {} } })
  const declared = { case_sensitive: true, encoded_slashes: 'literal' }
  const rules = (more: object) => [
    rule('https://a.org/{page}'),
    ...['admin', 'admin/{rest}'].map(path => rule(`https://a.org/${path}`, { resource: 'secret', ...more })),
  ]
  await config(client, rules({}))
  const allowed = async () => {
    const found: string[] = []
    for (const path of 'admin/users admin%2Fusers Admin admin%5Cusers admin. %2561dmin users Users'.split(
      ' ',
    )) {
      const [, body] = await ask(asked(`https://a.org:443/${path}`), client)
      if ((body as typeof ALLOW).allow) found.push(path)
    }
    return found
  }
  expect(await allowed()).toEqual(['users', 'Users'])
  const change = { mapping_rules: rules(declared) }
  expect((await client.patch(`${CONFIGS}/gateway`, change)).status).toBe(200)
  expect(await allowed()).toEqual(['admin%2Fusers', 'Admin', 'admin%5Cusers', 'users', 'Users'])
})

test('with DEBUG_DECISIONS the answer says what the request stands for and why, or that no rule fits', async () => {
  const client = await startedService({ hasDebug: true })
  await fill(client)
  await config(client, [rule('https://a.org/pages/{id}')])
  const [, found] = await ask(asked('https://a.org/pages/1'), client)
  expect(found).toMatchObject({
    ...ALLOW,
    query: {
      user: { key: 'alice' },
      action: 'get',
      resource: { type: 'page', tenant: 'acme', attributes: { id: '1' } },
    },
    debug: { rbac: { allow: true }, request: { resource: { attributes: { id: '1' }, key: null } } },
  })
  const [, none] = await ask(asked('https://a.org/nothing'), client)
  expect(none).toEqual({ ...DENY, debug: { reason: 'no_matching_mapping_rule' } })
})
