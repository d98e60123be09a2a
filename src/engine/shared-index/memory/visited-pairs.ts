/**
 * Stores the set of pairs of numbers that one search has visited. A new stamp empties the set in O(1). Each
 * kind of search of a thread reuses its own set, so memory is allocated only if a search visits more pairs
 * than all previous ones.
 */
const CAPACITY_LOG2_MIN = 6
const ENTRY_WORDS = 4
const SECOND_MIX = 0x7feb352d | 0
const FIRST_MIX = 0x85ebca6b | 0
const LAST_MIX = 0x2c1b3c6d | 0

export class VisitedPairs {
  #log2 = CAPACITY_LOG2_MIN
  /** Four words per entry: [stamp, first, second, number]. */
  #entries = new Int32Array(ENTRY_WORDS << CAPACITY_LOG2_MIN)
  #stamp = 1
  #count = 0

  clear(): void {
    this.#count = 0
    this.#stamp = (this.#stamp + 1) | 0
    if (this.#stamp !== 0) return
    this.#entries.fill(0)
    this.#stamp = 1
  }

  /** Adds a pair. Returns true if the pair was not in the set. Expected O(1). */
  add(first: number, second: number): boolean {
    const count = this.#count
    return this.numberOf(first, second) === count
  }

  /**
   * Returns the number of the pair: its position in the order of addition, starting with 0. If the pair is
   * not in the set, adds it. Expected O(1).
   */
  numberOf(first: number, second: number): number {
    if (this.#count * 2 > 1 << this.#log2) this.#grow()
    const at = this.#find(first, second)
    const entries = this.#entries
    if (entries[at] !== this.#stamp) {
      this.#put(at, first, second, this.#count)
      this.#count += 1
    }
    return entries[at + 3]!
  }

  /** Returns the number of the pair, or -1 if it is not in the set. Expected O(1). */
  numberIfThere(first: number, second: number): number {
    const at = this.#find(first, second)
    return this.#entries[at] === this.#stamp ? this.#entries[at + 3]! : -1
  }

  /** Returns the slot of the pair, or the free slot in which it would be stored. */
  #find(first: number, second: number): number {
    const entries = this.#entries
    const mask = (1 << this.#log2) - 1
    let index = hashOf(first, second) & mask
    for (;;) {
      const at = index * ENTRY_WORDS
      if (entries[at] !== this.#stamp) return at
      if (entries[at + 1] === first && entries[at + 2] === second) return at
      index = (index + 1) & mask
    }
  }

  #put(at: number, first: number, second: number, number: number): void {
    const entries = this.#entries
    entries[at] = this.#stamp
    entries[at + 1] = first
    entries[at + 2] = second
    entries[at + 3] = number
  }

  #grow(): void {
    const old = this.#entries
    const stamp = this.#stamp
    this.#log2 += 1
    this.#entries = new Int32Array(ENTRY_WORDS << this.#log2)
    this.#stamp = 1
    for (let at = 0; at < old.length; at += ENTRY_WORDS) {
      if (old[at] !== stamp) continue
      this.#put(this.#find(old[at + 1]!, old[at + 2]!), old[at + 1]!, old[at + 2]!, old[at + 3]!)
    }
  }
}

/**
 * This hash must differ from the hash of slabs, because most pairs are added in the order of a slab. With the
 * same hash, they would all be in the first part of a growing table, and adding n pairs would take n² steps.
 */
function hashOf(first: number, second: number): number {
  const mixed = Math.imul(first, FIRST_MIX) ^ Math.imul(second, SECOND_MIX)
  const spread = Math.imul(mixed ^ (mixed >>> 15), LAST_MIX)
  return spread ^ (spread >>> 13)
}
