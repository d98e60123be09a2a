/** The OPA listener, which responds like an Open Policy Agent (native.md A.7). */
import { describe, expect, test } from 'vitest'
import { loopbackWithFree, SDK_OPA_PORT } from '../../support/processes/loopback.ts'
import {
  ADMIN_KEY,
  API_KEY,
  bodyOf,
  Client,
  question,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'

const BODY_BYTES_MAX = 2_048
const ROOT = '/v1/data/permit/root'
const PACKAGE = '/v1/data/permit/user_permissions'
const PERMISSIONS = `${PACKAGE}/permissions`
const host = await loopbackWithFree(SDK_OPA_PORT)
const verdict = await sharedService({
  host,
  opaPort: SDK_OPA_PORT,
  httpThreads: 2,
  bodyBytesMax: BODY_BYTES_MAX,
})
await verdict.createViewer('alice', 'document:d1')

interface Options {
  readonly method?: string
  readonly path?: string
  readonly key?: string | null
  readonly text?: string
}

/** Sends a request to the OPA listener; by default, a check of Alice that is allowed. */
async function ask({ method = 'POST', path = ROOT, key = API_KEY, text }: Options = {}) {
  const response = await fetch(`http://${host}:${SDK_OPA_PORT}${path}`, {
    method,
    headers: { ...(key !== null && { authorization: `Bearer ${key}` }) },
    ...(method !== 'GET' && { body: text ?? input('read') }),
  })
  return { status: response.status, headers: response.headers, body: bodyOf(await response.text()) }
}

function input(action: string): string {
  return JSON.stringify({ input: question('alice', action, 'document:d1') })
}

describe('a decision of the OPA listener', () => {
  test('is that of /allowed, in the member `result`', async () => {
    const allowed = await ask()
    expect([allowed.status, allowed.body]).toEqual([200, { result: { allow: true } }])
    expect(allowed.headers.get('content-type')).toBe('application/json')
    expect(allowed.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    const denied = await ask({ text: input('update') })
    expect([denied.status, denied.body]).toEqual([200, { result: { allow: false } }])
  })

  test('needs no X-Request-ID with STRICT_HEADERS', async () => {
    const strictHost = await loopbackWithFree(SDK_OPA_PORT)
    const strict = await startedService({ host: strictHost, opaPort: SDK_OPA_PORT, hasStrictHeaders: true })
    expect((await strict.post('/allowed', question('alice', 'read', 'document'))).status).toBe(400)
    const response = await fetch(`http://${strictHost}:${SDK_OPA_PORT}${ROOT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
      body: input('read'),
    })
    expect([response.status, await response.json()]).toEqual([200, { result: { allow: false } }])
  })
})

describe('the list of permissions of the OPA listener', () => {
  const list = (query: unknown, path = PERMISSIONS) => ask({ path, text: JSON.stringify({ input: query }) })

  test('is that of /user-permissions with the same filters, in the member `result`', async () => {
    for (const query of [
      { user: { key: 'alice' } },
      { user: { key: 'alice' }, resource_types: ['__tenant'] },
      { user: { key: 'unknown' } },
    ]) {
      const listed = await verdict.post('/user-permissions', query)
      expect(await list(query)).toMatchObject({ status: 200, body: { result: listed.body } })
      const whole = await list(query, PACKAGE)
      expect([whole.status, whole.body]).toEqual([200, { result: { permissions: listed.body } }])
    }
    expect((await list({ user: { key: 'alice' } })).body).toMatchObject({
      result: { 'document:d1': { roles: ['viewer'] } },
    })
  })

  test('is rejected with the error codes of OPA', async () => {
    const { status, body } = await list({ user: { key: '' } })
    expect([status, body]).toEqual([400, { code: 'invalid_parameter', message: expect.any(String) }])
    expect((await ask({ path: PERMISSIONS, key: null, text: '{}' })).status).toBe(401)
  })
})

test.each<[string, Options, number, string]>([
  ['no key', { key: null }, 401, 'unauthorized'],
  ['an unknown key', { key: 'unknown' }, 401, 'unauthorized'],
  ['the key of the organization', { key: ADMIN_KEY }, 403, 'unauthorized'],
  ['invalid JSON', { text: '{' }, 400, 'invalid_parameter'],
  ['no body', { text: '' }, 400, 'invalid_parameter'],
  ['no input', { text: JSON.stringify(question('alice', 'read', 'document')) }, 400, 'invalid_parameter'],
  ['an invalid check', { text: '{"input":{"user":{"key":""}}}' }, 400, 'invalid_parameter'],
  ['a body over the limit', { text: ' '.repeat(BODY_BYTES_MAX + 1) }, 413, 'invalid_parameter'],
  ['another document', { path: '/v1/data/permit/other' }, 404, 'resource_not_found'],
  ['a path of the main port', { path: '/allowed' }, 404, 'resource_not_found'],
  ['a management path', { method: 'GET', path: '/v2/api-key/scope' }, 404, 'resource_not_found'],
  ['another method', { method: 'GET' }, 405, 'invalid_operation'],
])('the OPA listener returns the error code of OPA for %s', async (_, options, status, code) => {
  const answer = await ask(options)
  expect([answer.status, answer.body]).toEqual([status, { code, message: expect.stringMatching(/./) }])
  expect(answer.headers.get('content-type')).toBe('application/json')
})

describe('a list of decisions of the OPA listener', () => {
  const BULK = '/v1/data/permit/bulk'
  const TENANTS = '/v1/data/permit/all_tenants'
  const checks = ['read', 'update'].map(action => question('alice', action, 'document:d1'))

  test('is that of /allowed/bulk, in the member `result`', async () => {
    const answer = await ask({ path: BULK, text: JSON.stringify({ input: checks }) })
    const { body } = await verdict.post('/allowed/bulk', checks)
    expect([answer.status, answer.body]).toEqual([200, { result: body }])
    expect(body).toMatchObject({ allow: [{ allow: true }, { allow: false }] })
    expect((await ask({ path: BULK, text: '{"input":[]}' })).body).toEqual({ result: { allow: [] } })
  })

  test('has the same limits as bulks and lists of permissions on the main port', async () => {
    const narrowHost = await loopbackWithFree(SDK_OPA_PORT)
    const limits = { bulkChecksMax: 3, listedEntriesMax: 1 }
    const narrow = await startedService({ host: narrowHost, opaPort: SDK_OPA_PORT, ...limits })
    await narrow.createDocumentModel()
    await narrow.user('alice')
    const statusOf = async (path: string, query: unknown) => {
      const response = await fetch(`http://${narrowHost}:${SDK_OPA_PORT}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}` },
        body: JSON.stringify({ input: query }),
      })
      return response.status
    }
    for (const [length, status] of [
      [2, 200],
      [3, 200],
      [4, 400],
    ] as const) {
      expect(await statusOf(BULK, Array(length).fill(checks[0]))).toBe(status)
    }
    for (const [document, status] of [
      ['document:d1', 200],
      ['document:d2', 400],
    ] as const) {
      await narrow.assign('alice', 'viewer', document)
      expect(await statusOf(PERMISSIONS, { user: { key: 'alice' } })).toBe(status)
    }
  })

  test('in all tenants is that of /allowed/all-tenants, in the member `result`', async () => {
    for (const check of checks) {
      const answer = await ask({ path: TENANTS, text: JSON.stringify({ input: check }) })
      const { body } = await verdict.post('/allowed/all-tenants', check)
      expect([answer.status, answer.body]).toEqual([200, { result: body }])
    }
    const { body } = await ask({ path: TENANTS, text: JSON.stringify({ input: checks[0] }) })
    expect(body).toMatchObject({ result: { allowed_tenants: [{ tenant: { key: 'default' } }] } })
  })
})

test('the main port has no OPA paths', async () => {
  expect((await verdict.post(ROOT, { input: question('alice', 'read', 'document') })).status).toBe(404)
})

test('the OPA listener is not started unless OPA_PORT is set', async () => {
  const quiet = await startedService({ host: await loopbackWithFree(SDK_OPA_PORT) })
  expect(quiet.settings.opaPort).toBeNull()
  await expect(fetch(`http://${quiet.settings.host}:${SDK_OPA_PORT}${ROOT}`)).rejects.toThrow('fetch failed')
})

test('the OPA port is free after the service is closed', async () => {
  const address = { host: await loopbackWithFree(SDK_OPA_PORT), opaPort: SDK_OPA_PORT }
  const first = await startedService(address)
  await expect(Client.start(address)).rejects.toThrow(
    `${address.host}:${SDK_OPA_PORT} is already in use; set HOST and OPA_PORT to a free address`,
  )
  await first.close()
  const second = await startedService(address)
  expect((await second.get('/ready')).status).toBe(200)
})
