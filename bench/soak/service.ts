/**
 * The service under the soak test. It runs on one core, and is killed and restarted on the same data. Each
 * start uses another free port. If a client connects to a port on which no process listens, the kernel can
 * choose the same port as the client's own port, so that the client connects to itself.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const START = new URL('../../src/start.js', import.meta.url)
const SERVER_CORE = '0'
/** Number of ticks per second in `/proc`. */
const TICKS_PER_SECOND = 100

export class SoakedService {
  readonly #env: Readonly<Record<string, string>>
  #child: ChildProcess | null = null
  port = 0
  /** Number of times that the service was started. */
  starts = 0

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env
  }

  /** Starts the service. Resolves when it accepts requests. */
  async start(): Promise<void> {
    this.starts += 1
    const args = [
      '-c',
      SERVER_CORE,
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      START.pathname,
    ]
    const child = spawn('taskset', args, {
      env: { ...process.env, ...this.#env, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#child = child
    for await (const line of createInterface(child.stdout!)) {
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1]
      if (port === undefined) continue
      this.port = Number(port)
      child.stdout!.resume()
      return
    }
    throw new Error('the service ended before it said its address')
  }

  /** Sends the signal. Resolves with the exit code when the process has ended. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const child = this.#child
    if (!child) return null
    this.#child = null
    const exited = once(child, 'exit')
    child.kill(signal)
    const [code] = (await exited) as [number | null]
    return code
  }

  get isRunning(): boolean {
    return this.#child !== null
  }

  /** Anonymous memory in MiB, without mapped files. */
  memoryMiB(): number | null {
    const status = this.#proc('status')
    const kibibytes = ['RssAnon', 'RssShmem'].map(name =>
      Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0),
    )
    return status === '' ? null : kibibytes.reduce((sum, value) => sum + value, 0) / 1_024
  }

  /** Processor time in seconds. */
  cpuSeconds(): number {
    const fields = this.#proc('stat').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND
  }

  #proc(file: string): string {
    try {
      return readFileSync(`/proc/${this.#child?.pid}/${file}`, 'utf8')
    } catch {
      return ''
    }
  }
}
