/**
 * Maps permissions to their numbers: sorted pairs of the hash of a permission's name and its number. If a
 * caller chooses names with equal hashes, looking up these names costs no more than looking up others.
 */
import { hashOfName } from './rule-code.ts'

/**
 * If at most this number of pairs have changed, they are inserted one by one. Otherwise all pairs are sorted.
 */
const PLACED_ONE_BY_ONE = 64

export class PermissionHashes {
  #words = new Int32Array(0)
  #length = 0
  readonly #added = new Map<number, number>()
  readonly #removed = new Map<number, number>()

  add(name: string, number: number): void {
    this.#added.set(number, hashOfName(name))
  }

  remove(name: string, number: number): void {
    // `words` does not contain numbers that were added after its last call.
    if (!this.#added.delete(number)) this.#removed.set(number, hashOfName(name))
  }

  /** Returns all pairs in one array. The next call modifies this array. */
  words(): Int32Array {
    if (this.#added.size + this.#removed.size > PLACED_ONE_BY_ONE) this.#sortAll()
    else {
      for (const [number, hash] of this.#removed) this.#takeOut(number, hash)
      for (const [number, hash] of this.#added) this.#insert(number, hash)
    }
    this.#added.clear()
    this.#removed.clear()
    return this.#words.subarray(0, this.#length)
  }

  #sortAll(): void {
    const pairs: { hash: number; number: number }[] = []
    for (let at = 0; at < this.#length; at += 2) {
      const [hash, number] = [this.#words[at]!, this.#words[at + 1]!]
      if (!this.#removed.has(number)) pairs.push({ hash, number })
    }
    for (const [number, hash] of this.#added) pairs.push({ hash, number })
    pairs.sort((one, other) => one.hash - other.hash)
    this.#words = Int32Array.from(pairs.flatMap(({ hash, number }) => [hash, number]))
    this.#length = this.#words.length
  }

  #takeOut(number: number, hash: number): void {
    let at = this.#firstOf(hash)
    while (this.#words[at + 1] !== number) at += 2
    this.#words.copyWithin(at, at + 2, this.#length)
    this.#length -= 2
  }

  #insert(number: number, hash: number): void {
    if (this.#length + 2 > this.#words.length) {
      const larger = new Int32Array(2 * this.#length + 16)
      larger.set(this.#words.subarray(0, this.#length))
      this.#words = larger
    }
    const at = this.#firstOf(hash)
    this.#words.copyWithin(at + 2, at, this.#length)
    this.#words[at] = hash
    this.#words[at + 1] = number
    this.#length += 2
  }

  /** Returns the position of the first pair with this hash, or the position at which it would be inserted. */
  #firstOf(hash: number): number {
    let from = 0
    for (let to = this.#length / 2; from < to;) {
      const middle = (from + to) >>> 1
      if (this.#words[2 * middle]! < hash) from = middle + 1
      else to = middle
    }
    return 2 * from
  }
}
