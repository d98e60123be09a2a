/**
 * A connection as the store uses it: it sends commands, runs scripts, and distinguishes two kinds of
 * failures. If Redis rejected the command, nothing was done. If there was no response, the outcome is
 * unknown, and the sender decides whether to try again.
 */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { AuthzError } from '#model/errors.ts'
import { NextConnection, type RedisClient } from './redis-client.ts'
import { backoffMs } from './backoff.ts'

export type Argument = string | number | Uint8Array
/** A response; texts are `Buffer`s. */
export type RedisReply = Buffer | number | null | readonly RedisReply[]

/**
 * Error of a command without a usable response. Either the connection failed or did not exist, or the server
 * replied that it cannot process commands at the moment.
 */
export class UnansweredError extends AuthzError {
  /** Whether the command might have reached the server. */
  readonly wasSent: boolean

  constructor(wasSent: boolean, cause: unknown) {
    super('STORE_UNAVAILABLE', 'the store cannot be reached', { cause })
    this.wasSent = wasSent
  }
}

/** A Lua script that Redis runs. Its file documents its arguments and results. */
export class Script {
  readonly text: string
  readonly sha: string

  /** The script is the concatenated text of these files, in order. */
  constructor(...urls: readonly URL[]) {
    this.text = urls.map(url => readFileSync(url, 'utf8')).join('')
    this.sha = hash('sha1', this.text, 'hex')
  }
}

/**
 * Shortest pause before the next attempt on a connected server, and the longest one after repeated
 * rejections.
 */
const AGAIN_MS = 50
const AGAIN_MS_MAX = 1_000
/** Replies of a server that cannot respond at the moment and has done nothing. */
const NOT_NOW = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|NOREPLICAS|MISCONF) /

export class RedisLink {
  readonly #client: RedisClient
  readonly #nextConnection: NextConnection
  #isGivenUp = false

  constructor(client: RedisClient) {
    this.#client = client
    this.#nextConnection = new NextConnection(client)
  }

  /** Sends a command. Throws `UnansweredError`, or `STORE_REFUSED` with the message of Redis. */
  async send(command: string, ...args: readonly Argument[]): Promise<RedisReply> {
    if (this.#client.status !== 'ready') throw new UnansweredError(false, undefined)
    try {
      return (await this.#client.callBuffer(command, ...(args as (string | Buffer)[]))) as RedisReply
    } catch (error) {
      throw failure(error)
    }
  }

  /** Runs a script. Sends its text again if the server no longer has it. Throws like `send`. */
  async run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<RedisReply> {
    try {
      return await this.send('EVALSHA', script.sha, keys.length, ...keys, ...args)
    } catch (error) {
      if (!isForgotten(error)) throw error
      // `EVAL` sends the script text, runs the script and makes the server cache it. If one command loaded
      // the script and another command ran it, the server could lose the script in between.
      return this.send('EVAL', script.text, keys.length, ...keys, ...args)
    }
  }

  get isReady(): boolean {
    return this.#client.status === 'ready'
  }

  /**
   * Waits until another attempt can succeed: until a connection exists, or until `withinMs` is over. Never
   * resolves immediately. `attempt` is the number of consecutive earlier attempts.
   */
  async recovered(withinMs: number, attempt = 0): Promise<void> {
    // If there is a connection, the server replied that it cannot process commands at the moment.
    const againMs = this.isReady ? backoffMs(attempt, AGAIN_MS, AGAIN_MS_MAX) : withinMs
    await this.#nextConnection.made(Math.min(withinMs, againMs))
  }

  /** Calls `listener` whenever a connection has been made. */
  onReady(listener: () => void): void {
    this.#client.on('ready', listener)
  }

  /** Whether the link was given up, so that further attempts are useless. */
  get isGivenUp(): boolean {
    return this.#isGivenUp
  }

  /** Ends the connection permanently. Pending commands fail immediately. */
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

/** Converts an error of the client to an error of the store. */
export function failure(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if (!isReply(error)) return new UnansweredError(true, error)
  if (NOT_NOW.test(error.message)) return new UnansweredError(false, error)
  return new AuthzError('STORE_REFUSED', `the store rejected the command: ${error.message}`, { cause: error })
}

function isForgotten(error: unknown): boolean {
  const cause = error instanceof AuthzError ? error.cause : null
  return cause instanceof Error && cause.message.startsWith('NOSCRIPT')
}
