/** What is wrong with a condition, and where. */
import type { ErrorDetail } from '#model/errors.ts'

export type Place = ErrorDetail['loc']

/** More are not told: whoever mends these sees the next. */
const FINDINGS_MAX = 20

export class Findings {
  readonly details: ErrorDetail[] = []

  /** Always `null`, which stands for a node that could not be read. */
  add(loc: Place, msg: string): null {
    if (this.details.length < FINDINGS_MAX) this.details.push({ loc, msg, type: 'condition' })
    return null
  }
}
