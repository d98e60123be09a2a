/**
 * The catalog of operational errors. Clients branch on `code`, never on the message.
 * `http/routing/problem.ts` maps codes to HTTP statuses. A denied check is a value, not an error.
 */
export type ErrorCode =
  // The caller.
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  // The request.
  | 'UNKNOWN_PATH'
  | 'METHOD_NOT_ALLOWED'
  | 'BODY_TOO_LARGE'
  | 'MALFORMED_REQUEST'
  | 'INVALID_SHAPE'
  | 'INVALID_PERMISSION_FORMAT'
  | 'LIMIT_EXCEEDED'
  | 'RATE_LIMITED'
  | 'REQUEST_TIMEOUT'
  // The model.
  | 'NOT_FOUND'
  | 'DUPLICATE_ENTITY'
  | 'STILL_NEEDED'
  | 'PRECONDITION_FAILED'
  | 'INVALID_INPUT'
  | 'MISMATCH_RESOURCE_INSTANCES_TENANTS'
  | 'MISMATCH_RELATION_TYPE'
  // The service.
  | 'NOT_READY'
  | 'STALE'
  | 'ENVIRONMENT_CLOSED'
  | 'OVERLOADED'
  | 'INTERNAL'
  // The store.
  | 'REVISION_CONFLICT'
  | 'REVISION_TOO_OLD'
  | 'STORE_RESET'
  | 'STORE_CLOSED'
  | 'STORE_LOCKED'
  // The outcome is unknown: the commit may have been made.
  | 'STORE_UNAVAILABLE'
  // The outcome is known: nothing was changed.
  | 'STORE_REFUSED'
  | 'STORE_DAMAGED'

/** One finding about the shape of a request (native.md B.1, status 422). */
export interface ErrorDetail {
  /** Location: `body`, `query` or `path`, then the path within it. */
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type: string
}

/** The limits whose violations are counted. */
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
  /** Findings of a shape error; management responses return them as `detail`. */
  readonly detail?: readonly ErrorDetail[]
  /**
   * True if the thread that knows the cause has already logged this defect. Later handlers must not log it
   * again.
   */
  readonly isReported?: boolean
  /**
   * Message for the caller if the error code of an internal failure is not specific enough. Must not reveal
   * hosts, paths or store keys.
   */
  readonly publicMessage?: string
  /** The current tag of the entity if a precondition failed; null if the entity does not exist. */
  readonly tag?: string | null
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

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.detail = options.detail ?? []
    this.limit = options.limit ?? null
    this.#isReported = options.isReported ?? false
    this.#publicMessage = options.publicMessage ?? null
    this.#tag = options.tag ?? null
  }

  /** A getter and not an own property, because log lines list own properties. */
  get isReported(): boolean {
    return this.#isReported
  }

  /** Null: use the message of the code. */
  get publicMessage(): string | null {
    return this.#publicMessage
  }

  /** Null if the entity has no tag or does not exist. */
  get tag(): string | null {
    return this.#tag
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
 * The known state belongs to a history that the store no longer has: it was restored, rewound or
 * reinitialized.
 */
export function historyReplaced(): AuthzError {
  return new AuthzError('STORE_RESET', 'the history of the store was replaced; load all rows again')
}

/** An operational error as plain data, for messages between threads. */
export interface ErrorData {
  readonly code: ErrorCode
  readonly message: string
  readonly detail: readonly ErrorDetail[]
  /** Counted by the thread that sends the response. */
  readonly limit?: LimitName
  readonly isReported?: boolean
  readonly publicMessage?: string
  readonly tag?: string
}

/**
 * Converts an error to data. An error that is not an `AuthzError` becomes `INTERNAL`, without its message.
 */
export function errorToData(error: unknown): ErrorData {
  if (error instanceof AuthzError) {
    const { code, message, detail, limit, isReported, publicMessage, tag } = error
    return {
      code,
      message,
      detail,
      ...(limit && { limit }),
      ...(isReported && { isReported }),
      ...(publicMessage !== null && { publicMessage }),
      ...(tag !== null && { tag }),
    }
  }
  return { code: 'INTERNAL', message: 'the service failed to answer this request', detail: [] }
}

export function errorFromData(data: ErrorData): AuthzError {
  const { code, message, ...options } = data
  return new AuthzError(code, message, options)
}

/** Whether an error is a defect that has not been logged yet. */
export function isUnreportedFault(error: unknown): boolean {
  return !(error instanceof AuthzError) || (error.code === 'INTERNAL' && !error.isReported)
}
