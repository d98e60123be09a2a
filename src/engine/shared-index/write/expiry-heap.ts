/**
 * A binary heap of facts by their expiration times; the fact that expires first is at the top. It uses typed
 * arrays, which the garbage collector need not trace.
 */
import type { FactNumbers } from '#engine/shared-index/memory/expiry-table.ts'

const CAPACITY_MIN = 64
const WORDS = 3
const TUPLE = 1
const LINK_SHIFT = 1

export class ExpiryHeap {
  #times = new Float64Array(CAPACITY_MIN)
  /** Three words per fact: line, other, and link << 1 | is a tuple. */
  #facts = new Int32Array(CAPACITY_MIN * WORDS)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Expiration time of the fact at the top, or infinity if the heap is empty. */
  get firstExpiry(): number {
    return this.#length === 0 ? Infinity : this.#times[0]!
  }

  /** Adds a fact with its expiration time. O(log length). */
  push({ isTuple, line, other, link }: FactNumbers, expiresAt: number): void {
    if (this.#length === this.#times.length) this.#resize(2 * this.#length)
    let at = this.#length++
    for (let parent = (at - 1) >> 1; at > 0 && this.#times[parent]! > expiresAt; parent = (at - 1) >> 1) {
      this.#move(parent, at)
      at = parent
    }
    this.#times[at] = expiresAt
    this.#facts[at * WORDS] = line
    this.#facts[at * WORDS + 1] = other
    this.#facts[at * WORDS + 2] = (link << LINK_SHIFT) | (isTuple ? TUPLE : 0)
  }

  /** Removes and returns the fact that expires first. O(log length). */
  pop(): FactNumbers {
    const first = this.#factAt(0)
    this.#length -= 1
    this.#sink(this.#length)
    return first
  }

  /**
   * Removes about half of the facts, those that expire last. Facts with the same expiration time are either
   * all kept or all removed. Returns the expiration time from which on no fact is kept.
   */
  keepFirstHalf(): number {
    const times = this.#times
    const length = this.#length
    const from = times.subarray(0, length).toSorted()[length >> 1]!
    this.#length = 0
    // The heap is rebuilt in place: a kept fact is written to a position that has already been read.
    for (let at = 0; at < length; at++) if (times[at]! < from) this.push(this.#factAt(at), times[at]!)
    this.#resize(Math.max(CAPACITY_MIN, 2 * this.#length))
    return from
  }

  clear(): void {
    this.#length = 0
    this.#resize(CAPACITY_MIN)
  }

  #factAt(at: number): FactNumbers {
    const facts = this.#facts
    const last = facts[at * WORDS + 2]!
    return {
      isTuple: (last & TUPLE) !== 0,
      line: facts[at * WORDS]!,
      other: facts[at * WORDS + 1]!,
      link: last >> LINK_SHIFT,
    }
  }

  /** Moves the fact at `from` to the top, and from there down to its position in the heap. */
  #sink(from: number): void {
    const times = this.#times
    const expiresAt = times[from]!
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= this.#length) break
      if (child + 1 < this.#length && times[child + 1]! < times[child]!) child += 1
      if (times[child]! >= expiresAt) break
      this.#move(child, at)
      at = child
    }
    this.#move(from, at)
  }

  #move(from: number, to: number): void {
    this.#times[to] = this.#times[from]!
    this.#facts.copyWithin(to * WORDS, from * WORDS, (from + 1) * WORDS)
  }

  #resize(capacity: number): void {
    const [times, facts] = [new Float64Array(capacity), new Int32Array(capacity * WORDS)]
    times.set(this.#times.subarray(0, this.#length))
    facts.set(this.#facts.subarray(0, this.#length * WORDS))
    this.#times = times
    this.#facts = facts
  }
}
