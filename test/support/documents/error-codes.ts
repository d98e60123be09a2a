/** Error codes of operations that can be rejected. */
import { AuthzError } from '#model/errors.ts'

/** The error code of a rejection, or null for success. Internal errors are rethrown. */
export async function errorCodeOf(operation: Promise<unknown>): Promise<string | null> {
  try {
    await operation
    return null
  } catch (error) {
    if (error instanceof AuthzError && error.code !== 'INTERNAL') return error.code
    throw error
  }
}
