/**
 * Keeps numbers in the order of the keys that they represent. The numbers are in a sequence of short arrays,
 * so that an insertion in the middle does not move all following numbers.
 */

/** Maximum length of an array. A longer array is split in two. */
const RUN_MAX = 128

export class RowKeyOrder {
  readonly #compare: (number: number, key: Uint8Array) => number
  /** The arrays of numbers, in key order. No array is empty. */
  #runs: number[][] = []
  /** All numbers below this one have been processed. The owner maintains it. */
  level = 0

  /**
   * `compare` returns the position of the key of a number relative to the given key: below zero if before it,
   * zero if equal.
   */
  constructor(compare: (number: number, key: Uint8Array) => number) {
    this.#compare = compare
  }

  /** Adds a number whose key is not present yet. O(log n + length of an array). */
  add(number: number, key: Uint8Array): void {
    const at = this.#runOf(key)
    const run = this.#runs[at]
    if (run === undefined) {
      this.#runs.push([number])
      return
    }
    run.splice(this.#placeIn(run, key), 0, number)
    if (run.length > RUN_MAX) this.#runs.splice(at + 1, 0, run.splice(RUN_MAX / 2))
  }

  /**
   * Yields the numbers whose keys are not below `key`. If `isAfter` is true, omits the number of `key`
   * itself. No number may be added during the iteration.
   */
  *from(key: Uint8Array, isAfter: boolean): Iterable<number> {
    let at = this.#runOf(key)
    let run = this.#runs[at]
    if (run === undefined) return
    let place = this.#placeIn(run, key)
    if (isAfter && place < run.length && this.#compare(run[place]!, key) === 0) place += 1
    for (; run !== undefined; run = this.#runs[++at], place = 0) {
      for (; place < run.length; place += 1) yield run[place]!
    }
  }

  /** Removes all numbers that are equal to or above `count`. */
  cutTo(count: number): void {
    if (this.level <= count) return
    this.#runs = this.#runs.map(run => run.filter(number => number < count)).filter(run => run.length > 0)
    this.level = count
  }

  /**
   * Returns the last array that begins at or below the key, or the first array if there is none. O(log n).
   */
  #runOf(key: Uint8Array): number {
    let low = 0
    let high = this.#runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(this.#runs[middle]![0]!, key) <= 0) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }

  /** Returns the index of the first number whose key is not below `key`. O(log n). */
  #placeIn(run: readonly number[], key: Uint8Array): number {
    let low = 0
    let high = run.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(run[middle]!, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
