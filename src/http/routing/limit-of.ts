/** Finds the limit that caused an error, for metrics. */
import { AuthzError, type ErrorDetail, type LimitName } from '#model/errors.ts'

/** Null if the error has another cause. */
export function limitOf(error: unknown): LimitName | null {
  if (!(error instanceof AuthzError)) return null
  if (error.limit !== null || error.detail.length === 0) return error.limit
  for (const detail of error.detail) {
    const limit = limitOfFinding(detail)
    if (limit !== null) return limit
  }
  return null
}

/** For limits that are part of a schema. Only the finding identifies them. */
function limitOfFinding({ loc, type }: ErrorDetail): LimitName | null {
  if (type === 'depth') return 'depth'
  if (type === 'maxItems') return 'batch'
  return type === 'maximum' && loc[0] === 'query' && loc[1] === 'per_page' ? 'page' : null
}
