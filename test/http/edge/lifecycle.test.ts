/** From listening to the last answer: free ports, shared ports, draining. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { reservePort } from '#http/edge/reserve-port.ts'
import { freePort } from '#testing/processes/free-port.ts'
import { allowedBody, startEdge } from './edge-server.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const HOST = '127.0.0.1'

test('a free port is found, or confirmed', async () => {
  expect(await reservePort({ host: HOST, port: 0 })).toBeGreaterThan(0)
  const port = await freePort()
  expect(await reservePort({ host: HOST, port })).toBe(port)
})

test('a port that another server listens on is refused with its address', async () => {
  const other = createServer().listen(0, HOST)
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  await expect(reservePort({ host: HOST, port })).rejects.toThrow(`${HOST}:${port} is already in use`)
  other.close()
})

test('a port that a server of ours shares is refused too', async () => {
  const { server, port } = await startEdge()
  await expect(reservePort({ host: HOST, port })).rejects.toThrow('is already in use')
  await server.close()
  expect(await reservePort({ host: HOST, port })).toBe(port)
})

test('an address that is not ours is refused', async () => {
  await expect(reservePort({ host: '192.0.2.1', port: 0 })).rejects.toThrow('192.0.2.1:0 cannot be used')
  const { server } = await startEdge()
  await server.close()
})

test('a server that holds takes requests, answers none of them before it closes, and then all', async () => {
  const { server, port, origin } = await startEdge()
  server.hold()
  const asked = ['GET /healthy', 'DELETE /nothing', 'POST /allowed'].map(async line => {
    const connection = await RawConnection.open(port)
    const body = line.startsWith('POST') ? allowedBody() : ''
    const headers = [
      'Authorization: Bearer of-the-environment',
      ...(body === '' ? [] : [`Content-Length: ${body.length}`]),
    ]
    await connection.send(requestText(line, headers, body))
    return connection
  })
  const connections = await Promise.all(asked)
  // Nobody is answered, however long it is waited: the next connection is taken behind those.
  const latest = await RawConnection.open(port)
  const answers = connections.map(connection => connection.answer())
  expect(await Promise.race([...answers, server.stopListening().then(() => 'nobody')])).toBe('nobody')
  await expect(fetch(`${origin}/healthy`)).rejects.toThrow()
  const closing = server.close()
  const told = await Promise.all(answers)
  expect(told.map(answer => answer?.status)).toEqual([200, 404, 401])
  expect(told.map(answer => answer?.headers.get('connection'))).toEqual(['close', 'close', 'close'])
  await closing
  await latest.closed
})

test('a connection that was made before the port was closed is served, also if its request comes later', async () => {
  const { server, port } = await startEdge()
  server.hold()
  const connection = await RawConnection.open(port)
  await server.stopListening()
  const closing = server.close()
  await connection.send(requestText('GET /healthy'))
  expect((await connection.answer())?.status).toBe(200)
  await closing
})

test('closing lets a promised answer out, takes nobody new, and ends idle connections', async () => {
  const { server, port, origin, latch } = await startEdge()
  const idle = await RawConnection.open(port)
  await idle.send(requestText('GET /healthy'))
  expect((await idle.answer())?.status).toBe(200)
  const waiting = await RawConnection.open(port)
  await waiting.send(requestText('GET /latch'))
  await latch.entered
  const closing = server.close()
  await expect(fetch(`${origin}/healthy`)).rejects.toThrow()
  latch.release()
  const answer = await waiting.answer()
  expect([answer?.status, answer?.body, answer?.headers.get('connection')]).toEqual([
    200,
    '"passed"',
    'close',
  ])
  await closing
  await Promise.all([idle.closed, waiting.closed])
})

test('closing waits until a long answer was read', async () => {
  const { server, port, origin } = await startEdge()
  const connection = await RawConnection.open(port)
  connection.pause()
  // Far more than the buffers of the kernel take, so that most of it still has to be sent.
  await connection.send(requestText('GET /large/8000000'))
  // The server takes requests in the order they come: once it answers this one, it is at work on that one.
  await fetch(`${origin}/healthy`)
  const closing = server.close()
  connection.resume()
  expect((await connection.answer())?.body.length).toBe(8_000_002)
  await closing
})

test('closing waits no longer than it was told to', async () => {
  const { server, port, latch } = await startEdge()
  const connection = await RawConnection.open(port)
  await connection.send(requestText('GET /latch'))
  await latch.entered
  await server.close({ withinMs: 1 })
  await connection.closed
  expect(await connection.answer()).toBeNull()
  // The handler finishes after all; nobody is there to answer to.
  latch.release()
})

test('a defect may close the server on the spot, and its own answer still goes out', async () => {
  const edge = await startEdge()
  const connection = await RawConnection.open(edge.port)
  edge.faults.push = () => {
    void edge.server.close()
    return 0
  }
  await connection.send(requestText('POST /failures/invariant'))
  expect((await connection.answer())?.status).toBe(500)
  await connection.closed
  await edge.server.close()
})

test('closing twice, and closing what never listened, is fine', async () => {
  const { server } = await startEdge()
  await Promise.all([server.close(), server.close()])
})
