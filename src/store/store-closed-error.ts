/** Error of a caller that uses a store after it was closed. */
import { AuthzError } from '#model/errors.ts'

export function storeClosed(): AuthzError {
  return new AuthzError('STORE_CLOSED', 'the store is closed')
}
