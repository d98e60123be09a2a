/** What `reader-stalls.ts` and its reader share. */
import type { SharedIndexHandle } from '#engine/shared-index/memory/regions.ts'
import type { Query } from '#model/decision.ts'

export const CELLS = { window: 0, checks: 1 } as const
export const STOP = -1

export interface StopsReaderData {
  readonly handle: SharedIndexHandle
  readonly questions: readonly Query[]
  readonly cells: Int32Array
  /** Milliseconds, two numbers a window: the longest stop, and the longest without the time in which others had the core. */
  readonly longest: Float64Array
}
