/**
 * HTTP client that keeps a few connections open. If a connection breaks, its request fails, and the next
 * request opens a new connection.
 */
import { Agent, request } from 'node:http'

export interface Response {
  readonly status: number
  readonly body: unknown
}

/** Time in milliseconds after which a request without a response fails. */
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

  /** Sends a request. Rejects if the response is missing or incomplete. */
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

  /** Closes every connection, including those with requests in flight. */
  cut(): void {
    for (const sockets of Object.values(this.#agent.sockets))
      for (const socket of sockets ?? []) socket.destroy()
  }

  close(): void {
    this.#agent.destroy()
  }
}
