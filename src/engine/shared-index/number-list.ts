/** A growable list of 32-bit numbers that keeps its memory between uses. */
const CAPACITY_MIN = 64

export class NumberList {
  items = new Int32Array(CAPACITY_MIN)
  length = 0

  push(item: number): void {
    if (this.length === this.items.length) this.reserve(1)
    this.items[this.length] = item
    this.length += 1
  }

  /** Room for so many more, so that a loop may write to `items` behind `length` and set it afterwards. */
  reserve(count: number): void {
    let capacity = this.items.length
    while (capacity < this.length + count) capacity *= 2
    if (capacity === this.items.length) return
    const larger = new Int32Array(capacity)
    larger.set(this.items)
    this.items = larger
  }
}
