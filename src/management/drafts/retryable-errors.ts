/**
 * Errors after which background work is retried later: the store does not accept commits, or a commit had a
 * conflict.
 */
import { AuthzError, type ErrorCode } from '#model/errors.ts'

const RETRYABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'NOT_READY',
  'OVERLOADED',
  'REVISION_CONFLICT',
  'STORE_CLOSED',
  'STORE_RESET',
  'STORE_UNAVAILABLE',
  'STORE_REFUSED',
  'STORE_DAMAGED',
])

export function isRetryable(error: unknown): boolean {
  return error instanceof AuthzError && RETRYABLE.has(error.code)
}
