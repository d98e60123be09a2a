/**
 * A server of another product. It runs in a separate process and receives JSON over HTTP on the loopback
 * interface.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'

/**
 * Cores on which the server runs. They include the core of the caller, which is idle while it waits for a
 * response. The same applies to this service.
 */
export const CORES = '0,1'
const TRIES_MAX = 100
const TRY_EVERY_MS = 100

export class PeerServer {
  readonly #child: ChildProcess
  readonly client: JsonClient

  private constructor(child: ChildProcess, client: JsonClient) {
    this.#child = child
    this.client = client
  }

  /**
   * Starts a command that listens on `port`, and waits until the server is healthy. Throws if this takes
   * longer than ten seconds.
   */
  static async start(
    command: readonly string[],
    port: number,
    healthPath: string,
    options: { readonly headers?: Readonly<Record<string, string>>; readonly cores?: string } = {},
  ): Promise<PeerServer> {
    const { headers = {}, cores = CORES } = options
    const child = spawn('taskset', ['-c', cores, ...command], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const address = `http://127.0.0.1:${port}`
    const server = new PeerServer(child, new JsonClient(address, headers))
    for (let tries = 0; tries < TRIES_MAX && child.exitCode === null; tries++) {
      const isUp = await fetch(`${address}${healthPath}`).then(
        ({ ok }) => ok,
        () => false,
      )
      if (isUp) return server
      await new Promise(resolve => setTimeout(resolve, TRY_EVERY_MS))
    }
    await server.stop()
    throw new Error(`${command.join(' ')} did not start`)
  }

  async stop(): Promise<void> {
    this.client.close()
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
  }
}

/** Client that sends one request after the other on a single connection. */
export class JsonClient {
  readonly #agent = new Agent({ keepAlive: true })
  readonly address: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(address: string, headers: Readonly<Record<string, string>>) {
    this.address = address
    this.#headers = headers
  }

  /**
   * Sends a request and returns the body of the response. Throws if the response is an error or when the
   * signal aborts.
   */
  post(path: string, body: object, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const headers = { ...this.#headers, 'content-type': 'application/json' }
      const options = { method: 'POST', agent: this.#agent, headers, ...(signal && { signal }) }
      const sent = request(new URL(path, this.address), options, response => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(pieces).toString()
          const status = response.statusCode!
          if (status >= 200 && status < 300) resolve(JSON.parse(text))
          else reject(new Error(`${path} answered ${status}: ${text.slice(0, 200)}`))
        })
      })
      sent.on('error', reject)
      sent.end(JSON.stringify(body))
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
