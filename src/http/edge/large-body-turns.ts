/**
 * Large bodies are read one in each turn of the event loop, in the order in which they became whole. Reading one takes a
 * millisecond, tens of them where it has to be parsed, and the library hands on all that has come since the last turn,
 * one after the other: a single decision behind ten bulks of 10,000 that were complete together waited for all ten, and
 * now waits for one (`npm run bench -- behind-bulks`).
 */

/**
 * Bodies of at least this size are large: 2,300 usual checks, which take a quarter of a millisecond to be read and five to be parsed. What
 * waits for its turn must be the last on its connection, and bulks of fewer than 2,000, which may be pipelined, are
 * nearly all smaller.
 */
export const LARGE_BODY_BYTES_MIN = 256 * 1_024

/** When a body that has come whole is read and answered. */
export interface BodyTurns {
  /** Whether a body of so many bytes may be read now. */
  begin(bytes: number): boolean
  /** Calls `answer` now or in a later turn. */
  take(bytes: number, answer: () => void): void
}

export class LargeBodyTurns implements BodyTurns {
  readonly #waiting: (() => void)[] = []
  #isTaken = false

  /** Whether a body of so many bytes may be read now. A large one takes this turn then. */
  begin(bytes: number): boolean {
    if (bytes < LARGE_BODY_BYTES_MIN) return true
    if (this.#isTaken) return false
    this.#isTaken = true
    // The first `setImmediate` runs before the loop looks at the sockets again, the second after that.
    setImmediate(() => setImmediate(() => this.#end()))
    return true
  }

  /** Calls `answer` for a body of so many bytes: at once if the body may begin, else in a later turn. */
  take(bytes: number, answer: () => void): void {
    if (this.begin(bytes)) answer()
    else this.#waiting.push(answer)
  }

  #end(): void {
    this.#isTaken = false
    const next = this.#waiting.shift()
    if (next !== undefined) this.take(LARGE_BODY_BYTES_MIN, next)
  }
}
