/** A name server for a single name, like that of a container engine. It returns the current addresses. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

const HEADER_BYTES = 12
/** Authoritative response to a standard query, with the recursion bits set. */
const FLAGS = 0x8580
const TYPE_A = 1
const TTL_SECONDS = 1

export class NameServer {
  readonly addresses = new Set<string>()
  readonly #socket: Socket

  static async start(): Promise<NameServer> {
    const socket = createSocket('udp4')
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    return new NameServer(socket)
  }

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('message', (query, from) => socket.send(this.#answer(query), from.port, from.address))
  }

  /** Host and port. */
  get place(): string {
    return `127.0.0.1:${(this.#socket.address() as AddressInfo).port}`
  }

  close(): void {
    this.#socket.close()
  }

  #answer(query: Buffer): Buffer {
    const nameEnd = query.indexOf(0, HEADER_BYTES) + 1
    const question = query.subarray(HEADER_BYTES, nameEnd + 4)
    const found = query.readUInt16BE(nameEnd) === TYPE_A ? [...this.addresses] : []
    const header = Buffer.alloc(HEADER_BYTES)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(FLAGS, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(found.length, 6)
    return Buffer.concat([header, question, ...found.map(recordOf)])
  }
}

/** A record for the name in the question, which follows the header. */
function recordOf(address: string): Buffer {
  const record = Buffer.alloc(16)
  record.writeUInt16BE(0xc000 | HEADER_BYTES, 0)
  record.writeUInt16BE(TYPE_A, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt32BE(TTL_SECONDS, 6)
  record.writeUInt16BE(4, 10)
  record.set(address.split('.').map(Number), 12)
  return record
}
