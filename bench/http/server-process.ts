/**
 * A server under test. It runs in a separate process, on fixed cores. The load generator runs on another
 * core.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Core for servers that share one core. The load generator uses the other core. */
export const SERVER_CORE = '0'

export interface ServerOptions {
  /** Flags for Node.js, in addition to the flags of all servers. */
  readonly flags?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Cores on which the server runs, in the format of `taskset`. */
  readonly cores?: string
}

export class ServerProcess {
  readonly #child: ChildProcess
  readonly address: string

  private constructor(child: ChildProcess, address: string) {
    this.#child = child
    this.address = address
  }

  /** Starts a script and waits for the line with its address. Throws if the process ends before that line. */
  static async start(script: URL, options: ServerOptions = {}): Promise<ServerProcess> {
    const { args = [], env = {}, cores = SERVER_CORE } = options
    const flags = [
      '--disable-warning=ExperimentalWarning',
      '--max-old-space-size=8000',
      ...(options.flags ?? []),
    ]
    const command = [process.execPath, ...flags, fileURLToPath(script), ...args]
    const child = spawn('taskset', ['-c', cores, ...command], {
      // `start.js` sets the same value.
      env: { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1', ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const line of createInterface(child.stdout)) {
      const address = /http:\/\/\S+/.exec(line)?.[0]
      if (address !== undefined) return new ServerProcess(child, address)
    }
    throw new Error(`${script.pathname} ended before it said its address`)
  }

  /** Moves all threads of the process to these cores. */
  pin(cores: string): void {
    execFileSync('taskset', ['-acp', cores, String(this.#child.pid)], { stdio: 'ignore' })
  }

  /** Number of bytes that the process has written to disks. */
  diskBytes(): number {
    const io = readFileSync(`/proc/${this.#child.pid}/io`, 'utf8')
    return Number(/^write_bytes: (\d+)/m.exec(io)![1])
  }

  /** Processor time in seconds that all threads of the process have used. */
  cpuSeconds(): number {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8')
    // The fields after the name, which is skipped because it can contain any character. They include the user
    // and system time in hundredths of a second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  }

  /**
   * Stops the process and waits until it has ended. Resolves immediately if the process has already ended. In
   * that case, the pending request has already failed.
   */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
  }
}
