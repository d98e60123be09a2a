/** A growable list of 32-bit numbers that keeps its memory between uses. */
const CAPACITY_MIN = 64

export class NumberList {
  items = new Int32Array(CAPACITY_MIN)
  length = 0

  push(item: number): void {
    if (this.length === this.items.length) this.#double()
    this.items[this.length] = item
    this.length += 1
  }

  #double(): void {
    const larger = new Int32Array(2 * this.items.length)
    larger.set(this.items)
    this.items = larger
  }
}
