/** The error of whoever uses a store that is closed. */
import { AuthzError } from '#model/errors.ts'

export function storeClosed(): AuthzError {
  return new AuthzError('STORE_CLOSED', 'the store is closed')
}
