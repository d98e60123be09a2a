/** Errors in a model file, with their locations. */
import { nearestName } from '#model/nearest-name.ts'
import type { ValuePath } from './located-value.ts'

export interface Finding {
  readonly location: ValuePath
  readonly message: string
  /** Whether the finding is about the key at the end of the path and not about its value. */
  readonly isAboutKey?: boolean
}

/**
 * Maximum number of reported findings. If there are more, the user must run the command again after fixing
 * these.
 */
export const FINDINGS_MAX = 100

/** Maximum number of valid names that a message lists if none of them is similar. */
const NAMES_TOLD_MAX = 8

/**
 * Returns a suggestion for a message: `; did you mean "viewer"?`, or a list of the valid names if there are
 * only a few. Returns an empty text if there is no suggestion.
 */
export function suggestion(given: string, names: Iterable<string>): string {
  const all = [...names]
  const near = nearestName(given, all)
  if (near !== null) return `; did you mean ${JSON.stringify(near)}?`
  if (all.length === 0 || all.length > NAMES_TOLD_MAX) return ''
  return `; expected ${all.length === 1 ? '' : 'one of '}${all.map(name => JSON.stringify(name)).join(', ')}`
}
