/** The service as its operator runs it: a process of its own, its two outputs, its signals and its exit code. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { entry } from '#composition/built-form.ts'
import { settings } from '#config/config.ts'
import { freePort } from './free-port.ts'

const SOURCES = fileURLToPath(new URL('../../src/start.js', import.meta.url))
/** The built one, where that is what the sources say: it need not be looked for by each process. */
const BUILT = fileURLToPath(entry('start', 'src/start.js'))
/** How a module of the sources is named in a script that is given as an URL. */
const SOURCES_IN_OPTIONS = encodeURIComponent('/src/')
/** More than a file of tests starts processes. */
const ports = await Promise.all(Array.from({ length: 40 }, freePort))

export interface ProcessOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Default: what `npm start` runs, with this runtime. */
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
    // One thread finds a port for itself; several share one that has to be known beforehand.
    const port = env['HTTP_THREADS'] === '1' ? 0 : (ports.pop() ?? 0)
    const own = { PORT: String(port), STOP_DELAY_MS: '0' }
    // What a test breaks is a module of the sources.
    const isBroken = env['NODE_OPTIONS']?.includes(SOURCES_IN_OPTIONS) ?? false
    const form = isBroken ? { VERDICT_FORM: 'sources' } : {}
    const start = [
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      isBroken ? SOURCES : BUILT,
    ] as const
    const [file, ...args] = command ?? start
    this.#child = spawn(file, args, { cwd, env: { ...baseEnv(), ...own, ...form, ...env } })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.exited = once(this.#child, 'close').then(([code]) => code as number | null)
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Waits until the service says where it listens; rejects with its outputs when it ends before. */
  address(): Promise<string> {
    this.#address ??= this.stdoutMatch(/listens on (http:\S+)\n/).then(([, address]) => address!)
    return this.#address
  }

  /** A request with the `API_KEY` it was started with. Insists on success; the JSON that came, undefined without a body. */
  async call<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body> {
    const headers = { authorization: `Bearer ${this.#apiKey}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await fetch(`${await this.address()}${path}`, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as Body
  }

  /** Waits for standard output to match. */
  stdoutMatch(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#match('stdout', pattern)
  }

  /** Waits for the log to match. */
  logMatch(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#match('stderr', pattern)
  }

  async #match(output: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this[output])
      if (match) return match
      const next = await Promise.race([once(this.#child[output]!, 'data'), this.exited.then(() => null)])
      if (next === null && !pattern.test(this[output])) {
        throw new Error(`the service ended without saying ${pattern}:\n${this.stdout}\n${this.stderr}`)
      }
    }
  }

  /** Sends the signal and waits for the end. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal)
    return this.exited
  }
}

/** The environment without what would configure the service by accident. */
function baseEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !Object.hasOwn(settings, name)))
}
