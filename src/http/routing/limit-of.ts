/** Determines which limit caused an error, for the metrics. */
import { AuthzError, type ErrorDetail, type LimitName } from '#model/errors.ts'

/** Null if the error was not caused by a limit. */
export function limitOf(error: unknown): LimitName | null {
  if (!(error instanceof AuthzError)) return null
  if (error.limit !== null || error.detail.length === 0) return error.limit
  for (const detail of error.detail) {
    const limit = limitOfFinding(detail)
    if (limit !== null) return limit
  }
  return null
}

/**
 * Determines the limit from a finding of the validation. This is necessary for limits that are part of a
 * schema.
 */
function limitOfFinding({ loc, type }: ErrorDetail): LimitName | null {
  if (type === 'depth') return 'depth'
  if (type === 'maxItems') return 'batch'
  return type === 'maximum' && loc[0] === 'query' && loc[1] === 'per_page' ? 'page' : null
}
