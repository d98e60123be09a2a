/** Seeded random number generator (mulberry32). A dataset is therefore the same on every machine. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  /** Returns an integer from 0 (inclusive) to `end` (exclusive). */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!
  }

  /** Returns true with this probability. */
  chance(share: number): boolean {
    return this.next() < share
  }

  /** Shuffles the items in place (Fisher and Yates). */
  shuffle(items: unknown[]): void {
    for (let last = items.length - 1; last > 0; last--) {
      const other = this.below(last + 1)
      const item = items[last]
      items[last] = items[other]
      items[other] = item
    }
  }
}
