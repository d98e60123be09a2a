/**
 * Catalog of operational errors. Clients distinguish errors by `code`, never by the message.
 * `http/routing/problem.ts` maps codes to HTTP statuses. A denied check is a value, not an error.
 */
import type { AccessLevel } from './principal.ts'

export type ErrorCode =
  // Errors of the caller.
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  // Errors of the request.
  | 'UNKNOWN_PATH'
  | 'METHOD_NOT_ALLOWED'
  | 'BODY_TOO_LARGE'
  | 'MALFORMED_REQUEST'
  | 'INVALID_SHAPE'
  | 'INVALID_PERMISSION_FORMAT'
  | 'LIMIT_EXCEEDED'
  | 'RATE_LIMITED'
  | 'REQUEST_TIMEOUT'
  // Errors of the model.
  | 'NOT_FOUND'
  | 'DUPLICATE_ENTITY'
  | 'STILL_NEEDED'
  | 'PRECONDITION_FAILED'
  | 'INVALID_INPUT'
  | 'MISMATCH_RESOURCE_INSTANCES_TENANTS'
  | 'MISMATCH_RELATION_TYPE'
  // Errors of a plan (filter.md, section 6).
  | 'UNKNOWN_RELATION'
  | 'FILTER_NOT_EXPRESSIBLE'
  | 'FILTER_TOO_LARGE'
  | 'FILTER_TOO_COSTLY'
  // Errors of the service.
  | 'NOT_READY'
  | 'STALE'
  | 'ENVIRONMENT_CLOSED'
  | 'OVERLOADED'
  | 'INTERNAL'
  // Errors of the store.
  | 'REVISION_CONFLICT'
  | 'REVISION_TOO_OLD'
  | 'STORE_RESET'
  | 'STORE_CLOSED'
  | 'STORE_LOCKED'
  // The outcome is not known: the commit might have been made.
  | 'STORE_UNAVAILABLE'
  // The outcome is known: nothing was changed.
  | 'STORE_REFUSED'
  | 'STORE_DAMAGED'

/** An error in the shape of a request (native.md B.1, status 422). */
export interface ErrorDetail {
  /** Location of the error: `body`, `query` or `path`, followed by the path within it. */
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type: string
}

/** Limits for which the service counts how often requests exceed them. */
export const LIMIT_NAMES = [
  'body',
  'receive-time',
  'connections',
  'rate',
  'queue',
  'share',
  'waiting',
  'pool',
  'content',
  'batch',
  'list',
  'plan',
  'page',
  'attributes',
  'depth',
  'removals',
  'streams',
  'key-streams',
  'effective-streams',
] as const
export type LimitName = (typeof LIMIT_NAMES)[number]

export interface ErrorOptions {
  readonly cause?: unknown
  /** The limit that was reached, if any. */
  readonly limit?: LimitName
  /** Errors in the shape of the request. Management responses return them as `detail`. */
  readonly detail?: readonly ErrorDetail[]
  /**
   * True if the thread that knows the cause has already logged this defect. Other code that handles the error
   * must not log it again.
   */
  readonly isReported?: boolean
  /**
   * Message for the caller, if the message of the error code is not specific enough for an internal failure.
   * It must not reveal hosts, paths or store keys.
   */
  readonly publicMessage?: string
  /** Current tag of the entity, if a precondition failed. Null if the entity does not exist. */
  readonly tag?: string | null
  /** Set if the level of the key is too low. */
  readonly levels?: LevelGap
  /** Reasons why a plan is not possible. Responses to plans return them as `detail`. */
  readonly planDetail?: readonly PlanDetail[]
}

/** A reason why a plan is not possible (filter.md, section 6). */
export type PlanDetail = Readonly<Record<string, unknown>>

/** The level that a request requires, and the level of its key. */
export interface LevelGap {
  readonly required: AccessLevel
  readonly held: AccessLevel
}

/** An operational error. The message states what was expected, what was received, and what to do. */
export class AuthzError extends Error {
  override readonly name = 'AuthzError'
  readonly code: ErrorCode
  readonly detail: readonly ErrorDetail[]
  readonly limit: LimitName | null
  readonly #isReported: boolean
  readonly #publicMessage: string | null
  readonly #tag: string | null
  readonly #levels: LevelGap | null
  readonly #planDetail: readonly PlanDetail[]

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.detail = options.detail ?? []
    this.limit = options.limit ?? null
    this.#isReported = options.isReported ?? false
    this.#publicMessage = options.publicMessage ?? null
    this.#tag = options.tag ?? null
    this.#levels = options.levels ?? null
    this.#planDetail = options.planDetail ?? []
  }

  /** This is a getter, because log lines contain own properties, and this one should not be logged. */
  get isReported(): boolean {
    return this.#isReported
  }

  /** Null means that the message of the error code is used. */
  get publicMessage(): string | null {
    return this.#publicMessage
  }

  /** Null if the entity has no tag or does not exist. */
  get tag(): string | null {
    return this.#tag
  }

  /** Null unless the level of the key is too low. */
  get levels(): LevelGap | null {
    return this.#levels
  }

  /** Empty unless a plan is not possible. */
  get planDetail(): readonly PlanDetail[] {
    return this.#planDetail
  }
}

/** Thrown if a commit conflicts with another writer: the row at `key` does not meet its precondition. */
export class ConflictError extends AuthzError {
  readonly key: Uint8Array

  constructor(key: Uint8Array) {
    super('REVISION_CONFLICT', 'a concurrent change conflicts with this one; try again')
    this.key = key
  }
}

/**
 * Returns the error for a known state that belongs to a history which the store does not have any more,
 * because the store was restored, rewound or reinitialized.
 */
export function historyReplaced(): AuthzError {
  return new AuthzError('STORE_RESET', 'the history of the store was replaced; load all rows again')
}

/** An operational error as plain data, for messages between threads. */
export interface ErrorData {
  readonly code: ErrorCode
  readonly message: string
  readonly detail: readonly ErrorDetail[]
  /** The thread that sends the response counts the limit. */
  readonly limit?: LimitName
  readonly isReported?: boolean
  readonly publicMessage?: string
  readonly tag?: string
  readonly levels?: LevelGap
  readonly planDetail?: readonly PlanDetail[]
}

/**
 * Converts an error to data. If the error is not an `AuthzError`, the data has the code `INTERNAL` and does
 * not contain the message.
 */
export function errorToData(error: unknown): ErrorData {
  if (error instanceof AuthzError) {
    const { code, message, detail, limit, isReported, publicMessage, tag, levels, planDetail } = error
    return {
      code,
      message,
      detail,
      ...(limit && { limit }),
      ...(isReported && { isReported }),
      ...(publicMessage !== null && { publicMessage }),
      ...(tag !== null && { tag }),
      ...(levels && { levels }),
      ...(planDetail.length > 0 && { planDetail }),
    }
  }
  return { code: 'INTERNAL', message: 'the service failed to answer this request', detail: [] }
}

export function errorFromData(data: ErrorData): AuthzError {
  const { code, message, ...options } = data
  return new AuthzError(code, message, options)
}

/** Returns whether an error is a defect that has not been logged yet. */
export function isUnreportedFault(error: unknown): boolean {
  return !(error instanceof AuthzError) || (error.code === 'INTERNAL' && !error.isReported)
}
