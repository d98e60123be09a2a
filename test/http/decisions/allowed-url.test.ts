/** `/allowed_url` (conditions.md 10.3): decisions on HTTP requests by their URL. */
import { describe, expect, test } from 'vitest'
import { ASKED_URL_LENGTH_MAX } from '#model/limits.ts'
import { changedAt } from '../../support/calls/access-requests.ts'
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

/** A resource `page`, whose readers can get pages, and a reader in the tenant acme. */
async function fill(client: Client): Promise<void> {
  await client.resource({ key: 'page', actions: { get: {}, read: {}, patch: {} } })
  await client.tenantRole('reader', ['page:get', 'page:read'])
  await client.tenant('acme')
  await client.users('alice', 'bob')
  await client.assign('alice', 'reader', 'acme')
}

async function config(client: Client, mapping_rules: readonly object[], key = 'gateway'): Promise<void> {
  await client.done('POST', CONFIGS, { key, name: 'Gateway', secret: 'x', mapping_rules })
}

const rule = (url: string, more: object = {}) => ({ url, http_method: 'get', resource: 'page', ...more })

function check(url: string, more: object = {}) {
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

describe('a check of a URL', () => {
  test.each([
    ['https://a.org/pages/1', {}, true],
    ['https://a.org/pages/1/', { http_method: 'get' }, true],
    ['https://a.org/pages/1?x=y', {}, true],
    ['https://a.org/read', {}, true],
    ['https://a.org/search?q=x', {}, true],
    // A mapping rule matches, but the check is denied.
    ['https://a.org/pages/1', { http_method: 'PATCH' }, false],
    ['https://a.org/pages/1', { user: { key: 'bob' } }, false],
    ['https://a.org/pages/1', { user: { key: 'unknown' } }, false],
    ['https://a.org/pages/1', { tenant: 'default' }, false],
    ['https://a.org/pages/1', { tenant: 'unknown' }, false],
    // No mapping rule matches.
    ['https://a.org/pages', {}, false],
    ['https://a.org/search', {}, false],
    ['https://a.org/pages/1', { http_method: 'DELETE' }, false],
    ['https://a.org/pages/..', {}, false],
    ['https://a.org/pages/%zz', {}, false],
    ['/pages/1', {}, false],
  ])('for %s with %j returns %s', async (url, more, isAllowed) => {
    expect(await ask(check(url, more))).toEqual([200, isAllowed ? ALLOW : DENY])
  })

  test('also accepts the member names and the additional members that the Java client sends', async () => {
    const { http_method: httpMethod, ...body } = check('https://a.org/pages/1')
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
    // The documented spelling has precedence.
    expect(await ask({ ...sent, http_method: 'GET', httpMethod: 'PATCH' })).toEqual([200, ALLOW])
  })

  test.each<[place: string, values: readonly unknown[]]>([
    ['user', [undefined]],
    ['user.key', [undefined, '']],
    ['http_method', [undefined, '']],
    ['url', [undefined, '', 7]],
    ['tenant', [undefined, '']],
    ['context', ['x']],
  ])('with a wrong %s (%j) is rejected with 400', async (place, values) => {
    for (const value of values) {
      const body = changedAt(check('https://a.org/pages/1'), place, value)
      expect(await ask(body), String(value)).toEqual([400, { code: 400, message: expect.any(String) }])
    }
  })

  test('without a method in either spelling is rejected with 400', async () => {
    const [status] = await ask(check('https://a.org/read', { http_method: undefined, httpMethod: null }))
    expect(status).toBe(400)
  })

  test('is rejected if its URL exceeds the maximum length', async () => {
    const start = 'https://a.org/pages/1?'
    const ofLength = (length: number) => start + 'x'.repeat(length - start.length)
    for (const length of [ASKED_URL_LENGTH_MAX - 1, ASKED_URL_LENGTH_MAX])
      expect(await ask(check(ofLength(length)))).toEqual([200, ALLOW])
    expect((await ask(check(ofLength(ASKED_URL_LENGTH_MAX + 1))))[0]).toBe(400)
  })

  test('requires the key of an environment, and is decided in that environment', async () => {
    const body = check('https://a.org/pages/1')
    expect((await ask(body, verdict, ADMIN_KEY))[0]).toBe(403)
    expect((await verdict.send('POST', '/allowed_url', { body, key: null })).status).toBe(401)
    const key = await neighbourOf(verdict, 'neighbour')
    expect(await ask(body, verdict, key)).toEqual([200, DENY])
  })

  test('exists only at this path and only for the method POST', async () => {
    expect((await verdict.post('/allowed/url', check('https://a.org/pages/1'))).status).toBe(404)
    expect((await verdict.get('/allowed_url')).status).toBe(405)
  })
})

test('changes of mapping rules take effect before their response, and persist across a restart', async () => {
  const client = await startedService({ storeUrl: `lmdb:${storeDirectory()}`, httpThreads: 2 })
  await fill(client)
  const allows = async (path: string, from = client) =>
    (await ask(check(`https://a.org/${path}`), from))[1] as unknown
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

test('values of placeholders are attributes of the resource, and never its key', async () => {
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
    ask(check(url, { http_method: 'PATCH', context: { as } }), client).then(([, body]) => body)
  expect(await patch('https://a.org/alice/d1?as=x%2Fy', 'x/y')).toEqual(ALLOW)
  expect(await patch('https://a.org/bob/d1?as=x%2Fy', 'x/y')).toEqual(DENY)
  expect(await patch('https://a.org/alice/d1?as=z', 'x/y')).toEqual(DENY)
  // The attributes of the stored instance with that key are not used.
  await client.patch(`${SCHEMA}/condition_sets/own`, { conditions: { 'resource.open': { equals: true } } })
  expect(await patch('https://a.org/alice/d1?as=z', 'z')).toEqual(DENY)
})

test('a URL is denied if another spelling of it has a narrower rule, unless this rule declares how to read the URL', async () => {
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
    const paths = 'admin/users admin%2Fusers Admin admin%5Cusers admin. %2561dmin users Users'
    for (const path of paths.split(' ')) {
      const [, body] = await ask(check(`https://a.org:443/${path}`), client)
      if ((body as typeof ALLOW).allow) found.push(path)
    }
    return found
  }
  expect(await allowed()).toEqual(['users', 'Users'])
  const change = { mapping_rules: rules(declared) }
  expect((await client.patch(`${CONFIGS}/gateway`, change)).status).toBe(200)
  expect(await allowed()).toEqual(['admin%2Fusers', 'Admin', 'admin%5Cusers', 'users', 'Users'])
})

test('with DEBUG_DECISIONS, the response contains the mapped query, or states that no rule matches', async () => {
  const client = await startedService({ hasDebug: true })
  await fill(client)
  await config(client, [rule('https://a.org/pages/{id}')])
  const [, found] = await ask(check('https://a.org/pages/1'), client)
  expect(found).toMatchObject({
    ...ALLOW,
    query: {
      user: { key: 'alice' },
      action: 'get',
      resource: { type: 'page', tenant: 'acme', attributes: { id: '1' } },
    },
    debug: { rbac: { allow: true }, request: { resource: { attributes: { id: '1' }, key: null } } },
  })
  const [, none] = await ask(check('https://a.org/nothing'), client)
  expect(none).toEqual({ ...DENY, debug: { reason: 'no_matching_mapping_rule' } })
})
