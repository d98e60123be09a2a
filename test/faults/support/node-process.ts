/** A node in a separate process with its own data directory, which can be killed and started again. */
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

  /** Starts the process for the current test without waiting until it serves. */
  constructor(name: string, { storeUrl, settings = {} }: NodeOptions) {
    this.name = name
    this.#directory = storeDirectory()
    this.#env = { API_KEY, STORE_URL: storeUrl, HTTP_THREADS: '1', LOG_LEVEL: 'info', ...settings }
    this.#process = this.#spawn()
    onTestFinished(async () => void (await this.#process.end('SIGKILL')))
  }

  /** Starts a node for the current test. Resolves when it serves. */
  static async start(name: string, options: NodeOptions): Promise<NodeProcess> {
    const node = new NodeProcess(name, options)
    await node.serving()
    return node
  }

  /** Name of the process, which differs after each start. */
  get incarnation(): string {
    return `${this.name}#${this.#starts}`
  }

  /** Log since the last start. */
  get log(): string {
    return this.#process.stderr
  }

  /** Waits for a log line, which can follow the corresponding response. */
  logMatch(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#process.logMatch(pattern)
  }

  /** Null while the node does not serve. */
  get client(): Client | null {
    return this.#client
  }

  async serving(): Promise<Client> {
    const address = await this.#process.address()
    this.#client = Client.at(address)
    return this.#client
  }

  freeze(): void {
    process.kill(this.#process.pid, 'SIGSTOP')
  }

  thaw(): void {
    process.kill(this.#process.pid, 'SIGCONT')
  }

  async kill(): Promise<void> {
    this.#client = null
    await this.#process.end('SIGKILL')
  }

  /** Stops the process with SIGTERM. Resolves with the exit code. */
  async stop(): Promise<number | null> {
    this.#client = null
    return this.#process.end('SIGTERM')
  }

  /** Starts the node again on its data directory. Resolves when it serves. */
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
