/** Collects errors in a condition, with their locations. */
import type { ErrorDetail } from '#model/errors.ts'

export type ErrorLocation = ErrorDetail['loc']

/** Maximum number of errors that are reported. Further errors are reported after these have been fixed. */
const FINDINGS_MAX = 20

export class Findings {
  readonly details: ErrorDetail[] = []

  /** Adds an error. Always returns `null`, which stands for a node that could not be parsed. */
  add(loc: ErrorLocation, msg: string): null {
    if (this.details.length < FINDINGS_MAX) this.details.push({ loc, msg, type: 'condition' })
    return null
  }
}
