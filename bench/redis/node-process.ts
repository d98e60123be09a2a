/** One of several nodes on the same Redis. It runs as in production and has its own data directory. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const API_KEY = 'bench-key-bench-key'
export const ADMIN_KEY = 'bench-key-of-the-organization'
const START = fileURLToPath(new URL('../../src/start.js', import.meta.url))

export interface Answer {
  readonly status: number
  readonly revision: string | null
  readonly body: unknown
}

export interface CallOptions {
  /** API key of the request. By default, it is the key in the environment variables of the node. */
  readonly key?: string
  readonly minRevision?: string
}

export class NodeProcess {
  readonly #child: ChildProcess
  readonly #address: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })
  /** Parsed lines of the log of the process. */
  readonly log: readonly Record<string, unknown>[]

  /** Resolves when the node is ready. */
  static async start(options: {
    readonly storeUrl: string
    readonly directory: string
  }): Promise<NodeProcess> {
    const env = {
      API_KEY,
      ADMIN_API_KEY: ADMIN_KEY,
      PORT: '0',
      STORE_URL: options.storeUrl,
      DATA_DIR: options.directory,
    }
    const args = ['--disable-warning=ExperimentalWarning', START]
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env } })
    const log: Record<string, unknown>[] = []
    createInterface(child.stderr).on('line', line => log.push(JSON.parse(line) as Record<string, unknown>))
    for await (const line of createInterface(child.stdout)) {
      const address = /http:\/\/\S+/.exec(line)?.[0]
      if (address !== undefined) return new NodeProcess(child, address, log)
    }
    throw new Error(`the node ended before it was ready: ${JSON.stringify(log.at(-1))}`)
  }

  private constructor(child: ChildProcess, address: string, log: readonly Record<string, unknown>[]) {
    this.#child = child
    this.#address = address
    this.log = log
  }

  call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body)
      const headers = {
        authorization: `Bearer ${options.key ?? API_KEY}`,
        'content-type': 'application/json',
        // The length is set explicitly, because Node.js omits this header for a DELETE.
        'content-length': Buffer.byteLength(text),
        ...(options.minRevision !== undefined && { 'x-min-revision': options.minRevision }),
      }
      const call = request(`${this.#address}${path}`, { method, headers, agent: this.#agent }, response => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('end', () => {
          const said = Buffer.concat(pieces).toString()
          const revision = (response.headers['x-revision'] as string | undefined) ?? null
          resolve({
            status: response.statusCode!,
            revision,
            body: said === '' ? undefined : JSON.parse(said),
          })
        })
      })
      call.on('error', reject)
      call.end(text)
    })
  }

  /** Sends a request like `call`, but throws if the request fails. */
  async done(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const answer = await this.call(method, path, body, options)
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer
  }

  /**
   * Memory of the process in bytes: current anonymous memory, current memory of mapped files, and the peak of
   * both together.
   */
  memory(): { readonly anonymous: number; readonly mapped: number; readonly peak: number } {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    const bytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)![1]) * 1_024
    return { anonymous: bytes('RssAnon') + bytes('RssShmem'), mapped: bytes('RssFile'), peak: bytes('VmHWM') }
  }

  /** Suspends the process until `thaw`, as if its machine were suspended. */
  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  stop(): Promise<void> {
    return this.#end('SIGTERM')
  }

  /** Kills the process, which then cannot clean up. */
  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill(signal)
    this.#agent.destroy()
    await ended
  }
}
