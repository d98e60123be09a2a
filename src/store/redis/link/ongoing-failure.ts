/**
 * Logs an operation that keeps failing and is retried until it succeeds. A line is logged when the operation
 * begins to fail, when the reason changes, and when the operation succeeds again, but not for each attempt.
 */
import { AuthzError } from '#model/errors.ts'
import type { RedisClient } from './redis-client.ts'
import { failure, isReply, UnansweredError } from './redis-link.ts'
import type { StoreLog } from '#store/store-log.ts'

export interface OngoingFailureOptions {
  readonly log: StoreLog
  /** Fields of the log lines. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly failing: string
  readonly over: string
}

export class OngoingFailure {
  readonly #options: OngoingFailureOptions
  #reason: string | null = null
  #isRefusal = false

  constructor(options: OngoingFailureOptions) {
    this.#options = options
  }

  /** Reason of the failure. Null while the operation does not fail. */
  get reason(): string | null {
    return this.#reason
  }

  /**
   * Whether the server rejected the operation and would reject it again, for example because of a wrong
   * password.
   */
  get isRefusal(): boolean {
    return this.#isRefusal
  }

  noteFailure(error: unknown): void {
    const reason = reasonOf(error)
    this.#isRefusal = isRefusal(error)
    if (reason === this.#reason) return
    this.#reason = reason
    const { log, fields, failing } = this.#options
    log.warn({ ...fields, reason }, failing)
  }

  noteSuccess(): void {
    if (this.#reason === null) return
    this.#reason = null
    this.#isRefusal = false
    const { log, fields, over } = this.#options
    log.info(fields, over)
  }
}

/** Logs why the client has no connection, until it has a connection. */
export function connectionFailure(client: RedisClient, connection: string, log: StoreLog): OngoingFailure {
  const messages = { failing: 'no connection to Redis: retrying', over: 'connected to Redis' }
  const ongoing = new OngoingFailure({ log, fields: { connection }, ...messages })
  client.on('error', (error: Error) => ongoing.noteFailure(error))
  client.on('ready', () => ongoing.noteSuccess())
  return ongoing
}

function isRefusal(error: unknown): boolean {
  const { lastNodeError } = error as { readonly lastNodeError?: unknown }
  if (lastNodeError instanceof Error) return isRefusal(lastNodeError)
  return isReply(error) && !(failure(error) instanceof UnansweredError)
}

/**
 * Returns the reason in the words of the server or client, without parts that might come from the store URL
 * (addresses) or from sent data.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, lastNodeError } = error as { readonly code?: string; readonly lastNodeError?: unknown }
  if (error instanceof AuthzError) return error.cause === undefined ? error.message : reasonOf(error.cause)
  // For a cluster: the reply of its last server.
  if (lastNodeError instanceof Error) return reasonOf(lastNodeError)
  // Messages of Node.js contain the address, so only the error code is used.
  if (code !== undefined) return code
  return error.message
    .replace(/, with args beginning with: .*/s, '')
    .replace(/ Retrying from scratch after [\d.]+ms\./, '')
    .replace(/\b(?:connect|getaddrinfo|read|write) (E[A-Z_]+).*/s, '$1')
}

/** Returns the error of a start without a connection, with the reason of the first missing one. */
export function noConnection(
  connections: readonly { readonly client: RedisClient; readonly failure: OngoingFailure }[],
  withinMs: number,
): AuthzError {
  const missing = connections.filter(({ client }) => client.status !== 'ready')
  const reason = missing.find(({ failure: { reason: known } }) => known !== null)?.failure.reason
  const message = `no connection to the Redis of STORE_URL within ${withinMs} ms`
  return new AuthzError('STORE_UNAVAILABLE', `${message}: ${reason ?? 'no server responds at this address'}`)
}
