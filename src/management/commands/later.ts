/** Which failures of background work say nothing but that it is for later: the store takes no commits just now, or others were faster. */
import { AuthzError, type ErrorCode } from '#model/errors.ts'

const LATER: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'NOT_READY',
  'OVERLOADED',
  'REVISION_CONFLICT',
  'STORE_CLOSED',
  'STORE_RESET',
  'STORE_UNAVAILABLE',
  'STORE_REFUSED',
  'STORE_DAMAGED',
])

export function isForLater(error: unknown): boolean {
  return error instanceof AuthzError && LATER.has(error.code)
}
