/**
 * How large the next piece of a long job may be, learnt from how long the last pieces kept the thread: the cost of a row
 * depends on its kind, the size of the store and the machine. Pure; the caller measures its pieces.
 */

/**
 * The time that a piece should take, in milliseconds. Far below the 5 ms that it may take: rows differ, and the collector
 * stops the thread, too.
 */
const PIECE_MS = 1.5
const ROWS_MIN = 4
const ROWS_MAX = 512
/** How fast pieces grow from the smallest: the first ones run code that is not compiled yet. They shrink at once. */
const GROWTH_MAX = 1.1
/** A piece that had less than this share of the size asked for says little about its rows. */
const TELLING_SHARE = 0.5

export class PieceSize {
  #rows = ROWS_MIN

  /** Rows the next piece should have at most. */
  get rows(): number {
    return Math.floor(this.#rows)
  }

  /** A piece of that many rows kept the thread for `longestMs` without a stop. */
  learn(rows: number, longestMs: number): void {
    if (rows < this.#rows * TELLING_SHARE) return
    const fitting = longestMs > 0 ? (PIECE_MS / longestMs) * rows : ROWS_MAX
    this.#rows = Math.max(ROWS_MIN, Math.min(fitting, this.#rows * GROWTH_MAX, ROWS_MAX))
  }
}
