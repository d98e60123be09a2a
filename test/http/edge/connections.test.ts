/** Connections: keep-alive, pipelining, HEAD, closing, and invalid use. */
import { Agent, request } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { allowedBody, AUTHORIZATION, AUTHORIZED, postText, sharedEdge } from './edge-server.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const edge = await sharedEdge()
let connection: RawConnection
afterEach(async () => {
  connection.destroy()
  expect((await fetch(`${edge.origin}/healthy`)).status).toBe(200)
})

const ALLOWED = postText('/allowed', allowedBody(), [`aUtHoRiZaTiOn: ${AUTHORIZED.authorization}`])

test('pipelined requests are answered in order', async () => {
  connection = await RawConnection.open(edge.port)
  const unauthorized = requestText('POST /allowed', ['Content-Length: 3'], 'abc')
  const broken = requestText('POST /failures/broken')
  await connection.send(ALLOWED + unauthorized + requestText('GET /nowhere') + broken + ALLOWED)
  const statuses = []
  for (let i = 0; i < 5; i++) statuses.push((await connection.answer())?.status)
  expect(statuses).toEqual([200, 401, 404, 500, 200])
})

test('a request with two different credentials is rejected', async () => {
  connection = await RawConnection.open(edge.port)
  await connection.send(postText('/allowed', allowedBody(), ['Authorization: Bearer unknown', AUTHORIZATION]))
  expect((await connection.answer())?.status).toBe(400)
})

test('HEAD has the response of GET without a body, and the connection stays open', async () => {
  connection = await RawConnection.open(edge.port)
  for (const [path, status, type] of [
    ['/healthy', 200, 'application/json'],
    ['/metrics', 200, 'text/plain'],
    ['/v2/things/one', 200, 'application/json'],
    ['/v2/things?page=none', 422, 'application/json'],
    ['/large/2000000', 200, 'application/json'],
    ['/nowhere', 404, 'application/json'],
    ['/access/v1/evaluation', 405, 'text/plain; charset=utf-8'],
  ] as const) {
    await connection.send(requestText(`HEAD ${path}`, [AUTHORIZATION]) + requestText('GET /healthy'))
    const { status: got, headers } = (await connection.answer({ isToHead: true }))!
    expect([path, got, headers.get('content-type')]).toEqual([path, status, type])
    // The length would have to be that of the response to GET, so it is omitted.
    expect(headers.get('content-length')).toBeUndefined()
    expect(await connection.answer()).toMatchObject({ status: 200, body: '{"caller":null}' })
  }
})

test('HEAD with a body over the limit gets 413, and the connection is closed', async () => {
  connection = await RawConnection.open(edge.port)
  await connection.send(requestText('HEAD /healthy', ['Content-Length: 999999999']))
  expect((await connection.answer({ isToHead: true }))?.status).toBe(413)
  await connection.closed
})

test('a request with `Connection: close` gets that header once, and the connection is closed', async () => {
  const body = allowedBody()
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
    const value = text === '' ? 'close' : 'Close'
    const headers = [`Connection: ${value}`, ...(status === 401 ? [] : [AUTHORIZATION])]
    if (text !== '') headers.push(`Content-Length: ${text.length}`)
    await connection.send(requestText(line, headers, text))
    const answer = await connection.answer({ isToHead: line.startsWith('HEAD') })
    expect([line, answer?.status, answer?.headers.get('connection')]).toEqual([line, status, 'close'])
    expect(answer?.headerNames.filter(name => name === 'connection')).toEqual(['connection'])
    await connection.closed
  }
})

test('a keep-alive client does not reuse a connection after `Connection: close`', async () => {
  const agent = new Agent({ keepAlive: true })
  const status = () =>
    new Promise((resolve, reject) => {
      const sent = request(`${edge.origin}/healthy`, { agent, headers: { connection: 'close' } }, answer => {
        answer.resume().once('end', () => resolve(answer.statusCode))
      })
      sent.once('error', reject).end()
    })
  const statuses = []
  for (let times = 0; times < 20; times++) statuses.push(await status())
  expect(statuses).toEqual(Array.from({ length: 20 }, () => 200))
  agent.destroy()
})

test('methods are case-sensitive, and unknown methods are rejected with 405', async () => {
  connection = await RawConnection.open(edge.port)
  for (const method of ['get', 'Get', 'FROB', 'TRACE']) {
    expect((await connection.ask(requestText(`${method} /healthy`)))?.status).toBe(405)
  }
})

test('a client that sends `Expect: 100-continue` gets 100 before it sends its body', async () => {
  connection = await RawConnection.open(edge.port)
  const body = allowedBody()
  const headers = [AUTHORIZATION, `Content-Length: ${body.length}`]
  await connection.send(requestText('POST /allowed', [...headers, 'Expect: 100-continue']))
  expect((await connection.answer())?.status).toBe(100)
  expect((await connection.ask(body))?.status).toBe(200)
})

test('a path with invalid UTF-8 is rejected with 422', async () => {
  connection = await RawConnection.open(edge.port)
  expect((await connection.ask(requestText('GET /v2/things/\xff', [AUTHORIZATION])))?.status).toBe(422)
  await connection.send(requestText('GET /v2/things/\xc3\xbc', [AUTHORIZATION]))
  expect(JSON.parse((await connection.answer())!.body)).toEqual({ thing: 'ü' })
})

test('a client that disconnects before an asynchronous response causes no fault', async () => {
  connection = await RawConnection.open(edge.port)
  await connection.send(requestText('GET /latch'))
  await edge.latch.entered
  connection.destroy()
  await connection.closed
  // The server detects the disconnect before it reads this request.
  await fetch(`${edge.origin}/healthy`)
  edge.faults.length = 0
  edge.latch.release()
  await fetch(`${edge.origin}/healthy`)
  expect(edge.faults).toEqual([])
})

test('a long response to a slow reader is complete and does not block other requests', async () => {
  connection = await RawConnection.open(edge.port)
  connection.pause()
  await connection.send(requestText('GET /large/4000000'))
  expect((await fetch(`${edge.origin}/healthy`)).status).toBe(200)
  connection.resume()
  const answer = await connection.answer()
  expect(answer?.body === `"${'ü'.repeat(4_000_000)}"`).toBe(true)
  expect((await connection.ask(requestText('GET /healthy')))?.status).toBe(200)
})

test('the HTTP library closes a connection that sends other bytes than HTTP', async () => {
  connection = await RawConnection.open(edge.port)
  await connection.send('\x16\x03\x01 hello\r\n\r\n')
  await connection.closed
})
