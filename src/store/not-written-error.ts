/**
 * Error of a commit that the store rejected for a reason that the operator can fix. `lmdb/disk-errors.ts` and
 * `redis/ledger/redis-ledger.ts` create it.
 */
import { AuthzError } from '#model/errors.ts'

/** `reason` is shown to callers, so it must not name hosts or directories. `cause` is for the log. */
export function notWritten(reason: string, cause: unknown): AuthzError {
  const publicMessage = `the change was not made: ${reason}; writes resume automatically when this is fixed`
  return new AuthzError('STORE_REFUSED', publicMessage, { cause, publicMessage })
}
