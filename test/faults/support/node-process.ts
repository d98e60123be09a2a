/**
 * A node as its operator runs it: a process of its own with a data directory of its own, which can be killed and
 * started again.
 */
import { onTestFinished } from 'vitest'
import { API_KEY, Client, storeDirectory } from '#testing/processes/running-service.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'

export interface NodeOptions {
  readonly storeUrl: string
  readonly settings?: Readonly<Record<string, string>>
}

export class NodeProcess {
  readonly name: string
  readonly #directory: string
  readonly #env: Readonly<Record<string, string>>
  #process: ServiceProcess
  #client: Client | null = null
  #starts = 1

  /** For the present test; resolves when the process runs, not yet when it serves. */
  constructor(name: string, { storeUrl, settings = {} }: NodeOptions) {
    this.name = name
    this.#directory = storeDirectory()
    this.#env = { API_KEY, STORE_URL: storeUrl, HTTP_THREADS: '1', LOG_LEVEL: 'info', ...settings }
    this.#process = this.#spawn()
    onTestFinished(async () => void (await this.#process.end('SIGKILL')))
  }

  /** For the present test; resolves when it serves. */
  static async start(name: string, options: NodeOptions): Promise<NodeProcess> {
    const node = new NodeProcess(name, options)
    await node.serving()
    return node
  }

  /** Another one after each start. */
  get incarnation(): string {
    return `${this.name}#${this.#starts}`
  }

  /** What it has logged since it was started last. */
  get log(): string {
    return this.#process.stderr
  }

  /** Waits until that is in its log: a line may come after the answer that shows the same. */
  logMatch(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#process.logMatch(pattern)
  }

  get pid(): number {
    return this.#process.pid
  }

  /** Null while it does not serve. */
  get client(): Client | null {
    return this.#client
  }

  async serving(): Promise<Client> {
    const address = await this.#process.address()
    this.#client = Client.at(address)
    return this.#client
  }

  /** Stops it in its tracks, and has it go on as if nothing had been. */
  freeze(): void {
    process.kill(this.pid, 'SIGSTOP')
  }

  thaw(): void {
    process.kill(this.pid, 'SIGCONT')
  }

  async kill(): Promise<void> {
    this.#client = null
    await this.#process.end('SIGKILL')
  }

  /** As its operator stops it; resolves with the exit code. */
  async stop(): Promise<number | null> {
    this.#client = null
    return this.#process.end('SIGTERM')
  }

  /** On the data directory it had. Resolves when it serves. */
  async startAgain(): Promise<Client> {
    this.#starts += 1
    this.#process = this.#spawn()
    return this.serving()
  }

  #spawn(): ServiceProcess {
    return new ServiceProcess({ cwd: this.#directory, env: this.#env })
  }
}

export async function isReady(client: Client): Promise<boolean> {
  return (await client.get('/ready')).status === 200
}
