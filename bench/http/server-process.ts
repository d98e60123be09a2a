/**
 * A server under test, in a separate process and pinned to cores; the load generator runs on another core.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Core of servers that share one core; the load generator has the other. */
export const SERVER_CORE = '0'
export const CLIENT_CORE = '1'

export interface ServerOptions {
  /** Flags of Node, in addition to those of all servers. */
  readonly flags?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Cores in the format of `taskset`. */
  readonly cores?: string
}

export class ServerProcess {
  readonly #child: ChildProcess
  readonly address: string

  private constructor(child: ChildProcess, address: string) {
    this.#child = child
    this.address = address
  }

  /** Starts the script and waits for the line with its address. Throws if it ends before that. */
  static async start(script: URL, options: ServerOptions = {}): Promise<ServerProcess> {
    const { args = [], env = {}, cores = SERVER_CORE } = options
    const flags = [
      '--disable-warning=ExperimentalWarning',
      '--max-old-space-size=8000',
      ...(options.flags ?? []),
    ]
    const command = [process.execPath, ...flags, fileURLToPath(script), ...args]
    const child = spawn('taskset', ['-c', cores, ...command], {
      // The same setting as in `start.js`.
      env: { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1', ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const line of createInterface(child.stdout)) {
      const address = /http:\/\/\S+/.exec(line)?.[0]
      if (address !== undefined) return new ServerProcess(child, address)
    }
    throw new Error(`${script.pathname} ended before it said its address`)
  }

  /** Moves all threads of the process. */
  pin(cores: string): void {
    execFileSync('taskset', ['-acp', cores, String(this.#child.pid)], { stdio: 'ignore' })
  }

  /** Bytes that the process has written to disks so far. */
  diskBytes(): number {
    const io = readFileSync(`/proc/${this.#child.pid}/io`, 'utf8')
    return Number(/^write_bytes: (\d+)/m.exec(io)![1])
  }

  /** Processor time in seconds of all threads so far. */
  cpuSeconds(): number {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8')
    // The fields after the name, which can contain any character: user and system time in hundredths of a
    // second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  }

  /**
   * Resolves when the process has ended; immediately if it had already ended, in which case the pending
   * request has reported that.
   */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
  }
}
