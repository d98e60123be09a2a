/** Lifecycle of the HTTP server: free and shared ports, draining, and closing. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { reservePort } from '#http/edge/reserve-port.ts'
import { freePort } from '#testing/processes/free-port.ts'
import { allowedBody, startEdge } from './edge-server.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const HOST = '127.0.0.1'

test('a free port is found, and a requested free port is accepted', async () => {
  expect(await reservePort({ host: HOST, port: 0 })).toBeGreaterThan(0)
  const port = await freePort()
  expect(await reservePort({ host: HOST, port })).toBe(port)
})

test('a port on which another server listens is rejected with its address', async () => {
  const other = createServer().listen(0, HOST)
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  await expect(reservePort({ host: HOST, port })).rejects.toThrow(`${HOST}:${port} is already in use`)
  other.close()
})

test('a port that another Verdict server shares is rejected', async () => {
  const { server, port } = await startEdge()
  await expect(reservePort({ host: HOST, port })).rejects.toThrow('is already in use')
  await server.close()
  expect(await reservePort({ host: HOST, port })).toBe(port)
})

test('an address of another host is rejected', async () => {
  await expect(reservePort({ host: '192.0.2.1', port: 0 })).rejects.toThrow('192.0.2.1:0 cannot be used')
  const { server } = await startEdge()
  await server.close()
})

test('a server on hold accepts requests and answers them only when it closes', async () => {
  const { server, port, origin } = await startEdge()
  server.hold()
  const sent = ['GET /healthy', 'DELETE /nothing', 'POST /allowed'].map(async line => {
    const connection = await RawConnection.open(port)
    const body = line.startsWith('POST') ? allowedBody() : ''
    const headers = [
      'Authorization: Bearer of-the-environment',
      ...(body === '' ? [] : [`Content-Length: ${body.length}`]),
    ]
    await connection.send(requestText(line, headers, body))
    return connection
  })
  const connections = await Promise.all(sent)
  // No request is answered before the server accepts this later connection.
  const latest = await RawConnection.open(port)
  const answers = connections.map(connection => connection.answer())
  expect(await Promise.race([...answers, server.stopListening().then(() => 'none')])).toBe('none')
  await expect(fetch(`${origin}/healthy`)).rejects.toThrow()
  const closing = server.close()
  const received = await Promise.all(answers)
  expect(received.map(answer => answer?.status)).toEqual([200, 404, 401])
  expect(received.map(answer => answer?.headers.get('connection'))).toEqual(['close', 'close', 'close'])
  await closing
  await latest.closed
})

test('a connection opened before the port was closed is served, even if its request arrives later', async () => {
  const { server, port } = await startEdge()
  server.hold()
  const connection = await RawConnection.open(port)
  await server.stopListening()
  const closing = server.close()
  expect((await connection.ask(requestText('GET /healthy')))?.status).toBe(200)
  await closing
})

test('closing completes in-flight requests, accepts no new requests, and closes idle connections', async () => {
  const { server, port, origin, latch } = await startEdge()
  const idle = await RawConnection.open(port)
  expect((await idle.ask(requestText('GET /healthy')))?.status).toBe(200)
  const waiting = await RawConnection.open(port)
  await waiting.send(requestText('GET /latch'))
  await latch.entered
  const closing = server.close()
  await expect(fetch(`${origin}/healthy`)).rejects.toThrow()
  latch.release()
  const { status, body, headers } = (await waiting.answer())!
  expect([status, body, headers.get('connection')]).toEqual([200, '"passed"', 'close'])
  await closing
  await Promise.all([idle.closed, waiting.closed])
})

test('closing waits until a client has read a long response', async () => {
  const { server, port, origin } = await startEdge()
  const connection = await RawConnection.open(port)
  connection.pause()
  // Larger than the buffers of the kernel, so that most of it is not sent yet.
  await connection.send(requestText('GET /large/8000000'))
  // The server processes requests in order. After this response, it has started the long one.
  await fetch(`${origin}/healthy`)
  const closing = server.close()
  connection.resume()
  expect((await connection.answer())?.body.length).toBe(8_000_002)
  await closing
})

test('closing waits at most until its time limit', async () => {
  const { server, port, latch } = await startEdge()
  const connection = await RawConnection.open(port)
  await connection.send(requestText('GET /latch'))
  await latch.entered
  await server.close({ withinMs: 1 })
  await connection.closed
  expect(await connection.answer()).toBeNull()
  // The handler completes, but its client is disconnected.
  latch.release()
})

test('a defect can close the server immediately, and its response is still sent', async () => {
  const edge = await startEdge()
  const connection = await RawConnection.open(edge.port)
  edge.faults.push = () => {
    void edge.server.close()
    return 0
  }
  expect((await connection.ask(requestText('POST /failures/invariant')))?.status).toBe(500)
  await connection.closed
  await edge.server.close()
})

test('a server can be closed twice', async () => {
  const { server } = await startEdge()
  await Promise.all([server.close(), server.close()])
})
