/** Request bodies: pieces, limits, framing, encoding and nesting. */
import { Type } from 'typebox'
import { afterEach, describe, expect, test } from 'vitest'
import type { Principal } from '#model/principal.ts'
import { JSON_DEPTH_MAX } from '#model/limits.ts'
import { DECISION_DEPTH_MAX, parseJson } from '#http/routing/json.ts'
import { defineRoute } from '#http/routing/route.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import {
  allowedBody,
  AUTHORIZATION,
  AUTHORIZED,
  BODY_BYTES_MAX,
  edgeRoutes,
  ENVIRONMENT_PRINCIPAL,
  Latch,
  sharedEdge,
  startedEdge,
} from './edge-server.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const edge = await sharedEdge()
// After every test, the server still responds, and no defect was reported.
afterEach(async () => {
  expect((await fetch(`${edge.origin}/healthy`)).status).toBe(200)
  expect(edge.faults).toEqual([])
})

const LAST_CHUNK = '0\r\n\r\n'

function post(path: string, body: string | Buffer): Promise<Response> {
  return fetch(edge.origin + path, { method: 'POST', headers: AUTHORIZED, body })
}

function allowedText(headers: readonly string[], body: string): string {
  return requestText('POST /allowed', [AUTHORIZATION, ...headers], body)
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`
}

describe('the limit of body bytes', () => {
  test('is inclusive', async () => {
    expect((await post('/allowed', allowedBody(BODY_BYTES_MAX))).status).toBe(200)
  })

  test('rejects a body with one more byte, and keeps the connection open', async () => {
    const connection = await RawConnection.open(edge.port)
    const body = allowedBody(BODY_BYTES_MAX + 1)
    const answer = await connection.ask(allowedText([`Content-Length: ${body.length}`], body))
    expect([answer?.status, answer?.headers.get('connection')]).toEqual([413, undefined])
    expect(JSON.parse(answer!.body)).toEqual({
      code: 413,
      message: `a body can have at most ${BODY_BYTES_MAX} bytes`,
    })
    const next = allowedBody(200)
    expect((await connection.ask(allowedText([`Content-Length: ${next.length}`], next)))?.status).toBe(200)
    connection.destroy()
  })

  test('rejects a larger Content-Length before it receives the body', async () => {
    for (const path of ['/allowed', '/access/v1/evaluation', '/v2/things']) {
      const connection = await RawConnection.open(edge.port)
      const headers = [AUTHORIZATION, 'Content-Type: application/json', 'Content-Length: 999999999']
      expect((await connection.ask(requestText(`POST ${path}`, headers)))?.status).toBe(413)
      await connection.closed
    }
  })

  test('closes the connection of a client that sends a chunked body of many times the limit', async () => {
    const connection = await RawConnection.open(edge.port)
    await connection.send(allowedText(['Transfer-Encoding: chunked'], ''))
    const piece = chunk('x'.repeat(BODY_BYTES_MAX))
    for (let index = 0; index < 4; index += 1) await connection.send(piece)
    expect((await connection.ask(chunk('x')))?.status).toBe(413)
    await connection.closed
  })

  test('applies exactly to a chunked body', async () => {
    for (const [excess, status] of [
      [0, 200],
      [1, 413],
    ] as const) {
      const connection = await RawConnection.open(edge.port)
      const body = allowedBody(BODY_BYTES_MAX + excess)
      await connection.send(allowedText(['Transfer-Encoding: chunked'], ''))
      for (let at = 0; at < body.length; at += 50_000)
        await connection.send(chunk(body.slice(at, at + 50_000)))
      expect((await connection.ask(LAST_CHUNK))?.status).toBe(status)
      connection.destroy()
    }
  })
})

describe('the pieces of a body', () => {
  test('are joined, wherever the body is split', async () => {
    const body = allowedBody(60)
    for (const cut of [0, 1, 20, body.length - 1]) {
      const connection = await RawConnection.open(edge.port)
      await connection.send(allowedText([`Content-Length: ${body.length}`], body.slice(0, cut)))
      const answer = await connection.ask(body.slice(cut))
      expect([answer?.status, answer?.body]).toEqual([200, `{"user":"alice","bytes":${body.length}}`])
      connection.destroy()
    }
  })

  test('are discarded if the request is rejected, and the connection stays open', async () => {
    const connection = await RawConnection.open(edge.port)
    await connection.send(requestText('POST /nowhere', ['Content-Length: 10'], 'abcde'))
    expect((await connection.ask('fghij'))?.status).toBe(404)
    expect((await connection.ask(requestText('GET /healthy')))?.status).toBe(200)
    connection.destroy()
  })
})

describe('an announced body without bytes', () => {
  const LENGTHS = ['0', '00']

  test.each(LENGTHS)('counts as absent with the length %s, wherever the head is split', async length => {
    for (const [line, status] of [
      ['POST /allowed', 400],
      ['POST /nowhere', 404],
      ['DELETE /v2/things/bulk', 204],
    ] as const) {
      const text = requestText(line, [AUTHORIZATION, `Content-Length: ${length}`])
      // The HTTP library returns 505 if the request line arrives in two packets.
      const headersAt = text.indexOf('Host')
      for (const cut of [headersAt, headersAt + 10, text.length - 7, text.length - 2, text.length - 1]) {
        const connection = await RawConnection.open(edge.port)
        await connection.send(text.slice(0, cut))
        await edgeHasRead()
        expect([line, cut, (await connection.ask(text.slice(cut)))?.status]).toEqual([line, cut, status])
        expect((await connection.ask(requestText('GET /healthy')))?.status).toBe(200)
        connection.destroy()
      }
    }
  })

  test.each(LENGTHS)('counts as absent with the length %s if a pipelined request follows', async length => {
    const connection = await RawConnection.open(edge.port)
    const empty = requestText('DELETE /v2/things/bulk', [AUTHORIZATION, `Content-Length: ${length}`])
    const body = allowedBody()
    await connection.send(empty + allowedText([`Content-Length: ${body.length}`], body) + empty)
    const statuses = []
    for (let index = 0; index < 3; index += 1) statuses.push((await connection.answer())?.status)
    expect(statuses).toEqual([204, 200, 204])
    connection.destroy()
  })

  test('counts as absent if it is chunked, wherever the head is split', async () => {
    const headers = [AUTHORIZATION, 'Transfer-Encoding: chunked']
    const text = requestText('DELETE /v2/things/bulk', headers, LAST_CHUNK)
    const headersAt = text.indexOf('Host')
    for (const cut of [headersAt, text.length - LAST_CHUNK.length - 1, text.length - LAST_CHUNK.length]) {
      const connection = await RawConnection.open(edge.port)
      await connection.send(text.slice(0, cut))
      await edgeHasRead()
      expect((await connection.ask(text.slice(cut)))?.status).toBe(204)
      connection.destroy()
    }
  })

  /** Resolves when the server has read the previous bytes, so that the next ones are a separate packet. */
  async function edgeHasRead(): Promise<void> {
    await (await fetch(`${edge.origin}/healthy`)).text()
  }
})

/** More bytes than the server queues for a handler. */
const MORE_THAN_IS_QUEUED = 3 * 1_048_576
const RECEIVE_MS_MAX = 1_000

test('the time limit of a body that a handler reads in pieces counts only while the handler reads', async () => {
  const latch = new Latch()
  const counting = defineRoute({
    method: 'POST',
    path: '/pieces',
    operationId: 'pieces',
    summary: 'Counts the bytes of a body after the latch is released',
    family: 'native',
    access: 'public',
    bodyInPieces: { contentType: 'text/plain', description: 'Anything', schema: Type.String() },
    responses: { 200: { description: 'Fine' } },
    handle: async ({ body }) => {
      const pieces = body as unknown as PieceSource
      await latch.pass()
      let bytes = 0
      for (let piece = await pieces.next(); piece !== null; piece = await pieces.next()) bytes += piece.length
      return { status: 200, body: { bytes } }
    },
  })
  const limits = { bodyBytesMax: BODY_BYTES_MAX, receiveMsMax: RECEIVE_MS_MAX }
  const own = await startedEdge({ routes: [counting, ...edgeRoutes(latch)], limits })
  const [heldUp, late] = [await RawConnection.open(own.port), await RawConnection.open(own.port)]
  const length = `Content-Length: ${MORE_THAN_IS_QUEUED + 2}`
  await heldUp.send(requestText('POST /pieces', [length], 'x'.repeat(MORE_THAN_IS_QUEUED)))
  await latch.entered
  // This body starts later and is rejected, so the time limit of the first one has also passed.
  expect((await late.ask(allowedText(['Content-Length: 100'], '{')))?.status).toBe(408)
  await heldUp.send('xx')
  latch.release()
  expect((await heldUp.answer())?.body).toBe(JSON.stringify({ bytes: MORE_THAN_IS_QUEUED + 2 }))
  // The same client does not send the rest of its next body.
  await heldUp.send(requestText('POST /pieces', [length], 'x'.repeat(MORE_THAN_IS_QUEUED)))
  expect((await heldUp.answer())?.status).toBe(408)
  await heldUp.closed
  expect(own.faults).toEqual([])
})

test.each([
  ['revoked', null, 401],
  ['lowered', { ...ENVIRONMENT_PRINCIPAL, level: 'read' }, 403],
] as const)(
  'a body that a handler reads in pieces fails if its key is %s before its end',
  async (_, after, status) => {
    let principal: Principal | null = ENVIRONMENT_PRINCIPAL
    const begun = Promise.withResolvers<void>()
    const read: unknown[] = []
    const reading = defineRoute({
      method: 'POST',
      path: '/pieces',
      operationId: 'pieces',
      summary: 'Reads a body',
      family: 'management',
      access: 'any-key',
      level: 'admin',
      bodyInPieces: { contentType: 'text/plain', description: 'Anything', schema: Type.String() },
      responses: { 200: { description: 'Fine' } },
      handle: async ({ body }) => {
        const pieces = body as unknown as PieceSource
        for (;;) {
          read.push(await pieces.next())
          begun.resolve()
          if (read.at(-1) === null) return { status: 200, body: {} }
        }
      },
    })
    const own = await startedEdge({ routes: [reading], authenticate: () => principal })
    const connection = await RawConnection.open(own.port)
    await connection.send(requestText('POST /pieces', [AUTHORIZATION, 'Content-Length: 2'], 'x'))
    await begun.promise
    principal = after
    expect((await connection.ask('x'))?.status).toBe(status)
    expect(read).toHaveLength(1)
    connection.destroy()
  },
)

describe('ambiguous framing of a body', () => {
  test.each(['2', '5'])('with the lengths 5 and %s closes the connection with 400', async second => {
    const connection = await RawConnection.open(edge.port)
    const smuggled = requestText('GET /healthy')
    await connection.send(
      requestText('POST /v2/things', ['Content-Length: 5', `content-length: ${second}`], `abcde${smuggled}`),
    )
    // The 400 can be lost: the library closes a connection that keeps sending while it is rejected.
    expect([undefined, 400]).toContain((await connection.answer())?.status)
    await connection.closed
    // The bytes after the body were not read as a request.
    expect(await connection.answer()).toBeNull()
  })

  test('is reported to a client that sends nothing after the body', async () => {
    const connection = await RawConnection.open(edge.port)
    await connection.send(requestText('POST /v2/things', ['Content-Length: 5', 'Content-Length: 2'], 'abcde'))
    const answer = await connection.answer()
    expect([answer?.status, answer?.headers.get('connection')]).toEqual([400, 'close'])
    expect(JSON.parse(answer!.body)).toMatchObject({
      message: 'Content-Length and Transfer-Encoding must be sent once',
    })
    await connection.closed
  })

  test.each([
    ['an empty length', ['Content-Length:']],
    ['a blank length', ['Content-Length:   ']],
    ['an empty coding', ['Transfer-Encoding:']],
    ['an empty coding and a length', ['Transfer-Encoding:', 'Content-Length: 5']],
    ['chunks and an empty length', ['Transfer-Encoding: chunked', 'Content-Length:']],
    ['chunks twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
    ['chunks and then another coding', ['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip']],
    ['another coding', ['Transfer-Encoding: gzip']],
    ['another coding before chunks', ['Transfer-Encoding: gzip, chunked']],
    ['a coding that ends like chunks', ['Transfer-Encoding: xchunked']],
    ['chunks with a parameter', ['Transfer-Encoding: chunked;q=1']],
  ])('is rejected, and later bytes are not a request: %s', async (_, headers) => {
    const body = allowedBody()
    for (const sent of [body, chunk(body) + LAST_CHUNK, '']) {
      const connection = await RawConnection.open(edge.port)
      await connection.send(allowedText(headers, sent + requestText('GET /healthy')))
      // The library can return 505 for the bytes after the body before the service responds.
      expect([undefined, 400, 505]).toContain((await connection.answer())?.status)
      await connection.closed
      expect(await connection.answer()).toBeNull()
    }
  })

  test('is not assumed for `chunked` in upper or mixed case', async () => {
    for (const coding of ['chunked', 'Chunked', 'CHUNKED']) {
      const connection = await RawConnection.open(edge.port)
      await connection.send(allowedText([`Transfer-Encoding: ${coding}`], chunk(allowedBody()) + LAST_CHUNK))
      expect((await connection.answer())?.status).toBe(200)
      connection.destroy()
    }
  })

  test('with a length and chunks, or an invalid length, is rejected by the HTTP library', async () => {
    for (const headers of [['Content-Length: 5', 'Transfer-Encoding: chunked'], ['Content-Length: 5, 5']]) {
      const connection = await RawConnection.open(edge.port)
      expect((await connection.ask(allowedText(headers, 'abcde')))?.status).toBe(400)
      await connection.closed
    }
  })
})

describe('the text of a body', () => {
  test('is rejected as malformed if it is not UTF-8', async () => {
    // A continuation byte, an overlong slash, an encoded surrogate, a cut character, latin1.
    for (const bytes of ['80', 'c0af', 'eda080', 'c3', 'fc']) {
      const text = `{"user":{"key":"${Buffer.from(bytes, 'hex').toString('latin1')}"},"action":"read"}`
      const response = await post('/allowed', Buffer.from(text, 'latin1'))
      expect([response.status, await response.json()], bytes).toEqual([
        400,
        { code: 400, message: 'the body must be UTF-8' },
      ])
    }
  })

  test.each([
    '1e400',
    '-1E+309',
    '[1,1e400]',
    `${'9'.repeat(310)}`,
    `${'1'.repeat(250)}e99`,
    '{"b":\n 1.5e999}',
  ])('is rejected by management with the number %s, which would be stored as null', number => {
    const parse = (depthMax: typeof JSON_DEPTH_MAX | typeof DECISION_DEPTH_MAX) => () =>
      parseJson(Buffer.from(`{"a":${number}}`), depthMax)
    expect(parse(JSON_DEPTH_MAX)).toThrow(
      expect.objectContaining({
        code: 'INVALID_SHAPE',
        message: 'body: must not contain numbers beyond 1.8e308',
      }),
    )
    // Decisions store nothing.
    expect(parse(DECISION_DEPTH_MAX)).not.toThrow()
  })

  test.each(['1e308', '-1.7976931348623157e308', '1e-400', '"a:1e400"', '"[1e999,"'])(
    'is accepted by management with %s',
    value => {
      expect(parseJson(Buffer.from(`{"a":${value}}`), JSON_DEPTH_MAX)).toEqual({ a: JSON.parse(value) })
    },
  )

  test('is rejected with an unpaired surrogate, and all other characters are preserved', async () => {
    const answerTo = (key: string) => post('/allowed', `{"user":{"key":"${key}"},"action":"read"}`)
    const unpaired = String.raw`\ud800 \udc00 a\uDBFFb \ud83d\ud83d \ud83d\ud83d\ude00 \ude00\ud83d \\\ud800`
    for (const escape of unpaired.split(' ')) {
      const response = await answerTo(escape)
      expect([response.status, await response.json()], escape).toEqual([
        400,
        { code: 400, message: 'the body must not contain unpaired surrogates' },
      ])
    }
    for (const [written, expected] of [
      [String.raw`\ud83d\ude00`, '😀'],
      ['😀', '😀'],
      [String.raw`\u0041\n`, 'A\n'],
      [String.raw`\\ud800`, String.raw`\ud800`],
      ['\uFFFD', '\uFFFD'],
    ] as const) {
      expect(await (await answerTo(written)).json()).toMatchObject({ user: expected })
    }
  })
})

function nested(depth: number): string {
  return `${'['.repeat(depth)}${']'.repeat(depth)}`
}

function thing(depth: number): string {
  return `{"key":"a","attributes":${nested(depth - 1)}}`
}

describe('the nesting of a body', () => {
  test('has an inclusive limit on management', async () => {
    expect((await post('/v2/things', thing(JSON_DEPTH_MAX))).status).toBe(200)
    const rejected = await post('/v2/things', thing(JSON_DEPTH_MAX + 1))
    expect(rejected.status).toBe(422)
    expect(await rejected.json()).toMatchObject({
      detail: [{ loc: ['body'], msg: `must not nest deeper than ${JSON_DEPTH_MAX} levels`, type: 'depth' }],
    })
  })

  test('is not counted inside strings', async () => {
    const body = JSON.stringify({ key: 'a', attributes: `"\\${'[{'.repeat(JSON_DEPTH_MAX)}` })
    expect((await post('/v2/things', body)).status).toBe(200)
  })

  test('has a higher limit for decisions than for management', async () => {
    expect((await post('/allowed/bulk', nested(DECISION_DEPTH_MAX))).status).toBe(200)
    expect((await post('/allowed/bulk', nested(DECISION_DEPTH_MAX + 1))).status).toBe(400)
  })

  test('is limited in a body of the maximum size that contains only brackets', async () => {
    const half = BODY_BYTES_MAX / 2
    for (const body of ['['.repeat(BODY_BYTES_MAX), `${'['.repeat(half)}${']'.repeat(half)}`]) {
      expect((await post('/v2/things', body)).status).toBe(422)
      expect((await post('/allowed/bulk', body)).status).toBe(400)
    }
  })

  test('is rejected at the first level over the limit, before 16 MiB are parsed', () => {
    const bytes = Buffer.from(nested(8 * 1_024 * 1_024))
    expect(() => parseJson(bytes, JSON_DEPTH_MAX)).toThrow('must not nest deeper than 64 levels')
    expect(() => parseJson(bytes, DECISION_DEPTH_MAX)).toThrow('must not nest deeper than 2048 levels')
  })
})
