/** Runs the service as an operator does: as a separate process with outputs, signals and an exit code. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { entry } from '#composition/process/built-form.ts'
import { settings } from '#config/settings.ts'
import { freePort } from './free-port.ts'

const SOURCES = fileURLToPath(new URL('../../src/start.js', import.meta.url))
/** Entry point: the built form if it is up to date with the sources, and otherwise the source file. */
const BUILT = fileURLToPath(entry('start', 'src/start.js'))
/** Part of the path of each source module, as it occurs in a script that is given as a URL. */
const SOURCES_IN_OPTIONS = encodeURIComponent('/src/')
/** Free ports, more than any test file needs. */
const ports = await Promise.all(Array.from({ length: 40 }, freePort))

export interface ProcessOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Command that starts the service. The default is the command of `npm start`, with this Node.js. */
  readonly command?: readonly [string, ...string[]]
}

export class ServiceProcess {
  readonly #child: ChildProcess
  readonly #apiKey: string | undefined
  #address: Promise<string> | null = null
  readonly exited: Promise<number | null>
  stdout = ''
  stderr = ''

  constructor({ cwd, env = {}, command }: ProcessOptions) {
    this.#apiKey = env['API_KEY']
    // A single thread can choose a port itself. Several threads share a port, so it must be known in advance.
    const port = env['HTTP_THREADS'] === '1' ? 0 : (ports.pop() ?? 0)
    const own = { PORT: String(port), STOP_DELAY_MS: '0' }
    // Some tests inject faults into source modules. They cannot use the built form.
    const isBroken = env['NODE_OPTIONS']?.includes(SOURCES_IN_OPTIONS) ?? false
    const form = isBroken ? { VERDICT_FORM: 'sources' } : {}
    const start = [
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      isBroken ? SOURCES : BUILT,
    ] as const
    const [file, ...args] = command ?? start
    this.#child = spawn(file, args, { cwd, env: { ...baseEnv(), ...ALONE, ...own, ...form, ...env } })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.exited = once(this.#child, 'close').then(([code]) => code as number | null)
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Waits until the service logs its address. If the process ends first, rejects with its outputs. */
  address(): Promise<string> {
    this.#address ??= this.stdoutMatch(/listens on (http:\S+)\n/).then(([, address]) => address!)
    return this.#address
  }

  /** Sends a request with the `API_KEY` and returns the parsed JSON. Throws if the request fails. */
  async call<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body> {
    const headers = { authorization: `Bearer ${this.#apiKey}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await fetch(`${await this.address()}${path}`, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as Body
  }

  /** Waits until standard output matches. */
  stdoutMatch(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#match('stdout', pattern)
  }

  /** Waits until the log matches. */
  logMatch(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#match('stderr', pattern)
  }

  async #match(output: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this[output])
      if (match) return match
      const next = await Promise.race([once(this.#child[output]!, 'data'), this.exited.then(() => null)])
      if (next === null && !pattern.test(this[output])) {
        throw new Error(`the service ended without printing ${pattern}:\n${this.stdout}\n${this.stderr}`)
      }
    }
  }

  /** Sends the signal and waits for the process to end. Returns the exit code. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal)
    return this.exited
  }
}

/** The tests begin many stores, and need not wait for other nodes of a Redis that lost its data. */
const ALONE = { NEW_STORE_WAIT_MS: '0' }

/** Returns the environment variables of this process, without those that configure the service. */
function baseEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !Object.hasOwn(settings, name)))
}
