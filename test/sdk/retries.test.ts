/** Status codes for which the official client retries requests, and for which it does not. */
import { type IRetryConfig, type Permit, RETRYABLE_STATUS_CODES } from 'permitio'
import { describe, expect, test } from 'vitest'
import { freePort } from '#testing/processes/free-port.ts'
import { holdStarts } from '../support/processes/held-start.ts'
import { permitAt, permitOfNewService, statusOfRefusal } from '../support/calls/permit-client.ts'
import { API_KEY, startedService } from '#testing/processes/running-service.ts'

const HOST = '127.0.0.1'
/** Delay that the service requests in a response with the status 503. */
const RETRY_AFTER_MS = 1_000

interface Failure {
  readonly request: string
  readonly status: number | undefined
  readonly atMs: number
}

/** Retries until the service responds: immediately without a connection, otherwise after `Retry-After`. */
function patient(failures: Failure[]): IRetryConfig {
  return {
    maxRetries: 10_000,
    retryDelay: 5,
    backoffMultiplier: 1,
    retryCondition: ({ config, response }) => {
      const request = `${config?.method} ${config?.url?.replace(/[0-9a-f-]{36}/g, '*')}`
      failures.push({ request, status: response?.status, atMs: performance.now() })
      return response === undefined || RETRYABLE_STATUS_CODES.includes(response.status)
    },
  }
}

describe('while the service starts', () => {
  test('checks and reads are retried after the requested delay until they succeed, and a write is not retried', async () => {
    const port = await freePort()
    const failures: Failure[] = []
    const letIn = holdStarts()
    const permit = permitAt(`http://${HOST}:${port}`, { retry: patient(failures) })
    const starting = startedService({ host: HOST, port })
    const written = statusOfRefusal(permit.api.users.create({ key: 'nobody' }))
    const asked = Promise.all([
      permit.check('nobody', 'read', 'document'),
      permit.bulkCheck([{ user: 'nobody', action: 'read', resource: 'document' }]),
      permit.getUserPermissions('nobody'),
      permit.api.users.list(),
    ])
    const told = () => failures.filter(({ status }) => status !== undefined)
    while (new Set(told().map(({ request }) => request)).size < 4) await new Promise(setImmediate)
    const refused = await written
    letIn()
    const [check, bulk, permissions, listed] = await asked
    const answeredAtMs = performance.now()
    await starting
    expect([check, bulk, permissions, listed.total_count]).toEqual([false, [false], {}, 0])
    expect(refused, 'the user that was to be created').toBe(503)

    const toldToWait = told()
    expect(new Set(toldToWait.map(({ status }) => status))).toEqual(new Set([503]))
    expect(new Set(toldToWait.map(({ request }) => request))).toEqual(
      new Set([
        'post allowed',
        'post allowed/bulk',
        'post user-permissions',
        `get http://${HOST}:${port}/v2/facts/*/*/users`,
      ]),
    )
    for (const { request } of toldToWait) {
      const times = toldToWait.filter(failure => failure.request === request).map(({ atMs }) => atMs)
      for (const [index, atMs] of times.entries()) {
        expect((times[index + 1] ?? answeredAtMs) - atMs, request).toBeGreaterThan(RETRY_AFTER_MS - 50)
      }
    }
  })
})

/** Requests that the client sends from here on, to the REST API and for decisions. */
function requestsOf(permit: Permit): string[] {
  const sent: string[] = []
  for (const client of [permit.config.axiosInstance, permit['enforcer'].client]) {
    client.interceptors.request.use((request: { method?: string; url?: string }) => {
      sent.push(`${request.method} ${request.url?.replace(/^.*\/(?=[^/]+$)/, '')}`)
      return request
    })
  }
  return sent
}

describe('a request with the default retries', () => {
  test.each<[string, number, (permit: Permit) => Promise<unknown>, string]>([
    ['an unknown entity', 404, ({ api }) => api.users.get('nobody'), 'get nobody'],
    ['an invalid body', 422, ({ api }) => api.users.sync({ key: 'x', email: 7 as never }), 'put x'],
    ['a duplicate', 409, ({ api }) => api.tenants.create({ key: 'default', name: 'D' }), 'post tenants'],
    [
      'a forbidden change',
      400,
      ({ api }) => api.resources.replace('__tenants', { name: 'T', actions: {} }),
      'put __tenants',
    ],
  ])('is not repeated after an error: %s, %i', async (_what, status, call, request) => {
    const { permit } = await permitOfNewService({ retry: {} })
    await permit.api.users.list()
    const sent = requestsOf(permit)
    expect(await statusOfRefusal(call(permit))).toBe(status)
    expect(sent).toEqual([request])
  })

  test.each<[string, number, (permit: Permit) => Promise<unknown>, string]>([
    ['a check without a user', 400, permit => permit.check('', 'read', 'document'), 'post allowed'],
    ['permissions without a user', 400, permit => permit.getUserPermissions(''), 'post user-permissions'],
  ])('is not repeated after an error: %s, %i', async (_what, status, call, request) => {
    const { permit } = await permitOfNewService({ retry: {} })
    const sent = requestsOf(permit)
    await expect(call(permit)).rejects.toThrow(`status code ${status}`)
    expect(sent).toEqual([request])
  })

  test('is not repeated with an unknown key, 401', async () => {
    const { service } = await permitOfNewService()
    const permit = permitAt(service.address, { token: `not ${API_KEY}`.replace(' ', '-'), retry: {} })
    const sent = requestsOf(permit)
    await expect(permit.check('nobody', 'read', 'document')).rejects.toThrow('status code 401')
    await expect(permit.api.users.list()).rejects.toThrow('could not fetch the api key scope')
    expect(sent).toEqual(['post allowed', 'get scope'])
  })
})

test('the error of the client has the message of the rejection', async () => {
  const { permit } = await permitOfNewService()
  await expect(permit.api.users.get('nobody')).rejects.toThrow('there is no user "nobody"')
})
