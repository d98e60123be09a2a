/**
 * Closure of an environment: the reason why this node rejects its requests. All other environments remain
 * available. The rows of a closed environment can still be managed if they can be read. It opens again by
 * itself once its fault is fixed.
 */
import { AuthzError } from '#model/errors.ts'

export interface Closure {
  /** Sent to callers of the environment. Must not reveal hosts, directories or other environments. */
  readonly reason: string
  /** Whether the environment exceeds the capacity of an index. */
  readonly isTooMuch: boolean
  /** Milliseconds since 1970. */
  readonly since: number
}

export function closureOf(error: unknown, since: number): Closure {
  const isTooMuch = error instanceof AuthzError && error.code === 'LIMIT_EXCEEDED'
  return { reason: reasonOf(error), isTooMuch, since }
}

/** Message for callers for an error that closes an environment. The log has the complete error. */
function reasonOf(error: unknown): string {
  if (error instanceof AuthzError) {
    // The message of the environment states which limit it exceeds.
    if (error.code === 'LIMIT_EXCEEDED') return error.message
    if (error.code === 'STORE_DAMAGED')
      return 'the store lost a part of its data, which must be restored; the log contains the reason'
    if (error.code === 'STORE_UNAVAILABLE' || error.code === 'STORE_REFUSED')
      return 'its stored data cannot be opened; the log contains the reason'
  }
  return 'its index cannot be built from its stored data; the log contains the reason'
}

/** Error for an operation that would replace an open environment by this closed one. */
export function replacementClosed({ reason, isTooMuch }: Closure): AuthzError {
  return isTooMuch ? new AuthzError('LIMIT_EXCEEDED', reason) : environmentClosed(reason)
}

/** Error for a request that needs the index of a closed environment. */
export function environmentClosed(reason: string): AuthzError {
  return new AuthzError('ENVIRONMENT_CLOSED', `this environment is closed on this node: ${reason}`)
}
