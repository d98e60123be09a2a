/** A commit that the store has refused for a reason that the operator can mend. */
import { AuthzError } from '#model/errors.ts'

/** `reason` is for whoever sends changes, too: it says nothing of where things are. `cause`: what the log has of it. */
export function notWritten(reason: string, cause: unknown): AuthzError {
  const told = `the change was not made: ${reason}; writing goes on by itself when that is mended`
  return new AuthzError('STORE_REFUSED', told, { cause, told })
}
