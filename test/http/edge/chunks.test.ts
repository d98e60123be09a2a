/**
 * Chunked bodies. The HTTP library parses their framing leniently and does not expose it. These tests verify
 * that an attacker cannot exploit this: bytes after a chunked body are never read as a request.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  AUTHORIZATION,
  AUTHORIZED,
  allowedBody,
  BODY_BYTES_MAX,
  countingObserver,
  type EdgeServer,
  startedEdge,
  startEdge,
} from './edge-server.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

let edge: EdgeServer
/** The ids of the requests whose handlers were called. */
let called: string[] = []
beforeAll(async () => {
  edge = await startEdge({}, requestId => called.push(requestId))
})
afterAll(() => edge.server.close())
afterEach(() => {
  called = []
  expect(edge.faults).toEqual([])
})

const CHUNKED = 'Transfer-Encoding: chunked'
const LAST_CHUNK = '0\r\n\r\n'
const SMUGGLED = requestText('GET /v2/things', [AUTHORIZATION, 'X-Request-ID: smuggled'])

function chunk(text: string, size = text.length.toString(16)): string {
  return `${size}\r\n${text}\r\n`
}

function request(line: string, body: string, headers: readonly string[] = []): string {
  return requestText(line, [AUTHORIZATION, CHUNKED, 'X-Request-ID: sent', ...headers], body)
}

/** Resolves when the server has read and processed the previous bytes. */
async function hasRead(): Promise<void> {
  for (let times = 0; times < 2; times += 1) await (await fetch(`${edge.origin}/healthy`)).text()
  called = called.filter(requestId => ['sent', 'smuggled'].includes(requestId))
}

describe('a connection with a chunked body', () => {
  test.each([
    ['a decision', 'POST /allowed', chunk(allowedBody()) + LAST_CHUNK, 200],
    [
      'a decision in many chunks',
      'POST /allowed',
      [...allowedBody()].map(c => chunk(c)).join('') + LAST_CHUNK,
      200,
    ],
    ['an asynchronous handler', 'POST /allowed/bulk', chunk('[1,2]') + LAST_CHUNK, 200],
    ['a change', 'POST /v2/things', chunk('{"key":"a","attributes":1}') + LAST_CHUNK, 200],
    ['a response without a body', 'DELETE /v2/things/bulk', LAST_CHUNK, 204],
    ['a route that ignores the body', 'GET /healthy', chunk('x') + LAST_CHUNK, 200],
    ['a long response', 'GET /large/1000000', chunk('x') + LAST_CHUNK, 200],
    ['a response that is sent in parts', 'GET /large/2000000', chunk('x') + LAST_CHUNK, 200],
    ['a streaming response', 'GET /pieces/100000', chunk('x') + LAST_CHUNK, 200],
    ['an unknown path', 'POST /nowhere', chunk('x') + LAST_CHUNK, 404],
    ['an invalid body', 'POST /allowed', chunk('{') + LAST_CHUNK, 400],
    ['a body over the limit', 'POST /allowed', chunk('x'.repeat(BODY_BYTES_MAX + 1)) + LAST_CHUNK, 413],
  ])(
    'is closed after the body, and the response has one `Connection: close`: %s',
    async (_, line, body, status) => {
      for (const headers of [[], ['Connection: close']]) {
        const connection = await RawConnection.open(edge.port)
        const answer = await connection.ask(request(line, body, headers))
        expect(answer?.status).toBe(status)
        expect(answer!.headerNames.filter(name => name === 'connection')).toHaveLength(1)
        expect(answer!.headers.get('connection')).toBe('close')
        const length = /\/large\/(\d+)/.exec(line)?.[1]
        if (length !== undefined) expect(answer!.body === `"${'ü'.repeat(Number(length))}"`).toBe(true)
        if (line.includes('pieces')) expect(answer!.body.split('\n').slice(-2)).toEqual(['99999', ''])
        // The client closes the connection if the response is chunked. Otherwise, the server closes it.
        if (answer!.headers.has('transfer-encoding')) connection.end()
        await connection.closed
      }
    },
  )

  test('has a request in flight until the client has read its long response, which the library does not buffer', async () => {
    const { statuses, observer } = countingObserver()
    const watched = await startedEdge({ observer })
    const connection = await RawConnection.open(watched.port)
    connection.pause()
    // More than the kernel buffers for a client that does not read.
    await connection.send(request('GET /large/16000000', LAST_CHUNK))
    for (let times = 0; times < 20; times += 1) await (await fetch(`${watched.origin}/nowhere`)).text()
    expect(statuses).not.toContain(200)
    connection.resume()
    const answer = await connection.answer()
    expect([answer?.status, answer?.body.length]).toEqual([200, 16_000_002])
    expect(statuses).toContain(200)
    // No further request is served, and the connection is closed even if the client keeps it open.
    await connection.send(SMUGGLED)
    await connection.closed
    expect(called).not.toContain('smuggled')
  })

  test('serves no request that follows in the same packet, in the next packet, or after the response', async () => {
    const body = chunk(allowedBody()) + LAST_CHUNK
    const together = await RawConnection.open(edge.port)
    await together.send(request('POST /allowed', body) + SMUGGLED)
    await together.closed
    const next = await RawConnection.open(edge.port)
    await next.send(request('POST /allowed', body.slice(0, -1)))
    await hasRead()
    await next.send(body.slice(-1))
    await next.send(SMUGGLED)
    await next.closed
    const after = await RawConnection.open(edge.port)
    expect((await after.ask(request('POST /allowed', body)))?.status).toBe(200)
    await after.send(SMUGGLED)
    await after.closed
    expect(await after.answer()).toBeNull()
    await hasRead()
    expect(called).not.toContain('smuggled')
  })

  test('serves no further request on any path, wherever the packets end', async () => {
    for (const [line, body] of [
      ['POST /allowed/bulk', chunk('[1]') + LAST_CHUNK],
      ['DELETE /v2/things/bulk', LAST_CHUNK],
      ['GET /large/1000000', LAST_CHUNK],
      ['GET /large/2000000', LAST_CHUNK],
      ['GET /pieces/100000', LAST_CHUNK],
      ['POST /nowhere', LAST_CHUNK],
      ['POST /allowed', chunk('x'.repeat(BODY_BYTES_MAX + 1)) + LAST_CHUNK],
    ] as const) {
      const text = request(line, body) + SMUGGLED
      for (let cut = text.length - SMUGGLED.length - 6; cut < text.length - SMUGGLED.length + 6; cut += 1) {
        const connection = await RawConnection.open(edge.port)
        await connection.send(text.slice(0, cut))
        await hasRead()
        await connection.send(text.slice(cut))
        await connection.closed
      }
    }
    await hasRead()
    expect(called).not.toContain('smuggled')
  })
})

describe('bytes after a chunked body', () => {
  const loose = [':', ';', '<', '=', '>', '?', '@'].flatMap(byte =>
    ['?', '0?', '?0', '5?', '?5', '1?1', '??', '0000?', '0?0'].map(size => size.replaceAll('?', byte)),
  )
  const extensions = ['5;', '0;a', '2;q=1', '5 ;a', '5\t', '0;"', '0;a="\\""', '0;\n', '-1', '+5', '0x5', '']

  test.each([...loose, ...extensions])('are not read as a request with the chunk size %j', async size => {
    for (const filling of ['', 'x'.repeat(11), 'x'.repeat(0x1_000)]) {
      const connection = await RawConnection.open(edge.port)
      // A proxy can interpret these bytes as the end of the body, and then forward other requests.
      for (const rest of [chunk(filling, size) + LAST_CHUNK, `${size}\r\n\r\n`, `${size}\r\n`]) {
        await connection.send(request('POST /allowed', rest))
        await connection.send(SMUGGLED.repeat(100))
        await hasRead()
      }
      connection.destroy()
    }
    await hasRead()
    expect(called).not.toContain('smuggled')
  })

  test.each([
    ['trailers', '0\r\nX-Trailer: 1\r\n\r\n'],
    ['two bytes instead of the empty line', '0\r\nAA'],
    ['a line feed', '0\nAA'],
    ['no size', '\r\n\r\n'],
    ['a chunk with a wrong end', '1\r\nxAA0\r\nAA'],
  ])('are not read as a request with %s', async (_, end) => {
    for (const [line, start] of [
      ['POST /allowed', chunk(allowedBody())],
      ['DELETE /v2/things/bulk', ''],
      ['GET /healthy', ''],
    ] as const) {
      const text = request(line, start + end) + SMUGGLED
      for (const cut of [text.length, text.length - SMUGGLED.length]) {
        const connection = await RawConnection.open(edge.port)
        await connection.send(text.slice(0, cut))
        await hasRead()
        await connection.send(text.slice(cut))
        await connection.closed
      }
    }
    await hasRead()
    expect(called).not.toContain('smuggled')
  })
})

test('a chunked body far over the limit whose last chunk is in the same packet gets one response', async () => {
  const bodyBytesMax = 1_000
  const narrow = await startedEdge({ limits: { bodyBytesMax } })
  const beyond = 'x'.repeat(4 * bodyBytesMax + 1)
  const half = 'x'.repeat(3 * bodyBytesMax)
  for (const body of [chunk(beyond), chunk(half) + chunk(half), chunk(half) + chunk(half) + chunk('x')]) {
    const connection = await RawConnection.open(narrow.port)
    expect((await connection.ask(request('POST /allowed', body + LAST_CHUNK)))?.status).toBe(413)
    await connection.closed
    // A former defect terminated the process in the next event-loop iteration.
    expect((await fetch(`${narrow.origin}/healthy`)).status).toBe(200)
  }
  expect(narrow.faults).toEqual([])
})

test('a client that streams its bodies continues on other connections', async () => {
  for (let round = 0; round < 5; round += 1) {
    const body = new Blob([allowedBody()]).stream()
    const init = { method: 'POST', headers: AUTHORIZED, body, duplex: 'half' } as const
    const answer = await fetch(`${edge.origin}/allowed`, init)
    expect([answer.status, await answer.json()]).toMatchObject([200, { user: 'alice' }])
  }
})
