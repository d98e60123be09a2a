/** A growable list of 32-bit numbers that keeps its memory between uses. */
const CAPACITY_MIN = 64

export class NumberList {
  items = new Int32Array(CAPACITY_MIN)
  length = 0
  /**
   * Copy of `items.length`. V8 reads the length of a typed array as a double, which would make a push take
   * twice as long.
   */
  #capacity = CAPACITY_MIN

  push(item: number): void {
    if (this.length === this.#capacity) this.reserve(1)
    this.items[this.length] = item
    this.length += 1
  }

  /** Appends three numbers after a single check of the capacity. */
  pushTriple(first: number, second: number, third: number): void {
    const { length } = this
    if (length + 3 > this.#capacity) this.reserve(3)
    const { items } = this
    items[length] = first
    items[length + 1] = second
    items[length + 2] = third
    this.length = length + 3
  }

  /**
   * Ensures capacity for `more` numbers. Growing takes O(items) and touches new pages, which can take
   * milliseconds.
   */
  reserve(more: number): void {
    if (this.length + more <= this.#capacity) return
    const larger = new Int32Array(Math.max(2 * this.#capacity, this.length + more))
    larger.set(this.items)
    larger.fill(0, this.#capacity)
    this.items = larger
    this.#capacity = larger.length
  }
}
