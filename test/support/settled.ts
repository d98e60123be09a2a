/** What became of an operation that may be refused. */
import { AuthzError } from '#model/errors.ts'

/** The code of the refusal, null for success. A fault is thrown. */
export async function settled(operation: Promise<unknown>): Promise<string | null> {
  try {
    await operation
    return null
  } catch (error) {
    if (error instanceof AuthzError && error.code !== 'INTERNAL') return error.code
    throw error
  }
}
