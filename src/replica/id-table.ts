/**
 * Maps ids to values, for millions of ids: an open-addressing hash table over the bytes of the ids. Ids are
 * random, so their bytes serve as the hash. A lookup allocates nothing, and nearly always reads one slot and
 * one id. A `Map` would require a string to be created for each lookup.
 */

const ID_BYTES = 16
/** Minimum number of slots per id. */
const SLOTS_PER_ID = 2

export class IdTable<Value> {
  /** Each slot contains the number of an entry plus 1; 0 means that the slot is free. */
  #slots = new Uint32Array(1_024)
  #ids = new Uint8Array(ID_BYTES * 512)
  readonly #values: Value[] = []

  /** Sets the value of an id and replaces an earlier value. `at` is the offset of the id in `bytes`. */
  set(bytes: Uint8Array, at: number, value: Value): void {
    if ((this.#values.length + 1) * SLOTS_PER_ID > this.#slots.length) this.#grow()
    const slot = this.#slotOf(bytes, at)
    const found = this.#slots[slot]!
    if (found !== 0) {
      this.#values[found - 1] = value
      return
    }
    this.#ids.set(bytes.subarray(at, at + ID_BYTES), this.#values.length * ID_BYTES)
    this.#values.push(value)
    this.#slots[slot] = this.#values.length
  }

  /** Returns the value of the id at offset `at`. */
  get(bytes: Uint8Array, at: number): Value | undefined {
    const found = this.#slots[this.#slotOf(bytes, at)]!
    return found === 0 ? undefined : this.#values[found - 1]
  }

  values(): Iterable<Value> {
    return this.#values
  }

  /** Slot of the id, or the free slot where it would be inserted. */
  #slotOf(bytes: Uint8Array, at: number): number {
    const mask = this.#slots.length - 1
    // The last bytes of a UUID are random in every version.
    let slot =
      (bytes[at + 12]! | (bytes[at + 13]! << 8) | (bytes[at + 14]! << 16) | (bytes[at + 15]! << 24)) & mask
    for (;;) {
      const found = this.#slots[slot]!
      if (found === 0 || this.#isAt((found - 1) * ID_BYTES, bytes, at)) return slot
      slot = (slot + 1) & mask
    }
  }

  #isAt(start: number, bytes: Uint8Array, at: number): boolean {
    const ids = this.#ids
    for (let index = ID_BYTES - 1; index >= 0; index -= 1) {
      if (ids[start + index] !== bytes[at + index]) return false
    }
    return true
  }

  #grow(): void {
    const ids = new Uint8Array(this.#ids.length * 2)
    ids.set(this.#ids)
    this.#ids = ids
    this.#slots = new Uint32Array(this.#slots.length * 2)
    for (let number = 1; number <= this.#values.length; number += 1) {
      this.#slots[this.#slotOf(this.#ids, (number - 1) * ID_BYTES)] = number
    }
  }
}
