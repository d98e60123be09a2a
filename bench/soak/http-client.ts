/** Requests over a few kept connections. One that breaks is an error of its request, and the next one opens another. */
import { Agent, request } from 'node:http'

export interface Response {
  readonly status: number
  readonly body: unknown
}

/** A request that gets no answer for so long is given up on. */
const TIMEOUT_MS = 10_000

export class HttpClient {
  readonly #host = '127.0.0.1'
  readonly #port: number
  readonly #key: string
  readonly #agent: Agent

  constructor(port: number, key: string, connections: number) {
    this.#port = port
    this.#key = key
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  /** Rejects when there is no whole answer. */
  send(method: string, path: string, body?: unknown): Promise<Response> {
    const text = body === undefined ? '' : JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${this.#key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }
    const options = { host: this.#host, port: this.#port, agent: this.#agent, method, path, headers }
    return new Promise((resolve, reject) => {
      const sent = request({ ...options, timeout: TIMEOUT_MS }, response => {
        let told = ''
        response.setEncoding('utf8').on('data', (piece: string) => (told += piece))
        response.on('error', reject)
        response.on('end', () => {
          if (!response.complete) reject(new Error('an answer was cut off'))
          else resolve({ status: response.statusCode!, body: told === '' ? undefined : JSON.parse(told) })
        })
      })
      sent.on('timeout', () => sent.destroy(new Error('no answer in time')))
      sent.on('error', reject)
      sent.end(text)
    })
  }

  /** Ends every connection as it is, with what is on its way. */
  cut(): void {
    for (const sockets of Object.values(this.#agent.sockets))
      for (const socket of sockets ?? []) socket.destroy()
  }

  close(): void {
    this.#agent.destroy()
  }
}
