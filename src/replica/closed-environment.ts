/**
 * A closure says that this process cannot decide on an environment, and why. Everything else goes on without that
 * environment. Its rows can still be managed where they can be read. It opens again by itself once its fault has been
 * mended.
 */
import { AuthzError } from '#model/errors.ts'

export interface Closure {
  /** For callers of the environment: no hosts, directories or other environments. */
  readonly reason: string
  /** Whether the environment holds more than an index has room for. */
  readonly isTooMuch: boolean
  /** Milliseconds since 1970. */
  readonly since: number
}

export function closureOf(error: unknown, since: number): Closure {
  const isTooMuch = error instanceof AuthzError && error.code === 'LIMIT_EXCEEDED'
  return { reason: reasonOf(error), isTooMuch, since }
}

/** What callers are told of an error that closes an environment. The log has the whole error. */
function reasonOf(error: unknown): string {
  if (error instanceof AuthzError) {
    // The environment may know what it has too much of.
    if (error.code === 'LIMIT_EXCEEDED') return error.message
    if (error.code === 'STORE_DAMAGED')
      return 'the store has lost a part of it, which has to be restored; the log has the reason'
    if (error.code === 'STORE_UNAVAILABLE' || error.code === 'STORE_REFUSED')
      return 'what is stored of it cannot be opened; the log has the reason'
  }
  return 'what is stored of it cannot be made into an index; the log has the reason'
}

/** The answer to an operation that would replace an open environment by this closed one. */
export function replacementClosed({ reason, isTooMuch }: Closure): AuthzError {
  return isTooMuch ? new AuthzError('LIMIT_EXCEEDED', reason) : environmentClosed(reason)
}

/** The answer to a request that needs the index of a closed environment. */
export function environmentClosed(reason: string): AuthzError {
  return new AuthzError('ENVIRONMENT_CLOSED', `this environment is closed on this node: ${reason}`)
}
