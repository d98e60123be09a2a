/**
 * Runs a real Redis as a separate process on a free port, for tests and benches. Its data is in its own
 * directory, so that it can be killed and restarted. By default, it does not persist anything.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** Starting is repeated, because another process can take the free port before Redis binds it. */
const START_ATTEMPTS = 5

export interface RedisUnderTest {
  readonly host: string
  readonly port: number
  /** Returns a store URL with a unique prefix. `at` is another host and port that lead to this server. */
  url(at?: { readonly host: string; readonly port: number }): string
}

export interface RedisOptions {
  /** Additional arguments. They can override the defaults. */
  readonly arguments?: readonly string[] | ((port: number, directory: string) => readonly string[])
  /** Whether to start a sentinel. Its first argument is its configuration file. */
  readonly isSentinel?: boolean
}

/** Starts a server. The caller must stop it. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisProcess> {
  const program = serverProgram()
  for (let attempt = 1; ; attempt += 1) {
    const server = new RedisProcess(program, await freePort(), options)
    if (await server.start()) return server
    await server.stop()
    if (attempt === START_ATTEMPTS) throw new Error(`${program} does not start:\n${server.output}`)
  }
}

export class RedisProcess implements RedisUnderTest {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly directory = mkdtempSync(join(tmpdir(), 'verdict-redis-'))
  /** Output of the process so far. */
  output = ''
  /** Arguments of the process. */
  readonly commandLine: readonly string[]
  readonly #program: string
  #child: ChildProcess | null = null
  #ended: Promise<unknown> = Promise.resolve()
  readonly #killAtExit = () => this.#child?.kill('SIGKILL')

  constructor(program: string, port: number, { arguments: given = [], isSentinel = false }: RedisOptions) {
    this.#program = program
    this.port = port
    const extra = typeof given === 'function' ? given(port, this.directory) : given
    const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', this.directory]
    this.commandLine = isSentinel
      ? [...extra, '--sentinel', ...place]
      : [...place, '--save', '', '--appendonly', 'no', ...extra]
    process.once('exit', this.#killAtExit)
  }

  url(at: { readonly host: string; readonly port: number } = this): string {
    return `redis://${at.host}:${at.port}?prefix=${randomUUID()}`
  }

  /** Starts the server with the same data and port. Resolves to true if it accepts connections. */
  async start(): Promise<boolean> {
    this.output = ''
    const child = spawn(this.#program, this.commandLine)
    this.#child = child
    this.#ended = once(child, 'exit')
    return this.#saysReady(child.stdout)
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#ended
  }

  /** Suspends the process, so that it keeps its connections but does not respond. */
  freeze(): void {
    this.#child?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child?.kill('SIGCONT')
  }

  /** Stops the process and removes its data. */
  async stop(): Promise<void> {
    await this.kill()
    process.off('exit', this.#killAtExit)
    rmSync(this.directory, { recursive: true, force: true })
  }

  #saysReady(stdout: NodeJS.ReadableStream): Promise<boolean> {
    stdout.setEncoding('utf8')
    const ready = new Promise<boolean>(resolve => {
      stdout.on('data', (text: string) => {
        this.output += text
        if (/Ready to accept connections|Sentinel ID is/.test(this.output)) resolve(true)
      })
    })
    return Promise.race([ready, this.#ended.then(() => false)])
  }
}

/** Returns the path of the server program. If it is not installed, the error explains how to install it. */
function serverProgram(): string {
  const found = redisOnPath()
  if (found !== null) return found
  throw new Error(
    'these tests need a real Redis: install the package redis-server (or valkey-server), or set TEST_REDIS_URL',
  )
}

export function redisOnPath(): string | null {
  for (const program of ['redis-server', 'valkey-server']) {
    try {
      execFileSync(program, ['--version'], { stdio: 'ignore' })
      return program
    } catch {
      // Ignored: this candidate is not available.
    }
  }
  return null
}
