/** A set of lines for one search: a bit each, so that it stays in the cache. Keeps its memory between uses. */
export class LineSet {
  #bits = new Int32Array(0)

  /** Empties the set and makes room for lines below `end`. O(end / 32). */
  clear(end: number): void {
    const words = (end >>> 5) + 1
    if (words > this.#bits.length) this.#bits = new Int32Array(words * 2)
    else this.#bits.fill(0, 0, words)
  }

  /** True if the line is new. A line beyond `end` was read torn and is never new. */
  add(line: number): boolean {
    const word = this.#bits[line >>> 5]
    const bit = 1 << (line & 31)
    if (word === undefined || (word & bit) !== 0) return false
    this.#bits[line >>> 5] = word | bit
    return true
  }
}
