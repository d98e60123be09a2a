/**
 * Writes streaming responses in time slices, so that they do not block the event loop. One commit can be
 * megabytes for each of hundreds of clients. Writing them without interruption would delay decisions by
 * seconds.
 */

/** Time slice for writing per event-loop iteration. A decision can be delayed by this time. */
const SHARE_MS = 2

export interface Pouring {
  /** Writes one piece. Returns whether it can write another one. */
  pourPiece(): boolean
}

export class StreamScheduler {
  readonly #now: () => number
  /** Responses in the order in which they write next. */
  readonly #waiting = new Set<Pouring>()
  /** Time at which the slice of this iteration ends; null if none has begun. */
  #until: number | null = null

  /** `now` returns milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /**
   * Lets the response write its pending bytes: now, or in later iterations, alternating with other responses
   * piece by piece.
   */
  take(answer: Pouring): void {
    this.#waiting.add(answer)
    if (this.#until === null) this.#begin()
    else this.#pour(this.#until)
  }

  #begin(): void {
    this.#until = this.#now() + SHARE_MS
    setImmediate(() => {
      this.#until = null
      if (this.#waiting.size > 0) this.#begin()
    })
    this.#pour(this.#until)
  }

  #pour(until: number): void {
    for (const answer of this.#waiting) {
      if (this.#now() >= until) return
      this.#waiting.delete(answer)
      // The response is moved to the end of the queue.
      if (answer.pourPiece()) this.#waiting.add(answer)
    }
  }
}
