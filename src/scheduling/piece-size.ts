/**
 * Adapts the batch size of a long job to the measured times of earlier batches. The cost of a row depends on
 * its kind, the size of the store and the machine. Pure; the caller measures the batches.
 */
import { LONGEST_SLICE_MS } from './time-budget.ts'

/**
 * Target time of a batch, in milliseconds. It is far below the longest slice, because rows differ and the
 * garbage collector also stops the thread.
 */
const PIECE_MS = 0.375 * LONGEST_SLICE_MS.main
const ROWS_MIN = 4
const ROWS_MAX = 512
/**
 * Maximum growth per batch, because the first batches run code that is not compiled yet. Shrinking is not
 * limited.
 */
const GROWTH_MAX = 1.1
/** A batch with less than this share of the requested size is not used as a measurement. */
const TELLING_SHARE = 0.5

export class PieceSize {
  #rows = ROWS_MIN

  /** Maximum number of rows of the next batch. */
  get rows(): number {
    return Math.floor(this.#rows)
  }

  /** Records that a batch of that many rows blocked the thread for at most `longestMs`. */
  learn(rows: number, longestMs: number): void {
    if (rows < this.#rows * TELLING_SHARE) return
    const fitting = longestMs > 0 ? (PIECE_MS / longestMs) * rows : ROWS_MAX
    this.#rows = Math.max(ROWS_MIN, Math.min(fitting, this.#rows * GROWTH_MAX, ROWS_MAX))
  }
}
