/**
 * Stores many short byte strings in few large buffers outside the JavaScript heap. They can be sorted by a
 * key inside each item or by a rank. An item takes 26 bytes in addition to its own bytes, and 12 more during
 * a sort.
 */
const CHUNK_BYTES = 16 * 1024 * 1024
/**
 * Number of key bytes that are compared at a time. A number combines these bytes with the index of the item.
 */
const WORD_BYTES = 4
/** A group with at most this number of items is sorted by comparing the keys. */
const COMPARED_ITEMS = 12

export interface PackedItem {
  readonly bytes: Uint8Array
  /** Offset of the key in the bytes. */
  readonly keyStart: number
  readonly keyEnd: number
  readonly rank: number
}

/** A range of the current order whose items have the same bytes before `at`. */
interface ItemRange {
  readonly from: number
  readonly end: number
  readonly at: number
}

export class PackedItems {
  readonly #chunks: Uint8Array[] = []
  #chunkUsed = CHUNK_BYTES
  #count = 0
  /** Start of each item. The number combines the chunk and the offset in the chunk. */
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

  /** Returns the bytes of an item. They share memory with this object. */
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
   * Returns the indices of the items sorted by key; items with equal keys are sorted by rank, and then by
   * insertion. Groups of items are sorted by four bytes at a time, as numbers. Bytes that the whole group
   * shares are skipped. O(bytes in which keys differ).
   */
  byKey(): Uint32Array {
    const order = this.#indices()
    const words = new BigUint64Array(this.#count)
    const halves = new Uint32Array(words.buffer)
    const groups = [{ from: 0, end: order.length, at: 0 }]
    for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
      const { from, end } = group
      const at = end - from > COMPARED_ITEMS ? this.#commonEnd(order, group) : null
      if (at === null) {
        this.#orderByComparing(order.subarray(from, end), group.at)
        continue
      }
      for (let index = from; index < end; index += 1) {
        // The low half of a 64-bit number comes first in memory.
        halves[2 * index] = order[index]!
        halves[2 * index + 1] = this.#word(order[index]!, at)
      }
      words.subarray(from, end).sort()
      let start = from
      for (let index = from; index < end; index += 1) {
        order[index] = halves[2 * index]!
        if (index + 1 < end && halves[2 * index + 3] === halves[2 * index + 1]) continue
        if (index > start) groups.push({ from: start, end: index + 1, at: at + WORD_BYTES })
        start = index + 1
      }
    }
    return order
  }

  /**
   * Returns the length of the common prefix of the keys of a group, whose bytes before `at` are known to be
   * equal. Returns null if one of the keys ends after this prefix.
   */
  #commonEnd(order: Uint32Array, { from, end, at }: ItemRange): number | null {
    const first = order[from]!
    let common = Infinity
    for (let index = from; index < end; index += 1) {
      common = Math.min(common, this.#keyEnds[order[index]!]! - this.#keyStarts[order[index]!]!)
    }
    const shortest = common
    const firstChunk = this.#chunkOf(first)
    const firstKey = this.#keyAt(first)
    for (let index = from + 1; index < end; index += 1) {
      const chunk = this.#chunkOf(order[index]!)
      const key = this.#keyAt(order[index]!)
      let same = at
      while (same < common && chunk[key + same] === firstChunk[firstKey + same]) same += 1
      common = same
    }
    return common < shortest ? common : null
  }

  /** Returns four bytes of a key as a number. Bytes after the end of the key count as zero. */
  #word(index: number, at: number): number {
    const chunk = this.#chunkOf(index)
    const key = this.#keyAt(index)
    const length = this.#keyEnds[index]! - this.#keyStarts[index]!
    let word = 0
    for (let byte = at; byte < at + WORD_BYTES; byte += 1) {
      word = (word << 8) | (byte < length ? chunk[key + byte]! : 0)
    }
    return word
  }

  #orderByComparing(items: Uint32Array, at: number): void {
    const compare = (one: number, other: number): number =>
      this.#compareKeys(one, other, at) || this.#ranks[one]! - this.#ranks[other]! || one - other
    if (items.length > COMPARED_ITEMS) {
      items.sort(compare)
      return
    }
    for (let next = 1; next < items.length; next += 1) {
      const item = items[next]!
      let place = next
      while (place > 0 && compare(items[place - 1]!, item) > 0) {
        items[place] = items[place - 1]!
        place -= 1
      }
      items[place] = item
    }
  }

  /** Returns the indices of the items sorted by rank. */
  byRank(): Uint32Array {
    const indices = this.#indices()
    if (this.#isInRankOrder()) return indices
    return indices.toSorted((one, other) => this.#ranks[one]! - this.#ranks[other]! || one - other)
  }

  /** Whether the items were added in the order of their ranks, as most callers do. */
  #isInRankOrder(): boolean {
    for (let index = 1; index < this.#count; index += 1) {
      if (this.#ranks[index]! < this.#ranks[index - 1]!) return false
    }
    return true
  }

  /** Whether two keys are equal, without their last `lastBytes` bytes. */
  haveSameKey(one: number, other: number, lastBytes = 0): boolean {
    const length = this.#keyEnds[one]! - this.#keyStarts[one]!
    if (this.#keyEnds[other]! - this.#keyStarts[other]! !== length) return false
    const oneChunk = this.#chunkOf(one)
    const otherChunk = this.#chunkOf(other)
    const oneKey = this.#keyAt(one)
    const otherKey = this.#keyAt(other)
    for (let at = length - lastBytes - 1; at >= 0; at -= 1) {
      if (oneChunk[oneKey + at] !== otherChunk[otherKey + at]) return false
    }
    return true
  }

  #indices(): Uint32Array {
    const indices = new Uint32Array(this.#count)
    for (let index = 0; index < indices.length; index += 1) indices[index] = index
    return indices
  }

  /**
   * Compares two keys from byte `from` on, given that the previous bytes are equal. The comparison is done
   * byte by byte, because a library call costs more than the few bytes that neighboring keys share.
   */
  #compareKeys(one: number, other: number, from: number): number {
    const oneChunk = this.#chunkOf(one)
    const otherChunk = this.#chunkOf(other)
    const oneKey = this.#keyAt(one)
    const otherKey = this.#keyAt(other)
    const oneLength = this.#keyEnds[one]! - this.#keyStarts[one]!
    const otherLength = this.#keyEnds[other]! - this.#keyStarts[other]!
    const common = Math.min(oneLength, otherLength)
    for (let at = from; at < common; at += 1) {
      const difference = oneChunk[oneKey + at]! - otherChunk[otherKey + at]!
      if (difference !== 0) return difference
    }
    return oneLength - otherLength
  }

  #chunkOf(index: number): Uint8Array {
    return this.#chunks[Math.floor(this.#places[index]! / CHUNK_BYTES)]!
  }

  /** Returns the offset of the key of an item in its chunk. */
  #keyAt(index: number): number {
    return (this.#places[index]! % CHUNK_BYTES) + this.#keyStarts[index]!
  }

  #part(index: number, from: number, to: number): Uint8Array {
    const place = this.#places[index]!
    const start = place % CHUNK_BYTES
    return this.#chunks[(place - start) / CHUNK_BYTES]!.subarray(start + from, start + to)
  }

  #keep(bytes: Uint8Array): number {
    if (this.#chunkUsed + bytes.length > CHUNK_BYTES) {
      // An item that is too long for a chunk gets its own longer chunk. The chunk is not a `Buffer`, because
      // creating views of a `Buffer` takes several times as long.
      const { buffer } = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes.length))
      this.#chunks.push(new Uint8Array(buffer))
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
