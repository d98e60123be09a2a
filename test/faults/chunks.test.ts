/** What HAProxy, with the file that is shipped, makes of bodies in chunks before a node sees them: it writes them anew. */
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { API_KEY, Client, question, startedService } from '#testing/processes/running-service.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'
import { startBalancer } from './support/balancer.ts'
import { NameServer } from './support/name-server.ts'

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'
const LAST_CHUNK = '0\r\n\r\n'
/** The last chunk, and trailers, if there are any. */
const IS_WHOLE = /\r\n0\r\n(?:[^\r\n]+\r\n)*\r\n$/

/** A node that keeps every byte of requests but those that ask whether it is ready, behind the balancer. */
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
    /** What the node has got since it was asked last. */
    taken: () => Buffer.concat(received.splice(0)).toString('latin1'),
  }
}

const head = requestText('POST /allowed', ['Transfer-Encoding: chunked'])

test('whatever one caller puts behind its chunks, another one gets the answers to its own questions', async () => {
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

test('a size that is none is refused, and the node gets no request whose body ends', async () => {
  const { port, taken } = await recordingNode()
  for (const byte of [':', ';', '<', '=', '>', '?', '@']) {
    for (const size of [byte, `0${byte}0`, `${byte}5`, `1${byte}1`]) {
      // Behind a digit this one begins an extension.
      if (byte === ';' && size.startsWith('1')) continue
      if (byte === ';' && size.startsWith('0')) continue
      const connection = await RawConnection.open(port)
      await connection.send(`${head}${size}\r\n${'x'.repeat(64)}\r\n${LAST_CHUNK}`)
      expect([size, (await connection.answer())?.status]).toEqual([size, 400])
      await connection.closed
      expect(taken()).not.toContain('xx')
    }
  }
})
