/**
 * Bodies in chunks. The HTTP library reads their framing loosely and shows nothing of it, so what is held here is that no
 * looseness is of use: whatever follows such a body on its connection is never a request.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
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
  edge = await startEdge({ onCall: requestId => called.push(requestId) })
})
afterAll(() => edge.server.close())
afterEach(() => {
  called = []
  expect(edge.faults).toEqual([])
})

const AUTHORIZATION = `Authorization: ${AUTHORIZED.authorization}`
const CHUNKED = 'Transfer-Encoding: chunked'
const LAST_CHUNK = '0\r\n\r\n'
const SMUGGLED = requestText('GET /v2/things', [AUTHORIZATION, 'X-Request-ID: smuggled'])

function chunk(text: string, size = text.length.toString(16)): string {
  return `${size}\r\n${text}\r\n`
}

function request(line: string, body: string, headers: readonly string[] = []): string {
  return requestText(line, [AUTHORIZATION, CHUNKED, 'X-Request-ID: sent', ...headers], body)
}

/** Resolves when the server has read what was sent before, and has done what follows from it at once. */
async function hasRead(): Promise<void> {
  for (let times = 0; times < 2; times += 1) await (await fetch(`${edge.origin}/healthy`)).text()
  called = called.filter(requestId => ['sent', 'smuggled'].includes(requestId))
}

describe('a body in chunks is the last of its connection', () => {
  test.each([
    ['a decision', 'POST /allowed', chunk(allowedBody()) + LAST_CHUNK, 200],
    [
      'a decision in many chunks',
      'POST /allowed',
      [...allowedBody()].map(c => chunk(c)).join('') + LAST_CHUNK,
      200,
    ],
    ['an answer that is promised', 'POST /allowed/bulk', chunk('[1,2]') + LAST_CHUNK, 200],
    ['a change', 'POST /v2/things', chunk('{"key":"a","attributes":1}') + LAST_CHUNK, 200],
    ['an answer without a body', 'DELETE /v2/things/bulk', LAST_CHUNK, 204],
    ['a body that nobody reads', 'GET /healthy', chunk('x') + LAST_CHUNK, 200],
    ['a long answer', 'GET /large/1000000', chunk('x') + LAST_CHUNK, 200],
    ['an answer that goes out in parts', 'GET /large/2000000', chunk('x') + LAST_CHUNK, 200],
    ['an answer in pieces', 'GET /pieces/100000', chunk('x') + LAST_CHUNK, 200],
    ['a path that is none', 'POST /nowhere', chunk('x') + LAST_CHUNK, 404],
    ['a body that is refused', 'POST /allowed', chunk('{') + LAST_CHUNK, 400],
    ['a body that is too long', 'POST /allowed', chunk('x'.repeat(BODY_BYTES_MAX + 1)) + LAST_CHUNK, 413],
  ])('%s: answered, told so once, and closed', async (_, line, body, status) => {
    for (const headers of [[], ['Connection: close']]) {
      const connection = await RawConnection.open(edge.port)
      await connection.send(request(line, body, headers))
      const answer = await connection.answer()
      expect(answer?.status).toBe(status)
      expect(answer!.headerNames.filter(name => name === 'connection')).toHaveLength(1)
      expect(answer!.headers.get('connection')).toBe('close')
      const length = /\/large\/(\d+)/.exec(line)?.[1]
      if (length !== undefined) expect(answer!.body === `"${'ü'.repeat(Number(length))}"`).toBe(true)
      if (line.includes('pieces')) expect(answer!.body.split('\n').slice(-2)).toEqual(['99999', ''])
      // As a caller does who was asked to; of those who do not, the connection ends all the same.
      if (answer!.headers.has('transfer-encoding')) connection.end()
      await connection.closed
    }
  })

  test('a long answer is in flight until its caller has read it: it is not left to the memory of the library', async () => {
    const { statuses, observer } = countingObserver()
    const watched = await startedEdge({ observer })
    const connection = await RawConnection.open(watched.port)
    connection.pause()
    // More than the kernel takes for a caller who does not read.
    await connection.send(request('GET /large/16000000', LAST_CHUNK))
    for (let times = 0; times < 20; times += 1) await (await fetch(`${watched.origin}/nowhere`)).text()
    expect(statuses).not.toContain(200)
    connection.resume()
    const answer = await connection.answer()
    expect([answer?.status, answer?.body.length]).toEqual([200, 16_000_002])
    expect(statuses).toContain(200)
    // Nobody is served behind it, and the connection ends whether or not its caller ends it.
    await connection.send(SMUGGLED)
    await connection.closed
    expect(called).not.toContain('smuggled')
  })

  test('with a request behind it in the same packet, in the next, or behind the answer: it is no request', async () => {
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
    const behind = await RawConnection.open(edge.port)
    await behind.send(request('POST /allowed', body))
    expect((await behind.answer())?.status).toBe(200)
    await behind.send(SMUGGLED)
    await behind.closed
    expect(await behind.answer()).toBeNull()
    await hasRead()
    expect(called).not.toContain('smuggled')
  })

  test('with one behind it for each path, wherever packets end', async () => {
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

describe('what the library takes for framing', () => {
  const loose = [':', ';', '<', '=', '>', '?', '@'].flatMap(byte =>
    ['?', '0?', '?0', '5?', '?5', '1?1', '??', '0000?', '0?0'].map(size => size.replaceAll('?', byte)),
  )
  const extensions = ['5;', '0;a', '2;q=1', '5 ;a', '5\t', '0;"', '0;a="\\""', '0;\n', '-1', '+5', '0x5', '']

  test.each([...loose, ...extensions])('a chunk of size %j: nothing behind it is a request', async size => {
    for (const filling of ['', 'x'.repeat(11), 'x'.repeat(0x1_000)]) {
      const connection = await RawConnection.open(edge.port)
      // As a proxy may have read it: the end of the body, and whatever else a caller gets it to send.
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
    ['two bytes in place of the empty line', '0\r\nAA'],
    ['a line feed', '0\nAA'],
    ['no size', '\r\n\r\n'],
    ['an end of its own for a chunk', '1\r\nxAA0\r\nAA'],
  ])('%s: what follows is no request', async (_, end) => {
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

test('a body beyond all that is read of one that is refused, its last chunk in the same packet, is answered once', async () => {
  const bodyBytesMax = 1_000
  const narrow = await startedEdge({ limits: { bodyBytesMax } })
  const beyond = 'x'.repeat(4 * bodyBytesMax + 1)
  const half = 'x'.repeat(3 * bodyBytesMax)
  for (const body of [chunk(beyond), chunk(half) + chunk(half), chunk(half) + chunk(half) + chunk('x')]) {
    const connection = await RawConnection.open(narrow.port)
    await connection.send(request('POST /allowed', body + LAST_CHUNK))
    expect((await connection.answer())?.status).toBe(413)
    await connection.closed
    // What was wrong ended the process, a turn later.
    expect((await fetch(`${narrow.origin}/healthy`)).status).toBe(200)
  }
  expect(narrow.faults).toEqual([])
})

test('a client that streams its bodies goes on with other connections', async () => {
  for (let round = 0; round < 5; round += 1) {
    const body = new Blob([allowedBody()]).stream()
    const init = { method: 'POST', headers: AUTHORIZED, body, duplex: 'half' } as const
    const answer = await fetch(`${edge.origin}/allowed`, init)
    expect([answer.status, await answer.json()]).toMatchObject([200, { user: 'alice' }])
  }
})
