/** Layout of the shared memory with which `reader-stalls.ts` and its reader communicate. */
import type { SharedIndexHandle } from '#engine/shared-index/memory/index-buffers.ts'
import type { Query } from '#model/decision.ts'

export const CELLS = { window: 0, checks: 1 } as const
export const STOP = -1

export interface StopsReaderData {
  readonly handle: SharedIndexHandle
  readonly questions: readonly Query[]
  readonly cells: Int32Array
  /**
   * Milliseconds. Each window has two numbers: the longest pause, and the longest pause without the time in
   * which other threads used the core.
   */
  readonly longest: Float64Array
}
