/**
 * Which of several errors in one request is answered (native.md D-38): first what does not exist, then what
 * does not fit, then what exists already.
 */
import { AuthzError, type ErrorCode } from '#model/errors.ts'

/** The order of precedence: shape, existence, meaning, duplicates. */
const PRECEDENCE: readonly ErrorCode[] = ['INVALID_SHAPE', 'NOT_FOUND', 'LIMIT_EXCEEDED', 'INVALID_INPUT']

/** Tries all parts of a request and keeps the error that takes precedence, the first of those that rank the same. */
export class FirstErrorByPrecedence<Place> {
  found: { readonly error: AuthzError; readonly place: Place } | null = null

  /** Faults pass through: they are no answers. */
  attempt(place: Place, part: () => void): void {
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
