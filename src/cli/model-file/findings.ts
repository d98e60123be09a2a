/** Errors in a model file, with their locations. */
import { nearestName } from '#model/nearest-name.ts'
import type { ValuePath } from './located-value.ts'

export interface Finding {
  readonly location: ValuePath
  readonly message: string
  /** Whether the key at the end of the path is wrong, and not its value. */
  readonly isAboutKey?: boolean
}

/** Maximum number of reported findings. The file needs another run after these are fixed anyway. */
export const FINDINGS_MAX = 100

/** Maximum number of names that are listed if none is similar. */
const NAMES_TOLD_MAX = 8

/**
 * Suggestion for a message: `; did you mean "viewer"?`, or a list of the valid names if they are few. Empty
 * if there is none.
 */
export function suggestion(given: string, names: Iterable<string>): string {
  const all = [...names]
  const near = nearestName(given, all)
  if (near !== null) return `; did you mean ${JSON.stringify(near)}?`
  if (all.length === 0 || all.length > NAMES_TOLD_MAX) return ''
  return `; expected ${all.length === 1 ? '' : 'one of '}${all.map(name => JSON.stringify(name)).join(', ')}`
}
