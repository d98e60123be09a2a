/** HTTP client that keeps its connections. Counts the bytes of a body; parses it only on request. */
import { Agent, request } from 'node:http'
import { connect } from 'node:net'

export interface Answered {
  readonly status: number
  readonly text: string
}

/** Time after which an idle connection is closed. The service would close it after 10 seconds. */
const IDLE_MS = 5_000

export class HostileClient {
  readonly #address: URL
  readonly #key: string
  readonly #agent: Agent

  constructor(address: string, key: string, connections = 64) {
    this.#address = new URL(address)
    this.#key = key
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, timeout: IDLE_MS })
  }

  /** Sends a request. Rejects if there is no response. */
  send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answered> {
    const text = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const sent = request(
        this.#address,
        {
          method,
          path,
          agent: this.#agent,
          signal,
          headers: {
            authorization: `Bearer ${this.#key}`,
            ...(text !== undefined && {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(text),
            }),
          },
        },
        answer => {
          const pieces: Buffer[] = []
          answer.on('data', (piece: Buffer) => pieces.push(piece))
          answer.on('error', reject)
          answer.on('end', () => {
            resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(pieces).toString() })
          })
        },
      )
      sent.on('error', reject)
      sent.end(text)
    })
  }

  /** Sends a request and returns the response body. Throws if the request fails. */
  async done<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const { status, text } = await this.send(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`)
    return (text === '' ? undefined : JSON.parse(text)) as Body
  }

  /** Sends a request `count` times on a new connection without waiting. Resolves to the response count. */
  pipelined(path: string, text: string, count: number): Promise<number> {
    const { hostname, port } = this.#address
    const head =
      `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${this.#key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`
    const socket = connect(Number(port), hostname, () => socket.write((head + text).repeat(count)))
    let answers = 0
    socket.on('data', (piece: Buffer) => {
      answers += piece.toString('latin1').split('HTTP/1.1').length - 1
      if (answers >= count) socket.end()
    })
    // Ignores the error of a reset, which also closes the connection.
    socket.on('error', () => {})
    return new Promise(resolve => socket.on('close', () => resolve(answers)))
  }

  close(): void {
    this.#agent.destroy()
  }
}
