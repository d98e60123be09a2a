/**
 * Stores a set of pairs of numbers for one search. A new stamp empties it in O(1). Each kind of search of a
 * thread reuses its own set, so memory is allocated only if a search needs more than all previous ones.
 */
const CAPACITY_LOG2_MIN = 6
const ENTRY_WORDS = 4
const SECOND_MIX = 0x7feb352d | 0
const FIRST_MIX = 0x85ebca6b | 0
const LAST_MIX = 0x2c1b3c6d | 0

export class VisitedPairs {
  #log2 = CAPACITY_LOG2_MIN
  /** [stamp, first, second, number]. */
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

  /** Adds a pair. Returns true if it is new. Expected O(1). */
  add(first: number, second: number): boolean {
    const count = this.#count
    return this.numberOf(first, second) === count
  }

  /**
   * Returns the position of the pair in the order of addition, from 0. Adds the pair at the end if it is new.
   * Expected O(1).
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

  /** Like `numberOf`, but adds nothing: returns -1 if the pair is missing. */
  numberIfThere(first: number, second: number): number {
    const at = this.#find(first, second)
    return this.#entries[at] === this.#stamp ? this.#entries[at + 3]! : -1
  }

  /** Returns the slot of the pair, or the free slot for it. */
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
 * The hash must differ from that of slabs, because most pairs arrive in the order of slabs. Otherwise, all of
 * them would be in the first part of a growing table, and n pairs would take n² steps.
 */
function hashOf(first: number, second: number): number {
  const mixed = Math.imul(first, FIRST_MIX) ^ Math.imul(second, SECOND_MIX)
  const spread = Math.imul(mixed ^ (mixed >>> 15), LAST_MIX)
  return spread ^ (spread >>> 13)
}
