/** Headers of all responses, the form of errors, and the handling of defects. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { ErrorCode } from '#model/errors.ts'
import { InvariantError } from '#model/assert.ts'
import { allowedBody, AUTHORIZATION, AUTHORIZED, postText, sharedEdge } from './edge-server.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const edge = await sharedEdge()
beforeEach(() => {
  edge.faults.length = 0
})

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function fail(prefix: string, code: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${edge.origin}${prefix}/failures/${code}`, { method: 'POST', headers })
}

describe('a successful response', () => {
  test('is JSON', async () => {
    const init = { method: 'POST', headers: AUTHORIZED, body: allowedBody() }
    const response = await fetch(`${edge.origin}/allowed`, init)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(await response.json()).toMatchObject({ user: 'alice' })
  })

  test('can have additional headers and another content type', async () => {
    const init = { method: 'POST', headers: AUTHORIZED, body: '{"key":"a","attributes":{}}' }
    const created = await fetch(`${edge.origin}/v2/things`, init)
    expect(created.headers.get('x-revision')).toBe('epoch.7')
    const metrics = await fetch(`${edge.origin}/metrics`)
    expect([metrics.headers.get('content-type'), await metrics.text()]).toEqual(['text/plain', 'up 1\n'])
  })

  test('with the status 204 has no body and no length, and keeps the connection open', async () => {
    const connection = await RawConnection.open(edge.port)
    await connection.send(requestText('DELETE /v2/things/bulk', [AUTHORIZATION]))
    const { status, headers } = (await connection.answer())!
    expect([status, headers.has('content-length'), headers.has('content-type')]).toEqual([204, false, false])
    expect((await connection.ask(requestText('GET /healthy')))?.status).toBe(200)
    connection.destroy()
  })
})

describe('the header X-Request-ID', () => {
  const ids = ['1', 'a b', 'x'.repeat(500), '{"json":true}', "~!@#$%^&*()_+`-=[]\\;',./<>?:|"]

  test.each(ids)('is returned unchanged: %j', async id => {
    const response = await fetch(`${edge.origin}/healthy`, { headers: { 'X-Request-ID': id } })
    expect(response.headers.get('x-request-id')).toBe(id)
  })

  test('is returned with every error', async () => {
    const id = { 'X-Request-ID': 'r-1' }
    const answers = await Promise.all([
      fetch(`${edge.origin}/nowhere`, { headers: id }),
      fetch(`${edge.origin}/allowed`, { headers: id }),
      fetch(`${edge.origin}/allowed`, { method: 'POST', headers: id }),
      fetch(`${edge.origin}/allowed`, { method: 'POST', headers: { ...id, ...AUTHORIZED }, body: '{' }),
      fail('', 'broken', id),
    ])
    expect(answers.map(answer => answer.status)).toEqual([404, 405, 401, 400, 500])
    for (const answer of answers) expect(answer.headers.get('x-request-id')).toBe('r-1')
    const connection = await RawConnection.open(edge.port)
    await connection.send(requestText('POST /healthy', ['x-REQUEST-Id: r-1', 'Content-Length: 999999999']))
    expect((await connection.answer())?.headers.get('x-request-id')).toBe('r-1')
  })

  test.each([
    ['is absent', []],
    ['is empty', ['X-Request-ID:']],
    ['is blank', ['X-Request-ID:    ']],
    ['contains a tab', ['X-Request-ID: a\tb']],
    ['contains a DEL character', ['X-Request-ID: a\x7fb']],
    ['contains non-ASCII bytes', ['X-Request-ID: a\xfcb']],
    ['contains UTF-8', ['X-Request-ID: a\xc3\xbcb']],
  ])('is generated if it %s', async (_, headers) => {
    const connection = await RawConnection.open(edge.port)
    await connection.send(requestText('GET /healthy', headers))
    expect((await connection.answer())?.headers.get('x-request-id')).toMatch(UUID)
    connection.destroy()
  })

  test('has the same position among the headers, whether the client sent it or the server generated it', async () => {
    const connection = await RawConnection.open(edge.port)
    const ask = async (headers: readonly string[]) => {
      return (await connection.ask(postText('/allowed', allowedBody(), [AUTHORIZATION, ...headers])))!
    }
    const sent = await ask(['X-Request-ID: r-1'])
    const { status, headers, body } = await ask([])
    expect([...headers.keys()]).toEqual([...sent.headers.keys()])
    expect(headers.get('x-request-id')).toMatch(UUID)
    expect([status, headers.get('content-type'), body]).toEqual([200, 'application/json', sent.body])
    connection.destroy()
  })

  test('is unique for every request without it', async () => {
    const made = await Promise.all(
      Array.from({ length: 600 }, async () => {
        const response = await fetch(`${edge.origin}/nowhere`)
        return response.headers.get('x-request-id')
      }),
    )
    expect(new Set(made).size).toBe(600)
    for (const id of made) expect(id).toMatch(UUID)
  })
})

const statuses: Record<ErrorCode, [decision: number, management: number, errorCode: string]> = {
  UNAUTHENTICATED: [401, 401, 'UNAUTHORIZED'],
  FORBIDDEN: [403, 403, 'FORBIDDEN_ACCESS'],
  UNKNOWN_PATH: [404, 404, 'NOT_FOUND'],
  METHOD_NOT_ALLOWED: [405, 405, 'INVALID_INPUT'],
  BODY_TOO_LARGE: [413, 413, 'INVALID_INPUT'],
  MALFORMED_REQUEST: [400, 422, 'INVALID_INPUT'],
  INVALID_SHAPE: [400, 422, 'INVALID_INPUT'],
  INVALID_PERMISSION_FORMAT: [400, 422, 'INVALID_PERMISSION_FORMAT'],
  LIMIT_EXCEEDED: [400, 400, 'INVALID_INPUT'],
  RATE_LIMITED: [429, 429, 'UNEXPECTED_ERROR'],
  REQUEST_TIMEOUT: [408, 408, 'INVALID_INPUT'],
  NOT_FOUND: [404, 404, 'NOT_FOUND'],
  DUPLICATE_ENTITY: [409, 409, 'DUPLICATE_ENTITY'],
  STILL_NEEDED: [409, 409, 'INVALID_INPUT'],
  PRECONDITION_FAILED: [412, 412, 'PRECONDITION_FAILED'],
  INVALID_INPUT: [400, 400, 'INVALID_INPUT'],
  MISMATCH_RESOURCE_INSTANCES_TENANTS: [400, 400, 'MISMATCH_RESOURCE_INSTANCES_TENANTS'],
  MISMATCH_RELATION_TYPE: [400, 400, 'MISMATCH_RELATION_TYPE'],
  UNKNOWN_RELATION: [422, 422, 'INVALID_INPUT'],
  FILTER_NOT_EXPRESSIBLE: [422, 422, 'INVALID_INPUT'],
  FILTER_TOO_LARGE: [422, 422, 'INVALID_INPUT'],
  FILTER_TOO_COSTLY: [422, 422, 'INVALID_INPUT'],
  NOT_READY: [503, 503, 'UNEXPECTED_ERROR'],
  OVERLOADED: [503, 503, 'UNEXPECTED_ERROR'],
  INTERNAL: [500, 500, 'UNEXPECTED_ERROR'],
  REVISION_CONFLICT: [503, 503, 'CONCURRENT_OPERATION_DISALLOWED'],
  REVISION_TOO_OLD: [503, 503, 'UNEXPECTED_ERROR'],
  STORE_RESET: [503, 503, 'UNEXPECTED_ERROR'],
  STORE_CLOSED: [503, 503, 'UNEXPECTED_ERROR'],
  STORE_LOCKED: [503, 503, 'UNEXPECTED_ERROR'],
  STORE_UNAVAILABLE: [503, 503, 'UNEXPECTED_ERROR'],
  STORE_REFUSED: [503, 503, 'UNEXPECTED_ERROR'],
  STORE_DAMAGED: [503, 503, 'UNEXPECTED_ERROR'],
  STALE: [503, 503, 'UNEXPECTED_ERROR'],
  ENVIRONMENT_CLOSED: [503, 503, 'UNEXPECTED_ERROR'],
}

test.each(Object.entries(statuses))(
  'the error %s has the form of each API family',
  async (code, expected) => {
    const [decision, management, errorCode] = expected
    const native = await fail('', code)
    const { message } = (await native.clone().json()) as { message: string }
    expect([native.status, await native.json()]).toEqual([decision, { code: decision, message }])
    const access = await fail('/access/v1', code)
    expect([access.status, access.headers.get('content-type')]).toEqual([
      decision,
      'text/plain; charset=utf-8',
    ])
    expect(await access.text()).toBe(message)
    const managed = await fail('/v2', code)
    expect([managed.status, managed.headers.get('content-type')]).toEqual([management, 'application/json'])
    expect(await managed.json()).toEqual({
      id: expect.stringMatching(UUID),
      title: expect.any(String),
      error_code: errorCode,
      // Clients of the original service search for these words.
      message: code === 'NOT_FOUND' ? `The requested data could not be found: ${message}` : message,
      support_link: null,
      additional_info: null,
      ...(management === 422 && { detail: [{ loc: ['body'], msg: message, type: 'value_error' }] }),
    })
    const isOurs = code.startsWith('STORE_') || code === 'INTERNAL' || code === 'REVISION_TOO_OLD'
    expect(message === `about ${code}`).toBe(!isOurs)
    for (const answer of [native, access, managed]) {
      expect(answer.headers.get('retry-after')).toBe(decision === 503 || decision === 429 ? '1' : null)
      expect(answer.headers.get('www-authenticate')).toBe(decision === 401 ? 'Bearer realm="verdict"' : null)
    }
  },
)

describe('a defect', () => {
  test.each(['broken', 'later', 'invariant', 'cyclic', 'header'])(
    'in a handler (%s) returns 500 without its text and is reported with the request id',
    async kind => {
      for (const prefix of ['', '/access/v1', '/v2']) {
        edge.faults.length = 0
        const response = await fail(prefix, kind, { 'X-Request-ID': 'r-9' })
        expect([response.status, response.headers.get('x-evil')]).toEqual([500, null])
        const text = await response.text()
        expect(text).toContain('the service failed to answer this request')
        expect(text).not.toMatch(/secret|db-1|edge-server|TypeError/)
        expect(edge.faults).toEqual([{ error: expect.any(Error), requestId: 'r-9' }])
      }
      expect(edge.faults[0]!.error instanceof InvariantError).toBe(kind === 'invariant')
    },
  )

  test('is not reported for a rejected request', async () => {
    await fail('', 'NOT_READY')
    await fetch(`${edge.origin}/nowhere`)
    expect(edge.faults).toEqual([])
  })
})
