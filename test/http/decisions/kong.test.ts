/** `/kong` (conditions.md 10.6): decisions for the OPA plugin of Kong, with a key or on a dedicated port. */
import { describe, expect, test } from 'vitest'
import { freePort } from '#testing/processes/free-port.ts'
import { answerFindings } from '#testing/requests/routes.ts'
import {
  ADMIN_KEY,
  bodyOf,
  Client,
  neighbourOf,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'

const DEFAULT = { project: 'default', environment: 'default' }
const kongPort = await freePort()
const verdict = await sharedService({ kongPort, kongEnvironment: DEFAULT, httpThreads: 2 })
await verdict.resource({ key: 'documents', actions: { get: {}, post: {} } })
await verdict.resource({ key: 'index', actions: { get: {} } })
await verdict.tenantRole('reader', ['documents:get', 'index:get'])
await verdict.tenant('acme')
await verdict.users('alice', 'bob')
await verdict.assign('alice', 'reader', 'default')
await verdict.assign('bob', 'reader', 'acme')

function bodyFor(method: string, path: string, username: string | null = 'alice'): object {
  return {
    input: { request: { http: { method, path } }, ...(username !== null && { consumer: { username } }) },
  }
}

/** Sends a request to the dedicated port, without credentials. */
async function ask(body: unknown, { path = '/kong', method = 'POST', port = kongPort } = {}) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    ...(method !== 'GET' && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: bodyOf(await response.text()) }
}

describe('a decision for a gateway', () => {
  const ALLOWED = [
    ...'/documents /v1/documents /v12/documents/1?x=/other / /?a=b /documents/..a /documents/a%2Fb'.split(
      ' ',
    ),
    // Escapes are decoded as in mapping rules.
    ...'/%64ocuments/1 /documents/%C3%A4'.split(' '),
    `/documents${'/x'.repeat(100)}`,
  ]
  const DENIED = [
    ...'/other /v1 documents //documents /v1//documents /%2Fdocuments /documents%2Fa /DOCUMENTS'.split(' '),
    ...'/documents/../other /documents/%2E%2e/other /documents/..\\other /documents/..%2Fother'.split(' '),
    ...'/documents/%2e%2E%5cother /documents/..;/other /documents/..;a=b/other'.split(' '),
    ...'/documents/..%3Ba=b/other /documents/..%00/other /documents/%252e%252e/other'.split(' '),
    ...'/documents/x%252F..%252fother /documents/．．/other'.split(' '),
    // Characters that are invalid in URLs of gateways, or that servers interpret differently.
    ...'/documents/%00 /documents/%0A /documents/%C3 /documents/%zz /documents?x=%C0%AF'.split(' '),
    ...'/documents/a;b /documents/a#b'.split(' '),
    '',
    '/documents/\n',
    '/documents/\u007f',
    '/documents/a b',
  ]

  test.each([
    ...ALLOWED.map(path => ['GET', path, 'alice', true] as const),
    ...DENIED.map(path => ['GET', path, 'alice', false] as const),
    ['get', '/documents/1', 'alice', true],
    ['POST', '/documents', 'alice', false],
    ...['unknown', '', null].map(user => ['GET', '/documents', user, false] as const),
    // Bob has a role only in another tenant.
    ['GET', '/documents', 'bob', false],
  ] as const)(
    'on %s %s by %s is %s, on the dedicated port and with a key',
    async (method, path, user, result) => {
      const body = bodyFor(method, path, user)
      expect(await ask(body)).toEqual({ status: 200, body: { result } })
      const answer = await verdict.post('/kong', body)
      expect([answer.status, answer.body]).toEqual([200, { result }])
      expect(answerFindings('isAllowedKong', 200, answer.body)).toEqual([])
    },
  )

  test('is a deny if the consumer is null', async () => {
    const { input } = bodyFor('GET', '/documents', null) as { input: object }
    expect((await ask({ input: { ...input, consumer: null } })).body).toEqual({ result: false })
  })
})

describe('a request of a gateway', () => {
  test.each([{}, { input: {} }, { input: { request: { http: { method: 'GET' } } } }, [], 'text'])(
    'is rejected with 400 if its body is %j',
    async body => {
      const answer = await ask(body)
      expect([answer.status, answer.body]).toEqual([400, { code: 400, message: expect.any(String) }])
    },
  )

  test.each([
    [null, 401],
    [ADMIN_KEY, 403],
  ])('is rejected on the main port without the key of an environment: %s gets %i', async (key, status) => {
    const body = bodyFor('GET', '/documents')
    expect((await verdict.send('POST', '/kong', { key, body })).status).toBe(status)
  })

  test('is rejected on the dedicated port with any other path or method', async () => {
    for (const path of ['/allowed', '/v2/facts/default/default/users', '/healthy', '/']) {
      expect((await ask({}, { path })).status).toBe(404)
    }
    expect((await ask({}, { method: 'GET' })).status).toBe(405)
  })
})

test('the dedicated port uses KONG_ENVIRONMENT, and returns 503 until that environment is created', async () => {
  const port = await freePort()
  const client = await startedService({
    kongPort: port,
    kongEnvironment: { project: 'default', environment: 'later' },
  })
  await client.resource({ key: 'documents', actions: { get: {} } })
  await client.tenantRole('reader', ['documents:get'])
  await client.user('alice')
  await client.assign('alice', 'reader', 'default')
  const body = bodyFor('GET', '/documents')
  expect(await ask(body, { port })).toMatchObject({ status: 503, body: { code: 503 } })
  await neighbourOf(client, 'later')
  expect(await ask(body, { port })).toEqual({ status: 200, body: { result: false } })
  expect((await client.post('/kong', body)).body).toEqual({ result: true })
})

test('the dedicated port is closed with the service', async () => {
  const settings = { kongPort: await freePort(), kongEnvironment: DEFAULT }
  const first = await startedService(settings)
  await expect(Client.start(settings)).rejects.toThrow('set HOST and KONG_PORT to a free address')
  await first.close()
  await expect(ask({}, { port: settings.kongPort })).rejects.toThrow('fetch failed')
})
