/**
 * A connection as the store uses it: it sends commands, runs scripts, and tells apart two kinds of failure. Either Redis
 * said no: then nothing was done. Or there was no answer: then nobody knows, and the sender decides whether to ask again.
 */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { AuthzError } from '#model/errors.ts'
import { NextConnection, type RedisClient } from './redis-client.ts'
import { pauseMs } from './retry-pause.ts'

export type Argument = string | number | Uint8Array
/** A reply: texts as `Buffer`s. */
export type Reply = Buffer | number | null | readonly Reply[]

/** No answer came, since the connection failed or there was none. Or the server said that it cannot answer just now. */
export class UnansweredError extends AuthzError {
  /** Whether the command may have reached the server. */
  readonly wasSent: boolean

  constructor(wasSent: boolean, cause: unknown) {
    super('STORE_UNAVAILABLE', 'the store cannot be reached', { cause })
    this.wasSent = wasSent
  }
}

/** A Lua script: a public function of ours that Redis runs. Its file says what it takes and returns. */
export class Script {
  readonly text: string
  readonly sha: string

  /** The script is the texts of these files, in order. */
  constructor(...urls: readonly URL[]) {
    this.text = urls.map(url => readFileSync(url, 'utf8')).join('')
    this.sha = hash('sha1', this.text, 'hex')
  }
}

/** How soon a connected server is asked again, and how soon after it has refused often. */
const AGAIN_MS = 50
const AGAIN_MS_MAX = 1_000
/** Replies of a server that cannot answer just now and has done nothing. */
const NOT_NOW = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|NOREPLICAS|MISCONF) /

export class RedisLink {
  readonly #client: RedisClient
  readonly #nextConnection: NextConnection
  #isGivenUp = false

  constructor(client: RedisClient) {
    this.#client = client
    this.#nextConnection = new NextConnection(client)
  }

  /** Throws `UnansweredError`, or `STORE_REFUSED` with what Redis said. */
  async send(command: string, ...args: readonly Argument[]): Promise<Reply> {
    if (this.#client.status !== 'ready') throw new UnansweredError(false, undefined)
    try {
      return (await this.#client.callBuffer(command, ...(args as (string | Buffer)[]))) as Reply
    } catch (error) {
      throw failure(error)
    }
  }

  /** Runs a script. Sends its text again when the server has forgotten it. Throws as `send`. */
  async run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Reply> {
    try {
      return await this.send('EVALSHA', script.sha, keys.length, ...keys, ...args)
    } catch (error) {
      if (!isForgotten(error)) throw error
      // `EVAL` brings the text along and makes the server keep it, so there is no moment at which it could be forgotten in
      // between.
      return this.send('EVAL', script.text, keys.length, ...keys, ...args)
    }
  }

  get isReady(): boolean {
    return this.#client.status === 'ready'
  }

  /**
   * Resolves when it is worth asking again: when there is a connection, never at once, and at the latest after `withinMs`.
   * `attempt` is how often in a row it has been asked before.
   */
  async recovered(withinMs: number, attempt = 0): Promise<void> {
    // The server is connected and said "not now".
    const againMs = this.isReady ? pauseMs(attempt, AGAIN_MS, AGAIN_MS_MAX) : withinMs
    await this.#nextConnection.made(Math.min(withinMs, againMs))
  }

  /** Calls `listener` whenever a connection has been made. */
  onReady(listener: () => void): void {
    this.#client.on('ready', listener)
  }

  /** Whether the link was given up, so that asking again is of no use. */
  get isGivenUp(): boolean {
    return this.#isGivenUp
  }

  /** Ends the connection for good. Pending commands fail at once. */
  giveUp(): void {
    this.#isGivenUp = true
    this.close()
  }

  /** Ends the connection. Pending commands fail. */
  close(): void {
    this.#client.disconnect()
  }
}

/** Whether the error is a reply of Redis itself. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError'
}

/** An error of the client as an error of the store. */
export function failure(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if (!isReply(error)) return new UnansweredError(true, error)
  if (NOT_NOW.test(error.message)) return new UnansweredError(false, error)
  return new AuthzError('STORE_REFUSED', `the store refused: ${error.message}`, { cause: error })
}

function isForgotten(error: unknown): boolean {
  const cause = error instanceof AuthzError ? error.cause : null
  return cause instanceof Error && cause.message.startsWith('NOSCRIPT')
}
