/**
 * An environment that cannot be decided on by this process, and why. Everything else goes on without it: its rows can still be
 * managed where they can be read, and it opens again by itself once what is wrong has been mended.
 */
import { AuthzError } from '#model/errors.ts'

export interface Closure {
  /** For its callers: nothing of hosts, directories or other environments. */
  readonly reason: string
  /** Whether there is more in it than an index has room for. */
  readonly isTooMuch: boolean
  /** Milliseconds since 1970. */
  readonly since: number
}

export function closureOf(error: unknown, since: number): Closure {
  const isTooMuch = error instanceof AuthzError && error.code === 'LIMIT_EXCEEDED'
  return { reason: reasonOf(error), isTooMuch, since }
}

/** What callers are told of an error that closes an environment. The log has the error itself. */
function reasonOf(error: unknown): string {
  if (error instanceof AuthzError) {
    // What it has too much of is its own business.
    if (error.code === 'LIMIT_EXCEEDED') return error.message
    if (error.code === 'STORE_DAMAGED')
      return 'the store has lost a part of it, which has to be restored; the log has the reason'
    if (error.code === 'STORE_UNAVAILABLE' || error.code === 'STORE_REFUSED')
      return 'what is stored of it cannot be opened; the log has the reason'
  }
  return 'what is stored of it cannot be made into an index; the log has the reason'
}

/** The answer to who would put that in the place of what is open. */
export function replacementClosed({ reason, isTooMuch }: Closure): AuthzError {
  return isTooMuch ? new AuthzError('LIMIT_EXCEEDED', reason) : environmentClosed(reason)
}

/** The answer to whatever needs the index of a closed environment. */
export function environmentClosed(reason: string): AuthzError {
  return new AuthzError('ENVIRONMENT_CLOSED', `this environment is closed on this node: ${reason}`)
}
