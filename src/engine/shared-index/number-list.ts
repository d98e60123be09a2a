/** A growable list of 32-bit numbers that keeps its memory between uses. */
const CAPACITY_MIN = 64

export class NumberList {
  items = new Int32Array(CAPACITY_MIN)
  length = 0

  push(item: number): void {
    if (this.length === this.items.length) {
      const larger = new Int32Array(this.items.length * 2)
      larger.set(this.items)
      this.items = larger
    }
    this.items[this.length] = item
    this.length += 1
  }
}
