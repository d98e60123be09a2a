/**
 * Many short byte strings in few large buffers outside the JavaScript heap. They can be ordered by a key inside them or by
 * a number that belongs to each. An item takes 26 bytes besides its own, and 12 more while the items are ordered.
 */
const CHUNK_BYTES = 16 * 1024 * 1024
const PREFIX_BYTES = 6

export interface PackedItem {
  readonly bytes: Uint8Array
  /** Where the key begins in the bytes. */
  readonly keyStart: number
  readonly keyEnd: number
  readonly rank: number
}

export class PackedItems {
  readonly #chunks: Buffer[] = []
  #chunkUsed = CHUNK_BYTES
  #count = 0
  /** Where each item begins, as chunk and offset in one number. */
  #places = new Float64Array(1_024)
  #lengths = new Uint32Array(1_024)
  #keyStarts = new Uint16Array(1_024)
  #keyEnds = new Uint32Array(1_024)
  #ranks = new Float64Array(1_024)

  get count(): number {
    return this.#count
  }

  add({ bytes, keyStart, keyEnd, rank }: PackedItem): void {
    if (this.#count === this.#places.length) this.#grow()
    const index = this.#count++
    this.#places[index] = this.#keep(bytes)
    this.#lengths[index] = bytes.length
    this.#keyStarts[index] = keyStart
    this.#keyEnds[index] = keyEnd
    this.#ranks[index] = rank
  }

  /** The bytes of an item, on the memory kept here. */
  bytes(index: number): Uint8Array {
    return this.#part(index, 0, this.#lengths[index]!)
  }

  key(index: number): Uint8Array {
    return this.#part(index, this.#keyStarts[index]!, this.#keyEnds[index]!)
  }

  rank(index: number): number {
    return this.#ranks[index]!
  }

  /**
   * The items' indices ordered by key, items with the same key by rank, and then as they came. O(n log n), mostly over
   * numbers.
   */
  byKey(): Uint32Array {
    const prefixes = new Float64Array(this.#count)
    for (let index = 0; index < this.#count; index += 1) prefixes[index] = this.#prefix(index)
    return this.#indices().toSorted(
      (one, other) =>
        prefixes[one]! - prefixes[other]! ||
        this.#compareKeys(one, other, PREFIX_BYTES) ||
        this.#ranks[one]! - this.#ranks[other]! ||
        one - other,
    )
  }

  /**
   * The first bytes of the key as a number, as if zeros followed the key. Made without a view of the key: there would be
   * millions of views.
   */
  #prefix(index: number): number {
    const place = this.#places[index]!
    const start = place % CHUNK_BYTES
    const chunk = this.#chunks[(place - start) / CHUNK_BYTES]!
    const [from, end] = [start + this.#keyStarts[index]!, start + this.#keyEnds[index]!]
    let prefix = 0
    for (let at = from; at < from + PREFIX_BYTES; at += 1) prefix = prefix * 256 + (at < end ? chunk[at]! : 0)
    return prefix
  }

  /** The items' indices by rank. */
  byRank(): Uint32Array {
    return this.#indices().toSorted((one, other) => this.#ranks[one]! - this.#ranks[other]! || one - other)
  }

  hasSameKey(one: number, other: number): boolean {
    return this.#compareKeys(one, other, 0) === 0
  }

  #indices(): Uint32Array {
    const indices = new Uint32Array(this.#count)
    for (let index = 0; index < indices.length; index += 1) indices[index] = index
    return indices
  }

  /**
   * Compares two keys from byte `from` on: the bytes before are known to be the same. Byte by byte, since a call into the
   * library costs more than the few bytes that neighbouring keys share.
   */
  #compareKeys(one: number, other: number, from: number): number {
    const [onePlace, otherPlace] = [this.#places[one]!, this.#places[other]!]
    const oneStart = onePlace % CHUNK_BYTES
    const otherStart = otherPlace % CHUNK_BYTES
    const oneChunk = this.#chunks[(onePlace - oneStart) / CHUNK_BYTES]!
    const otherChunk = this.#chunks[(otherPlace - otherStart) / CHUNK_BYTES]!
    const oneKey = oneStart + this.#keyStarts[one]!
    const otherKey = otherStart + this.#keyStarts[other]!
    const oneLength = this.#keyEnds[one]! - this.#keyStarts[one]!
    const otherLength = this.#keyEnds[other]! - this.#keyStarts[other]!
    const common = Math.min(oneLength, otherLength)
    for (let at = from; at < common; at += 1) {
      const difference = oneChunk[oneKey + at]! - otherChunk[otherKey + at]!
      if (difference !== 0) return difference
    }
    return oneLength - otherLength
  }

  #part(index: number, from: number, to: number): Uint8Array {
    const place = this.#places[index]!
    const start = place % CHUNK_BYTES
    return this.#chunks[(place - start) / CHUNK_BYTES]!.subarray(start + from, start + to)
  }

  #keep(bytes: Uint8Array): number {
    if (this.#chunkUsed + bytes.length > CHUNK_BYTES) {
      // An item that is too long for a chunk has a longer chunk to itself.
      this.#chunks.push(Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes.length)))
      this.#chunkUsed = 0
    }
    const start = this.#chunkUsed
    this.#chunks.at(-1)!.set(bytes, start)
    this.#chunkUsed = Math.min(CHUNK_BYTES, start + bytes.length)
    return (this.#chunks.length - 1) * CHUNK_BYTES + start
  }

  #grow(): void {
    const size = this.#places.length * 2
    this.#places = grown(this.#places, new Float64Array(size))
    this.#lengths = grown(this.#lengths, new Uint32Array(size))
    this.#keyStarts = grown(this.#keyStarts, new Uint16Array(size))
    this.#keyEnds = grown(this.#keyEnds, new Uint32Array(size))
    this.#ranks = grown(this.#ranks, new Float64Array(size))
  }
}

function grown<Numbers extends Float64Array | Uint32Array | Uint16Array>(
  from: Numbers,
  to: Numbers,
): Numbers {
  to.set(from)
  return to
}
