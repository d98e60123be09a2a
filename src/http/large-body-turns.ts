/**
 * Large bodies are read one in each turn of the event loop, in the order in which they became whole. Reading one takes a
 * millisecond, tens of them where it has to be parsed, and the library hands on all that has come since the last turn, one
 * after the other. A single decision behind ten bulks of 10,000 that were complete together waited for 17 ms, and for 226
 * where they had to be parsed; with turns it waits for 5 and 42, on an open connection, and the bulks take no longer (Zen 4, one pool thread).
 */

/**
 * From so many bytes on: 2,300 usual checks, which take a quarter of a millisecond to be read and five to be parsed. What
 * waits for its turn must be the last on its connection, and bulks of fewer than 2,000, which may be pipelined, are
 * nearly all smaller. A body that comes in one piece, of half a megabyte at most, lies in the library's memory and is
 * read at once.
 */
export const LARGE_BODY_BYTES_MIN = 256 * 1_024

export class LargeBodyTurns {
  readonly #waiting: (() => void)[] = []
  #isTaken = false

  /** Has a body of so many bytes answered: at once, or, if it is large and this turn has been taken, in a later one. */
  take(bytes: number, answer: () => void): void {
    if (bytes < LARGE_BODY_BYTES_MIN) answer()
    else if (this.#isTaken) this.#waiting.push(answer)
    else this.#begin(answer)
  }

  #begin(answer: () => void): void {
    this.#isTaken = true
    setImmediate(() => this.#pass())
    answer()
  }

  #pass(): void {
    this.#isTaken = false
    const next = this.#waiting.shift()
    if (next !== undefined) this.#begin(next)
  }
}
