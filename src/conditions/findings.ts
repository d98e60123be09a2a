/** Collects the errors found in a condition, with their locations. */
import type { ErrorDetail } from '#model/errors.ts'

export type ErrorLocation = ErrorDetail['loc']

/** Maximum number of errors reported. A client that fixes these sees the next ones. */
const FINDINGS_MAX = 20

export class Findings {
  readonly details: ErrorDetail[] = []

  /** Always returns `null`, which represents a node that could not be read. */
  add(loc: ErrorLocation, msg: string): null {
    if (this.details.length < FINDINGS_MAX) this.details.push({ loc, msg, type: 'condition' })
    return null
  }
}
