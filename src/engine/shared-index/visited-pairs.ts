/**
 * A set of pairs of numbers for one walk, emptied in O(1) by a new stamp. Each walk of a thread uses its own again and
 * again, so walks allocate only while they outgrow all before them.
 */
import { ID_HASH } from './layout.ts'

const CAPACITY_LOG2_MIN = 6
const SECOND_MIX = 0x7feb352d | 0

export class VisitedPairs {
  #log2 = CAPACITY_LOG2_MIN
  /** Triples [stamp, first, second]. */
  #entries = new Int32Array(3 << CAPACITY_LOG2_MIN)
  #stamp = 1
  #count = 0

  clear(): void {
    this.#count = 0
    this.#stamp = (this.#stamp + 1) | 0
    if (this.#stamp !== 0) return
    this.#entries.fill(0)
    this.#stamp = 1
  }

  /** True if the pair is new. Expected O(1). */
  add(first: number, second: number): boolean {
    if (this.#count * 2 > 1 << this.#log2) this.#grow()
    return this.#place(first, second)
  }

  #place(first: number, second: number): boolean {
    const entries = this.#entries
    const mask = (1 << this.#log2) - 1
    let index = Math.imul(first ^ Math.imul(second, SECOND_MIX), ID_HASH) >>> (32 - this.#log2)
    for (;;) {
      const at = index * 3
      if (entries[at] !== this.#stamp) {
        entries[at] = this.#stamp
        entries[at + 1] = first
        entries[at + 2] = second
        this.#count += 1
        return true
      }
      if (entries[at + 1] === first && entries[at + 2] === second) return false
      index = (index + 1) & mask
    }
  }

  #grow(): void {
    const old = this.#entries
    const stamp = this.#stamp
    this.#log2 += 1
    this.#entries = new Int32Array(3 << this.#log2)
    this.#stamp = 1
    this.#count = 0
    for (let at = 0; at < old.length; at += 3) {
      if (old[at] === stamp) this.#place(old[at + 1]!, old[at + 2]!)
    }
  }
}
