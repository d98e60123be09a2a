/** Connections: kept, pipelined, asked for heads only, used by callers who do not know the rules. */
import { Agent, request } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { allowedBody, AUTHORIZED, sharedEdge } from './edge-server.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const edge = await sharedEdge()
let connection: RawConnection
afterEach(async () => {
  connection.destroy()
  expect((await fetch(`${edge.origin}/healthy`)).status).toBe(200)
})

function allowed(): string {
  const body = allowedBody()
  const headers = [`aUtHoRiZaTiOn: ${AUTHORIZED.authorization}`, `Content-Length: ${body.length}`]
  return requestText('POST /allowed', headers, body)
}

test('requests that are sent together are answered in order', async () => {
  connection = await RawConnection.open(edge.port)
  const unauthorized = requestText('POST /allowed', ['Content-Length: 3'], 'abc')
  const broken = requestText('POST /failures/broken')
  await connection.send(allowed() + unauthorized + requestText('GET /nowhere') + broken + allowed())
  const statuses = []
  for (let i = 0; i < 5; i++) statuses.push((await connection.answer())?.status)
  expect(statuses).toEqual([200, 401, 404, 500, 200])
})

test('a request with two different credentials is refused', async () => {
  connection = await RawConnection.open(edge.port)
  const body = allowedBody()
  const lines = ['Authorization: Bearer nobody', `Authorization: ${AUTHORIZED.authorization}`]
  await connection.send(requestText('POST /allowed', [...lines, `Content-Length: ${body.length}`], body))
  expect((await connection.answer())?.status).toBe(400)
})

test('HEAD is answered as GET is, without a body, and the connection lives on', async () => {
  connection = await RawConnection.open(edge.port)
  const authorization = `Authorization: ${AUTHORIZED.authorization}`
  for (const [path, status, type] of [
    ['/healthy', 200, 'application/json'],
    ['/metrics', 200, 'text/plain'],
    ['/v2/things/one', 200, 'application/json'],
    ['/v2/things?page=none', 422, 'application/json'],
    ['/large/2000000', 200, 'application/json'],
    ['/nowhere', 404, 'application/json'],
    ['/access/v1/evaluation', 405, 'text/plain; charset=utf-8'],
  ] as const) {
    await connection.send(requestText(`HEAD ${path}`, [authorization]) + requestText('GET /healthy'))
    const { status: got, headers } = (await connection.answer({ isToHead: true }))!
    // No length rather than a wrong one: it would have to be that of the answer to GET.
    expect([path, got, headers.get('content-type'), headers.get('content-length')]).toEqual([
      path,
      status,
      type,
      undefined,
    ])
    expect(await connection.answer()).toMatchObject({ status: 200, body: '{"caller":null}' })
  }
})

test('HEAD with a body beyond the ceiling is answered and ended', async () => {
  connection = await RawConnection.open(edge.port)
  await connection.send(requestText('HEAD /healthy', ['Content-Length: 999999999']))
  expect((await connection.answer({ isToHead: true }))?.status).toBe(413)
  await connection.closed
})

test('who asks for the end of the connection is told of it, once, and it ends', async () => {
  const body = allowedBody()
  const authorization = `Authorization: ${AUTHORIZED.authorization}`
  for (const [line, status, text] of [
    ['GET /healthy', 200, ''],
    ['POST /allowed', 200, body],
    ['POST /allowed', 401, body],
    ['GET /nowhere', 404, ''],
    ['GET /large/2000000', 200, ''],
    ['HEAD /healthy', 200, ''],
    ['HEAD /large/2000000', 200, ''],
  ] as const) {
    connection = await RawConnection.open(edge.port)
    const asked = text === '' ? 'close' : 'Close'
    const headers = [`Connection: ${asked}`, ...(status === 401 ? [] : [authorization])]
    if (text !== '') headers.push(`Content-Length: ${text.length}`)
    await connection.send(requestText(line, headers, text))
    const answer = await connection.answer({ isToHead: line.startsWith('HEAD') })
    expect([line, answer?.status, answer?.headers.get('connection')]).toEqual([line, status, 'close'])
    expect(answer?.headerNames.filter(name => name === 'connection')).toEqual(['connection'])
    await connection.closed
  }
})

test('a client that keeps connections does not send on one that it asked to end', async () => {
  const agent = new Agent({ keepAlive: true })
  const status = () =>
    new Promise((resolve, reject) => {
      const asked = request(`${edge.origin}/healthy`, { agent, headers: { connection: 'close' } }, answer => {
        answer.resume().once('end', () => resolve(answer.statusCode))
      })
      asked.once('error', reject).end()
    })
  const statuses = []
  for (let times = 0; times < 20; times++) statuses.push(await status())
  expect(statuses).toEqual(Array.from({ length: 20 }, () => 200))
  agent.destroy()
})

test('methods are told apart by case, and unknown ones are refused', async () => {
  connection = await RawConnection.open(edge.port)
  for (const method of ['get', 'Get', 'FROB', 'TRACE']) {
    await connection.send(requestText(`${method} /healthy`))
    expect((await connection.answer())?.status).toBe(405)
  }
})

test('a caller may wait for permission to send its body', async () => {
  connection = await RawConnection.open(edge.port)
  const body = allowedBody()
  const headers = [`Authorization: ${AUTHORIZED.authorization}`, `Content-Length: ${body.length}`]
  await connection.send(requestText('POST /allowed', [...headers, 'Expect: 100-continue']))
  expect((await connection.answer())?.status).toBe(100)
  await connection.send(body)
  expect((await connection.answer())?.status).toBe(200)
})

test('raw bytes in a path that are no UTF-8 name nothing', async () => {
  connection = await RawConnection.open(edge.port)
  const headers = [`Authorization: ${AUTHORIZED.authorization}`]
  await connection.send(requestText('GET /v2/things/\xff', headers))
  expect((await connection.answer())?.status).toBe(422)
  await connection.send(requestText('GET /v2/things/\xc3\xbc', headers))
  expect(JSON.parse((await connection.answer())!.body)).toEqual({ thing: 'ü' })
})

test('a caller who leaves before a promised answer harms nobody', async () => {
  connection = await RawConnection.open(edge.port)
  await connection.send(requestText('GET /latch'))
  await edge.latch.entered
  connection.destroy()
  await connection.closed
  // The server learns of it no later than of a request that is sent now.
  await fetch(`${edge.origin}/healthy`)
  edge.faults.length = 0
  edge.latch.release()
  await fetch(`${edge.origin}/healthy`)
  expect(edge.faults).toEqual([])
})

test('a long answer arrives whole, however slowly it is read', async () => {
  connection = await RawConnection.open(edge.port)
  connection.pause()
  await connection.send(requestText('GET /large/4000000'))
  // The server answers others meanwhile: what it could not send waits for the reader.
  expect((await fetch(`${edge.origin}/healthy`)).status).toBe(200)
  connection.resume()
  const answer = await connection.answer()
  expect(answer?.body === `"${'ü'.repeat(4_000_000)}"`).toBe(true)
  await connection.send(requestText('GET /healthy'))
  expect((await connection.answer())?.status).toBe(200)
})

test('what is no HTTP is refused by the library and ended', async () => {
  connection = await RawConnection.open(edge.port)
  await connection.send('\x16\x03\x01 hello\r\n\r\n')
  await connection.closed
})
