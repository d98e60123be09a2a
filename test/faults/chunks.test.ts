/** Chunked bodies that HAProxy, with the shipped configuration, decodes and encodes again. */
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { API_KEY, Client, question, startedService } from '#testing/processes/running-service.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'
import { startBalancer } from './support/balancer.ts'
import { NameServer } from './support/name-server.ts'

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'
const LAST_CHUNK = '0\r\n\r\n'
/** Matches a body whose last chunk has arrived, with optional trailers. */
const IS_WHOLE = /\r\n0\r\n(?:[^\r\n]+\r\n)*\r\n$/

/** A node behind the balancer that records every byte of requests, except for readiness checks. */
async function recordingNode() {
  const received: Buffer[] = []
  const node = createServer(socket => {
    socket.on('error', () => {})
    socket.on('data', bytes => {
      const isCheck = bytes.includes('GET /ready')
      if (!isCheck) received.push(bytes)
      if (isCheck || IS_WHOLE.test(Buffer.concat(received).toString('latin1'))) socket.write(ANSWER)
    })
  })
  node.listen(0, '127.0.0.1')
  await once(node, 'listening')
  const names = await NameServer.start()
  names.addresses.add('127.0.0.1')
  onTestFinished(() => {
    names.close()
    node.close()
  })
  const { port } = node.address() as AddressInfo
  const balancer = await startBalancer({ nodes: `verdict:${port}`, nameServer: names.place })
  return {
    port: Number(new URL(balancer.address).port),
    /** Bytes that the node has received since the last call. */
    taken: () => Buffer.concat(received.splice(0)).toString('latin1'),
  }
}

const head = requestText('POST /allowed', ['Transfer-Encoding: chunked'])

test('bytes after a chunked body never change the responses to another client', async () => {
  const service = await startedService()
  const names = await NameServer.start()
  onTestFinished(() => names.close())
  names.addresses.add('127.0.0.1')
  const balancer = await startBalancer({ nodes: `verdict:${service.port}`, nameServer: names.place })
  const attack = async (trailer: string) => {
    const connection = await RawConnection.open(Number(new URL(balancer.address).port))
    const body = JSON.stringify(question('alice', 'read', 'document'))
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n${trailer}\r\n\r\n`
    const headers = ['Transfer-Encoding: chunked', `Authorization: Bearer ${API_KEY}`]
    await connection.send(requestText('POST /allowed', headers, chunks))
    await connection.answer()
    connection.destroy()
  }
  const victim = Client.at(balancer.address)
  for (let round = 0; round < 30; round += 1) {
    const attacks = ['xxGET: /healthy HTTP/1.1', 'xxGET: /metrics HTTP/1.1', 'x: y'].map(attack)
    for (let asked = 0; asked < 5; asked += 1) {
      const { status, body } = await victim.get('/v2/api-key/scope')
      expect([status, body]).toEqual([200, expect.objectContaining({ environment_id: expect.any(String) })])
    }
    await Promise.all(attacks)
  }
})

test('an invalid chunk size is rejected, and the node never receives a complete request', async () => {
  const { port, taken } = await recordingNode()
  for (const byte of [':', ';', '<', '=', '>', '?', '@']) {
    for (const size of [byte, `0${byte}0`, `${byte}5`, `1${byte}1`]) {
      // After a digit, a semicolon begins a chunk extension, and the size is valid.
      if (byte === ';' && /^[01]/.test(size)) continue
      const connection = await RawConnection.open(port)
      await connection.send(`${head}${size}\r\n${'x'.repeat(64)}\r\n${LAST_CHUNK}`)
      expect([size, (await connection.answer())?.status]).toEqual([size, 400])
      await connection.closed
      expect(taken()).not.toContain('xx')
    }
  }
})
