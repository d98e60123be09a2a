/**
 * Bytes for readers of answers that go on are written in shares of a turn of the event loop. One commit may be megabytes for each of
 * hundreds of readers: written at once, they would keep the thread from deciding for seconds.
 */

/** How long is written in one turn of the loop: what a decision that comes meanwhile waits. */
const SHARE_MS = 2

export interface Pouring {
  /** Writes one piece. Returns whether it may write another. */
  pourPiece(): boolean
}

export class LiveTurns {
  readonly #now: () => number
  /** In the order in which they have their turns. */
  readonly #waiting = new Set<Pouring>()
  /** When the share of this turn is used up; null while none has begun. */
  #until: number | null = null

  /** `now` is in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Has it write all that it may: now, or in later turns, piece by piece with the others. */
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
      // Added again, it comes behind the others.
      if (answer.pourPiece()) this.#waiting.add(answer)
    }
  }
}
