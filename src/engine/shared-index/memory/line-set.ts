/**
 * Stores the set of lines that one search has visited. It has one bit per line, so it fits into the cache. It
 * keeps its memory between searches.
 */
import type { NumberList } from './number-list.ts'

export class LineSet {
  #bits = new Int32Array(0)
  /** Number of words that the current search uses. */
  #words = 0

  /** Empties the set and prepares it for lines below `end`. O(end / 32). */
  clear(end: number): void {
    const words = (end >>> 5) + 1
    if (words > this.#bits.length) this.#bits = new Int32Array(words * 2)
    else this.#bits.fill(0, 0, words)
    this.#words = words
  }

  /**
   * Adds a line. Returns true if the line was not in the set. A line beyond `end` comes from a torn read; the
   * result is then false.
   */
  add(line: number): boolean {
    const word = this.#bits[line >>> 5]
    const bit = 1 << (line & 31)
    if (word === undefined || (word & bit) !== 0) return false
    this.#bits[line >>> 5] = word | bit
    return true
  }

  /**
   * Appends the lines of the set to `list` in ascending order, which is their order in memory. O(end / 32 +
   * lines).
   */
  appendTo(list: NumberList): void {
    for (let word = 0; word < this.#words; word++) {
      for (let bits = this.#bits[word]!; bits !== 0; bits &= bits - 1) {
        list.push((word << 5) + 31 - Math.clz32(bits & -bits))
      }
    }
  }
}
