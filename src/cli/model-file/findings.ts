/** What is wrong with a model file, and where. */
import { nearestName } from '#model/nearest-name.ts'
import type { Way } from './place.ts'

export interface Finding {
  readonly way: Way
  readonly message: string
  /** The key at the end of the way is wrong, and not what stands under it. */
  readonly isAboutKey?: boolean
}

/** Ceiling of findings that are told: after these the file needs another look anyway. */
export const FINDINGS_MAX = 100

/** The names that are told where none is near, if they are few. */
const NAMES_TOLD_MAX = 8

/** `; did you mean "viewer"?`, or which names there are, if they are few. Begins with a semicolon, or is empty. */
export function suggestion(given: string, names: Iterable<string>): string {
  const all = [...names]
  const near = nearestName(given, all)
  if (near !== null) return `; did you mean ${JSON.stringify(near)}?`
  if (all.length === 0 || all.length > NAMES_TOLD_MAX) return ''
  return `; expected ${all.length === 1 ? '' : 'one of '}${all.map(name => JSON.stringify(name)).join(', ')}`
}
