/** Shared memory cells of `reader-stalls.ts` and its reader. */
import type { SharedIndexHandle } from '#engine/shared-index/memory/regions.ts'
import type { Query } from '#model/decision.ts'

export const CELLS = { window: 0, checks: 1 } as const
export const STOP = -1

export interface StopsReaderData {
  readonly handle: SharedIndexHandle
  readonly questions: readonly Query[]
  readonly cells: Int32Array
  /**
   * Milliseconds, two numbers per window: the longest pause, and the longest pause without the time in which
   * other threads had the core.
   */
  readonly longest: Float64Array
}
