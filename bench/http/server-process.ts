/** A server under test, in a process of its own, pinned to core 0; the load generator runs on core 1. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const SERVER_CORE = '0'

export class ServerProcess {
  readonly #child: ChildProcess
  readonly address: string

  private constructor(child: ChildProcess, address: string) {
    this.#child = child
    this.address = address
  }

  /** Starts the script and waits for the line in which it says its address. Throws when it ends before that. */
  static async start(script: URL, env: Readonly<Record<string, string>>): Promise<ServerProcess> {
    const args = [
      '-c',
      SERVER_CORE,
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      script.pathname,
    ]
    const child = spawn('taskset', args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const line of createInterface(child.stdout)) {
      const address = /http:\/\/\S+/.exec(line)?.[0]
      if (address !== undefined) return new ServerProcess(child, address)
    }
    throw new Error(`${script.pathname} ended before it said its address`)
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
  }
}
