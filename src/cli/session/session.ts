/** Session of a command: the service, the selected environment, and the output. */
import { Type } from 'typebox'
import { fileName, secretText } from '#config/secret-text.ts'
import { ApiKeyScope } from '#model/wire/organization/api-key.ts'
import { ask, request } from './api.ts'
import { EXIT, type ExitCode, UsageError } from './exit-codes.ts'
import { HttpApi } from './http-api.ts'
import { Output, type OutputForm, type OutputStream } from './output.ts'

export interface Streams {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: OutputStream
  readonly stderr: OutputStream
}

/** Options that every command has. */
export interface CommonOptions {
  readonly url?: string | undefined
  readonly key?: string | undefined
  readonly project?: string | undefined
  readonly env?: string | undefined
  readonly output?: string | undefined
  readonly actor?: string | undefined
  readonly 'actor-for'?: string | undefined
}

/** Scope of the key. Services of older releases do not return its level. */
const KeyPlace = Type.Omit(ApiKeyScope, ['access_level'])
/** Name of the environment variable that contains the API key. */
const KEY = 'VERDICT_KEY'
const ADDRESS_DEFAULT = 'http://127.0.0.1:7766'
/** Matches printable ASCII characters, including blanks. */
const KEY_TEXT = /^[ -~]*$/

export class Session {
  readonly streams: Streams
  readonly output: Output
  readonly #options: CommonOptions
  exitCode: ExitCode = EXIT.yes
  #api: HttpApi | null = null

  static async open(streams: Streams, options: CommonOptions): Promise<Session> {
    const { output: option } = options
    const form =
      option === undefined
        ? formOf('VERDICT_OUTPUT', streams.env['VERDICT_OUTPUT'] ?? 'auto')
        : formOf('--output', option)
    return new Session(streams, options, await Output.open(streams, form))
  }

  private constructor(streams: Streams, options: CommonOptions, output: Output) {
    this.streams = streams
    this.#options = options
    this.output = output
  }

  get hasKey(): boolean {
    const { env } = this.streams
    return [this.#options.key, env[KEY], env[fileName(KEY)]].some(place => place !== undefined)
  }

  /** Client for the service. Options or environment variables specify the service. */
  get api(): HttpApi {
    this.#api ??= this.#open()
    return this.#api
  }

  #open(): HttpApi {
    const address = this.#options.url ?? this.streams.env['VERDICT_URL'] ?? ADDRESS_DEFAULT
    if (!/^https?:$/.test(URL.parse(address)?.protocol ?? ''))
      throw new UsageError(`--url: ${JSON.stringify(address)} is not an http or https URL`)
    // `trim` removes the line break at the end of a key that was read from a file.
    const key = (this.#options.key ?? this.#keyOfEnvironment())?.trim() ?? null
    if (key !== null && !KEY_TEXT.test(key))
      throw new UsageError('--key: not a valid API key: it contains characters that no key has')
    return new HttpApi(address, key, this.#claim())
  }

  /**
   * Returns the headers that name the actor (administration.md N9). In `--actor-for`, a comma separates two
   * names.
   */
  #claim(): Readonly<Record<string, string>> {
    const { actor = this.streams.env['VERDICT_ACTOR'], 'actor-for': actorsFor } = this.#options
    if (actor) {
      const names = actorsFor?.split(',').map(name => encodeURIComponent(name.trim()))
      return { 'x-actor': encodeURIComponent(actor), ...(names && { 'x-actor-for': names.join(', ') }) }
    }
    if (actorsFor === undefined) return {}
    throw new UsageError('--actor-for: also set --actor or VERDICT_ACTOR')
  }

  #keyOfEnvironment(): string | undefined {
    try {
      return secretText(KEY, this.streams.env)
    } catch (error) {
      throw new UsageError(`${KEY}: ${(error as Error).message}`)
    }
  }

  /**
   * Returns the client for decisions. The service makes a decision in the environment of the key. Throws
   * `ApiError` if the options select another environment, because the decision would not apply to it.
   */
  async decisions(): Promise<HttpApi> {
    const { project, env } = this.#options
    if (project !== undefined || env !== undefined) {
      await request(this.api, 'GET', `/v2/facts/${await this.place()}/tenants?per_page=1`)
    }
    return this.api
  }

  /**
   * Returns the project and environment for paths. The options select them. Without the options, they are
   * those of the key. If the key is not limited to one environment, the options are required, because
   * commands that replace or remove data must not guess. Throws `UsageError` if a required option is missing.
   */
  async place(): Promise<string> {
    const { project, env } = this.#options
    const scope =
      project === undefined || env === undefined
        ? await ask(this.api, KeyPlace, 'GET', '/v2/api-key/scope')
        : { project_id: null, environment_id: null }
    const named = [project ?? scope.project_id, env ?? scope.environment_id]
    if (named.includes(null)) {
      const missing = named[0] === null ? '--project and --env' : '--env'
      throw new UsageError(`this key covers several environments: select one with ${missing}`)
    }
    return named.map(name => encodeURIComponent(name!)).join('/')
  }

  /**
   * Returns the key or ID of the project. An option selects the project. Without this option, it is the
   * project of the key. Throws `UsageError` if the key is not limited to one project.
   */
  async project(): Promise<string> {
    const named =
      this.#options.project ?? (await ask(this.api, KeyPlace, 'GET', '/v2/api-key/scope')).project_id
    if (named === null) throw new UsageError('this key covers several projects: select one with --project')
    return named
  }

  /** Returns the path of the environment below `/v2/projects/`. */
  async environmentPath(): Promise<string> {
    return (await this.place()).replace('/', '/envs/')
  }
}

/** `source`: name of the option or environment variable that contains the text. */
function formOf(source: string, text: string): OutputForm {
  if (text === 'auto' || text === 'table' || text === 'json') return text
  throw new UsageError(`${source}: expected auto, table or json, got ${JSON.stringify(text)}`)
}
