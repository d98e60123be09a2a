/**
 * Determines which of several errors in one request is returned (native.md D-38): first what the caller must
 * not do, then references to unknown entities, then invalid values, then duplicates.
 */
import { AuthzError, type ErrorCode } from '#model/errors.ts'

/** The order of precedence: shape, permission of the caller, existence, meaning, duplicates. */
const PRECEDENCE: readonly ErrorCode[] = [
  'INVALID_SHAPE',
  'FORBIDDEN',
  'NOT_FOUND',
  'LIMIT_EXCEEDED',
  'INVALID_INPUT',
]

/**
 * Tries all parts of a request. Keeps the error with the highest precedence, and the first of equal
 * precedence.
 */
export class FirstErrorByPrecedence<Location> {
  found: { readonly error: AuthzError; readonly place: Location } | null = null

  /** Runs a part of the request. An error that is not an `AuthzError` is a defect and is rethrown. */
  attempt(place: Location, part: () => void): void {
    try {
      part()
    } catch (error) {
      if (!(error instanceof AuthzError)) throw error
      if (this.found === null || rank(error) < rank(this.found.error)) this.found = { error, place }
    }
  }
}

function rank({ code }: AuthzError): number {
  if (code === 'DUPLICATE_ENTITY') return PRECEDENCE.length + 1
  const at = PRECEDENCE.indexOf(code)
  return at < 0 ? PRECEDENCE.length : at
}
