/**
 * The catalogue of operating errors. Callers branch on `code`, never on text; the status each code gets on the
 * wire stands in `http/routing/problem.ts` alone. A denied check is a value and never one of these.
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
  // What the request asks of the model.
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
  // Not known: it may have been made.
  | 'STORE_UNAVAILABLE'
  // Known: nothing was made.
  | 'STORE_REFUSED'
  | 'STORE_DAMAGED'

/** One finding about the shape of a request (native.md B.1, status 422). */
export interface ErrorDetail {
  /** Where: `body`, `query` or `path`, then the way down. */
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type: string
}

/** The ceilings whose being reached is counted. */
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
  /** The ceiling that was reached, where one was. */
  readonly limit?: LimitName
  /** What a shape error found where; management answers list it as `detail`. */
  readonly detail?: readonly ErrorDetail[]
  /** A defect that was reported where its reason was known: nobody on the way to the caller does it again. */
  readonly isReported?: boolean
  /** What a caller is told of trouble of ours, where its code alone says too little; nothing of where things are. */
  readonly told?: string
  /** The tag of what is there, where a caller expected something else; null: nothing is there. */
  readonly tag?: string | null
}

/** An operating error: something expected went wrong, and the message says what was expected, what came, what to do. */
export class AuthzError extends Error {
  override readonly name = 'AuthzError'
  readonly code: ErrorCode
  readonly detail: readonly ErrorDetail[]
  readonly limit: LimitName | null
  readonly #isReported: boolean
  readonly #told: string | null
  readonly #tag: string | null

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.detail = options.detail ?? []
    this.limit = options.limit ?? null
    this.#isReported = options.isReported ?? false
    this.#told = options.told ?? null
    this.#tag = options.tag ?? null
  }

  /** No property of its own: the line that reports an error lists those. */
  get isReported(): boolean {
    return this.#isReported
  }

  /** Null: what the code says. */
  get told(): string | null {
    return this.#told
  }

  /** Null: what is there has none, or nothing is. */
  get tag(): string | null {
    return this.#tag
  }
}

/** A commit lost against another writer: the row at `key` is not as required. */
export class ConflictError extends AuthzError {
  readonly key: Uint8Array

  constructor(key: Uint8Array) {
    super('REVISION_CONFLICT', 'another writer changed what this change was based on; try again')
    this.key = key
  }
}

/** What was known of the store is of a history that is not the store's any more: restored, rewound or begun anew. */
export function historyReplaced(): AuthzError {
  return new AuthzError('STORE_RESET', 'the history of the store was replaced; load all rows again')
}

/** An operating error as plain data: what crosses from one thread to another. */
export interface ErrorData {
  readonly code: ErrorCode
  readonly message: string
  readonly detail: readonly ErrorDetail[]
  /** Who answers counts it. */
  readonly limit?: LimitName
  readonly isReported?: boolean
  readonly told?: string
  readonly tag?: string
}

/** An error as data. Anything that is no `AuthzError` becomes `INTERNAL` and keeps its text to itself. */
export function errorToData(error: unknown): ErrorData {
  if (error instanceof AuthzError) {
    const { code, message, detail, limit, isReported, told, tag } = error
    return {
      code,
      message,
      detail,
      ...(limit && { limit }),
      ...(isReported && { isReported }),
      ...(told !== null && { told }),
      ...(tag !== null && { tag }),
    }
  }
  return { code: 'INTERNAL', message: 'the service failed to answer this request', detail: [] }
}

export function errorFromData(data: ErrorData): AuthzError {
  const { code, message, ...options } = data
  return new AuthzError(code, message, options)
}

/** Whether an error is a defect of ours, which whoever runs the service has not heard of yet. */
export function isUnreportedFault(error: unknown): boolean {
  return !(error instanceof AuthzError) || (error.code === 'INTERNAL' && !error.isReported)
}
