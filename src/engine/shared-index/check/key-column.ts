/**
 * Looks up the keys of one kind in stages: the user keys or the instance keys of a batch.
 *
 * The stages only support ASCII keys of up to 36 bytes. Other keys are marked as unclear, and their queries
 * are decided individually. The stages read without the lock, so their results are valid only after
 * validation.
 */
import type { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { firstSlot, hasTag, lineOf, slotWithTag } from '#engine/shared-index/memory/string-table.ts'

// These constants are destructured so that the compiler treats them as constants. Constants of another module
// would be loaded on each use.
const {
  FLAG_EXTERNAL,
  IDENTITY_MASK,
  KEY_BYTES_MASK,
  KEY_BYTES_MAX,
  KEY_BYTES_SHIFT,
  LINE_WORDS_LOG2,
  R_KEY,
  R_KEY_WORDS,
  TYPE_SHIFT,
  WORD_BYTES,
} = L

/**
 * Number of queries per batch: enough that cache misses overlap, while all scratch memory stays in the L1
 * cache.
 */
export const BATCH_MAX = 128

const KEY_WORDS = R_KEY_WORDS
const KEY_BYTES = KEY_WORDS * WORD_BYTES

/** The keys of one kind in a batch: user keys or instance keys. */
export class KeyColumn {
  /** Line of each query's record; 0 if the key is unknown or absent. */
  readonly lines = new Int32Array(BATCH_MAX)
  /** 1 if the stages cannot decide which record has the key. */
  readonly isUnclear = new Uint8Array(BATCH_MAX)
  readonly #hashes = new Int32Array(BATCH_MAX)
  /** Type and key length of each query's key; 0 if the query has no key to look up. */
  readonly #identities = new Int32Array(BATCH_MAX)
  /**
   * Address of the first slot for each query's key. If the query has no key to look up, 0, which is never the
   * address of a slot.
   */
  readonly #slots = new Int32Array(BATCH_MAX)
  readonly #words = new Int32Array(BATCH_MAX * KEY_WORDS)
  readonly #key: Key

  constructor(key: Key) {
    this.#key = key
  }

  /** Marks a query without a key of this kind. The line of this query is 0. */
  skip(index: number): void {
    this.isUnclear[index] = 0
    this.#slots[index] = 0
  }

  read(header: Int32Array, index: number, text: string, type: number): void {
    this.skip(index)
    if (text.length === 0) return
    if (text.length <= KEY_BYTES && this.#key.readAscii(text, type, this.#words, index * KEY_WORDS)) {
      this.#lookUp(header, index, type)
    } else this.isUnclear[index] = 1
  }

  /** Like `read`, but the key is given as bytes of a body (`Key.readBytes`). */
  readBytes(
    header: Int32Array,
    index: number,
    bytes: DataView,
    at: number,
    length: number,
    type: number,
  ): void {
    this.skip(index)
    // No stored key is this long. Therefore the lookup fails without creating a string.
    if (length > KEY_BYTES_MAX) return
    if (length <= KEY_BYTES) {
      this.#key.readBytes(bytes, at, length, type, this.#words, index * KEY_WORDS)
      this.#lookUp(header, index, type)
    } else this.isUnclear[index] = 1
  }

  #lookUp(header: Int32Array, index: number, type: number): void {
    const { hash, bytes } = this.#key
    this.#hashes[index] = hash
    this.#identities[index] = (type << TYPE_SHIFT) | (bytes << KEY_BYTES_SHIFT)
    this.#slots[index] = firstSlot(header, hash)
  }

  /** Stage: prefetches the first slot of each key. */
  prefetchSlots({ graph }: Regions, count: number): number {
    const slots = this.#slots
    let sink = 0
    for (let i = 0; i < count; i++) sink ^= graph[slots[i]!]!
    return sink
  }

  /** Stage: finds the first slot whose tag matches the key. `verify` then compares the key of its record. */
  probe(regions: Regions, count: number): void {
    const { graph } = regions
    const { lines } = this
    const slots = this.#slots
    const hashes = this.#hashes
    for (let i = 0; i < count; i++) {
      const first = slots[i]!
      const isFirst = first === 0 || hasTag(graph[first]!, graph[first + 1]!, hashes[i]!)
      const slot = isFirst ? first : slotWithTag(regions, hashes[i]!)
      // If the first slot is 0, this reads word 0, which is always empty.
      lines[i] = lineOf(graph[slot]!)
    }
  }

  /** Stage: prefetches the record of each key. */
  prefetchRecords({ graph }: Regions, count: number): number {
    const { lines } = this
    let sink = 0
    for (let i = 0; i < count; i++) sink ^= graph[lines[i]! << LINE_WORDS_LOG2]!
    return sink
  }

  /**
   * Stage: compares each key with the key of the record that was found. If the keys differ although their
   * hashes are equal, the query is decided individually.
   */
  verify({ graph }: Regions, count: number): void {
    const { lines, isUnclear } = this
    const identities = this.#identities
    const words = this.#words
    for (let i = 0; i < count; i++) {
      if (lines[i] === 0) continue
      const record = lines[i]! << LINE_WORDS_LOG2
      const identity = identities[i]!
      // A key that is stored outside its record costs another cache miss. Such keys are rare, so their
      // queries are decided individually.
      let difference = (graph[record]! & (IDENTITY_MASK | FLAG_EXTERNAL)) ^ identity
      const wordCount = (((identity >>> KEY_BYTES_SHIFT) & KEY_BYTES_MASK) + 3) >>> 2
      const from = i * KEY_WORDS
      for (let at = 0; at < wordCount; at++) {
        difference |= graph[record + R_KEY + at]! ^ words[from + at]!
      }
      if (difference !== 0) isUnclear[i] = 1
    }
  }
}
