/**
 * Writes streaming responses in time slices, so that they do not block the event loop. One commit can cause
 * megabytes of events for each of hundreds of clients. If they were written without interruption, decisions
 * would be delayed by seconds.
 */

import type { TimeBudget } from '#scheduling/time-budget.ts'

export interface Pouring {
  /** Writes one piece of the response. Returns whether the response can write another piece. */
  pourPiece(): boolean
}

export class StreamScheduler {
  readonly #budget: TimeBudget
  /** Responses that have bytes to write, in the order in which they will write. */
  readonly #waiting = new Set<Pouring>()
  #isPlanned = false

  constructor(budget: TimeBudget) {
    this.#budget = budget
  }

  /**
   * Schedules the pending bytes of a response. They are written now or in later iterations. The waiting
   * responses alternate after each piece.
   */
  take(answer: Pouring): void {
    this.#waiting.add(answer)
    if (this.#isPlanned) return
    if (this.#budget.elapsedMs() < this.#budget.sliceEnd()) this.#pour()
    else this.#plan()
  }

  #plan(): void {
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      this.#pour()
    })
  }

  /** Writes at least one piece, even if other work has used up the slice. */
  #pour(): void {
    const until = this.#budget.sliceEnd()
    for (const answer of this.#waiting) {
      this.#waiting.delete(answer)
      // The response has more to write and is moved to the end of the queue.
      if (answer.pourPiece()) this.#waiting.add(answer)
      if (this.#budget.elapsedMs() >= until) break
    }
    if (this.#waiting.size > 0) this.#plan()
  }
}
