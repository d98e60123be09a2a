/**
 * Writes streaming responses in time slices, so that they do not block the event loop. One commit can cause
 * megabytes of events for each of hundreds of clients. If they were written without interruption, decisions
 * would be delayed by seconds.
 */

/** Time in milliseconds for writing per event-loop iteration. Writing can delay a decision by this time. */
const SHARE_MS = 2

export interface Pouring {
  /** Writes one piece of the response. Returns whether the response can write another piece. */
  pourPiece(): boolean
}

export class StreamScheduler {
  readonly #now: () => number
  /** Responses that have bytes to write, in the order in which they will write. */
  readonly #waiting = new Set<Pouring>()
  /**
   * Time at which the time slice of this iteration ends. Null if no response was written in this iteration.
   */
  #until: number | null = null

  /** `now` returns the time in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /**
   * Schedules the pending bytes of a response. They are written now or in later iterations. The waiting
   * responses alternate after each piece.
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
      // The response has more to write and is moved to the end of the queue.
      if (answer.pourPiece()) this.#waiting.add(answer)
    }
  }
}
