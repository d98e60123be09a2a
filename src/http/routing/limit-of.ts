/** Which ceiling a refusal is about, for the counters of refusals. */
import { AuthzError, type ErrorDetail, type LimitName } from '#model/errors.ts'

/** Null: the refusal is about something else. */
export function limitOf(error: unknown): LimitName | null {
  if (!(error instanceof AuthzError)) return null
  if (error.limit !== null || error.detail.length === 0) return error.limit
  for (const detail of error.detail) {
    const limit = limitOfFinding(detail)
    if (limit !== null) return limit
  }
  return null
}

/** Ceilings that are part of a schema: only the finding names them. */
function limitOfFinding({ loc, type }: ErrorDetail): LimitName | null {
  if (type === 'depth') return 'depth'
  if (type === 'maxItems') return 'batch'
  return type === 'maximum' && loc[0] === 'query' && loc[1] === 'per_page' ? 'page' : null
}
