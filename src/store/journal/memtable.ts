/**
 * Changed entries of a store's tables in memory: one arena of bytes and several typed arrays. The garbage
 * collector has nothing to scan or move, regardless of the number of entries. The arena is identical to the
 * segment of the journal (`journal-format.ts`).
 *
 * Changes are numbered in order. A hash table maps a key to its newest change, and each change to the
 * previous one in the same bucket. Therefore the number of changes at some moment identifies a snapshot:
 * readers of the snapshot skip newer changes. The sorted order of the keys of a table is updated only when a
 * reader needs it.
 */
import { crc32 } from 'node:zlib'
import { assert } from '#model/assert.ts'
import {
  BATCH,
  CHANGE_HEAD_BYTES,
  encodeBatchNote,
  encodeSegmentHead,
  GENERATION_BYTES,
  NOTE_BYTES_MAX,
  RECORD_HEAD_BYTES,
  REMOVED,
  SEGMENT_HEAD_BYTES,
  TABLE_NAME,
} from './journal-format.ts'
import { RowKeyOrder } from './key-order.ts'

const ARENA_BYTES_MIN = 65_536
const CHANGES_MIN = 1_024
const NONE = -1

/** A change: the new state of an entry. `value` is null if the entry was removed. */
export interface TableChange {
  readonly table: number
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

export interface MemtableOptions {
  readonly generation: number
  readonly lineage: Uint8Array
  /** End of the segment before the segment of these changes. */
  readonly previousEndBytes: number
  /** Names of tables by their numbers. The owner can append names. */
  readonly tableNames: readonly string[]
}

export class Memtable {
  readonly generation: number
  readonly #lineage: Uint8Array
  readonly #previousEndBytes: number
  readonly #tableNames: readonly string[]
  #bytes = Buffer.allocUnsafeSlow(ARENA_BYTES_MIN)
  #end = SEGMENT_HEAD_BYTES
  #count = 0
  /** Offset of each change in the arena. */
  #offsets = new Int32Array(CHANGES_MIN)
  /** Hash of the key of each change, and the previous change in the same bucket. */
  #hashes = new Int32Array(CHANGES_MIN)
  #earlier = new Int32Array(CHANGES_MIN)
  /** Newest change of each bucket; the number of buckets is a power of 2. */
  #buckets = new Int32Array(2 * CHANGES_MIN).fill(NONE)
  /** Offset in the arena of the name of each table, by the number of the table. */
  readonly #namedAt: number[] = []
  readonly #orders: (RowKeyOrder | undefined)[] = []
  /**
   * Start of the record that is being written, and the number of changes before this record. Null if no
   * record is being written.
   */
  #record: { readonly start: number; readonly count: number } | null = null

  constructor({ generation, lineage, previousEndBytes, tableNames }: MemtableOptions) {
    this.generation = generation
    this.#lineage = lineage
    this.#previousEndBytes = previousEndBytes
    this.#tableNames = tableNames
    this.#bytes.set(encodeSegmentHead(generation, lineage))
  }

  /** Number of changes. It identifies a snapshot for `get` and `some`. */
  get count(): number {
    return this.#count
  }

  /** Number of bytes that the segment has so far. */
  get endBytes(): number {
    return this.#end
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /**
   * Begins a record. `beginsBatch` states that all earlier records are on disk before this one is written. It
   * must be true for the first record of a segment.
   */
  beginRecord(beginsBatch: boolean): void {
    assert(this.#record === null, 'one record is written at a time')
    const start = this.#end
    this.#record = { start, count: this.#count }
    this.#reserve(RECORD_HEAD_BYTES + GENERATION_BYTES + NOTE_BYTES_MAX)
    this.#bytes.writeUIntBE(this.generation, start + RECORD_HEAD_BYTES, GENERATION_BYTES)
    this.#end += RECORD_HEAD_BYTES + GENERATION_BYTES
    if (!beginsBatch) return
    const note = encodeBatchNote(this.#lineage, start === SEGMENT_HEAD_BYTES ? this.#previousEndBytes : null)
    this.#bytes.set(note, this.#end)
    this.#end += note.length
  }

  /** Ends the record. Returns its start. If nothing was changed, discards the record and returns null. */
  endRecord(): number | null {
    const { start, count } = this.#takeRecord()
    if (this.#count === count) {
      this.#end = start
      return null
    }
    const payload = start + RECORD_HEAD_BYTES
    this.#bytes.writeUInt32BE(this.#end - payload, start)
    this.#bytes.writeUInt32BE(crc32(this.#bytes.subarray(payload, this.#end)), start + 4)
    return start
  }

  /** Discards the record that is being written. */
  abortRecord(): void {
    const { start, count } = this.#takeRecord()
    this.#cutTo(start, count)
  }

  /** Removes the last record, which began at `start` after `count` changes. Returns its changes. */
  takeBack(start: number, count: number): TableChange[] {
    const changes = Array.from({ length: this.#count - count }, (_, index) => this.#changeAt(count + index))
    this.#cutTo(start, count)
    return changes
  }

  /** Returns the bytes of the segment between two offsets. These bytes do not change any more. */
  bytes(start: number, end: number): Uint8Array {
    return this.#bytes.subarray(start, end)
  }

  put(table: number, key: Uint8Array, value: Uint8Array | null): void {
    this.#nameTable(table)
    const valueLength = value?.length ?? 0
    this.#reserve(CHANGE_HEAD_BYTES + key.length + valueLength)
    const offset = this.#end
    const bytes = this.#bytes
    bytes[offset] = table
    bytes[offset + 1] = key.length >>> 8
    bytes[offset + 2] = key.length
    bytes.writeUInt32BE(value === null ? REMOVED : valueLength, offset + 3)
    bytes.set(key, offset + CHANGE_HEAD_BYTES)
    if (value !== null) bytes.set(value, offset + CHANGE_HEAD_BYTES + key.length)
    this.#end = offset + CHANGE_HEAD_BYTES + key.length + valueLength
    this.#enter(offset, hashOf(table, key))
  }

  /**
   * Returns the value of the key after the first `upTo` changes. Returns null if the entry was removed, and
   * undefined if it has no change.
   */
  get(table: number, key: Uint8Array, upTo: number): Uint8Array | null | undefined {
    const change = this.#find(table, key, upTo)
    return change === NONE ? undefined : this.#valueOf(change)
  }

  /**
   * Returns at most `countMax` changed entries of a table from `start` to `end` (exclusive), after the first
   * `upTo` changes. If `isAfter` is true, omits the entry with the key `start`.
   */
  some(
    table: number,
    range: { readonly start: Uint8Array; readonly end: Uint8Array | null; readonly isAfter: boolean },
    countMax: number,
    upTo: number,
  ): [key: Uint8Array, value: Uint8Array | null][] {
    const { start, end, isAfter } = range
    const found: [key: Uint8Array, value: Uint8Array | null][] = []
    for (const first of this.#order(table).from(start, isAfter)) {
      if (end !== null && this.#compare(first, end) >= 0) break
      const key = this.#keyOf(first)
      const change = this.#find(table, key, upTo)
      if (change === NONE) continue
      found.push([Buffer.from(key), this.#valueOf(change)])
      if (found.length === countMax) break
    }
    return found
  }

  /**
   * Whether a table has changed entries from `start` to `end` (exclusive), in any snapshot. O(log changes).
   */
  touches(table: number, start: Uint8Array, end: Uint8Array | null): boolean {
    for (const first of this.#order(table).from(start, false)) {
      return end === null || this.#compare(first, end) < 0
    }
    return false
  }

  #takeRecord(): { readonly start: number; readonly count: number } {
    const record = this.#record
    assert(record !== null, 'a record is begun before it ends')
    this.#record = null
    return record
  }

  /**
   * Writes the name of a table to the segment, unless the segment already contains it. The name must precede
   * the first change of the table.
   */
  #nameTable(table: number): void {
    if (this.#namedAt[table] !== undefined) return
    const name = this.#tableNames[table]!
    assert(table < BATCH && name.length < 256, 'a table has a short name, and a number of a byte')
    this.#reserve(3 + name.length)
    this.#namedAt[table] = this.#end
    this.#bytes[this.#end] = TABLE_NAME
    this.#bytes[this.#end + 1] = table
    this.#bytes[this.#end + 2] = name.length
    this.#end += 3 + this.#bytes.write(name, this.#end + 3, 'latin1')
  }

  #enter(offset: number, hash: number): void {
    const change = this.#count
    if (change === this.#offsets.length) this.#growNumbers()
    const bucket = hash & (this.#buckets.length - 1)
    this.#offsets[change] = offset
    this.#hashes[change] = hash
    this.#earlier[change] = this.#buckets[bucket]!
    this.#buckets[bucket] = change
    this.#count += 1
  }

  #cutTo(end: number, count: number): void {
    for (let change = this.#count - 1; change >= count; change -= 1) {
      // The removed change is the newest one of the memtable, so it is also the newest one of its bucket.
      this.#buckets[this.#hashes[change]! & (this.#buckets.length - 1)] = this.#earlier[change]!
    }
    this.#count = count
    this.#end = end
    for (const [table, at] of this.#namedAt.entries()) if (at >= end) delete this.#namedAt[table]
    for (const order of this.#orders) order?.cutTo(count)
  }

  #find(table: number, key: Uint8Array, upTo: number): number {
    const hash = hashOf(table, key)
    let change = this.#buckets[hash & (this.#buckets.length - 1)]!
    while (change !== NONE) {
      if (change < upTo && this.#hashes[change] === hash && this.#has(change, table, key)) return change
      change = this.#earlier[change]!
    }
    return NONE
  }

  #has(change: number, table: number, key: Uint8Array): boolean {
    const bytes = this.#bytes
    const offset = this.#offsets[change]!
    if (bytes[offset] !== table || ((bytes[offset + 1]! << 8) | bytes[offset + 2]!) !== key.length)
      return false
    const from = offset + CHANGE_HEAD_BYTES
    for (let index = 0; index < key.length; index += 1) if (bytes[from + index] !== key[index]) return false
    return true
  }

  /**
   * Compares the key of a change with the given key. The result is below zero if the key of the change comes
   * first.
   */
  #compare(change: number, key: Uint8Array): number {
    const bytes = this.#bytes
    const offset = this.#offsets[change]!
    const length = (bytes[offset + 1]! << 8) | bytes[offset + 2]!
    const from = offset + CHANGE_HEAD_BYTES
    const common = Math.min(length, key.length)
    for (let index = 0; index < common; index += 1) {
      const difference = bytes[from + index]! - key[index]!
      if (difference !== 0) return difference
    }
    return length - key.length
  }

  /** Returns the key of a change. The key shares memory with the arena. */
  #keyOf(change: number): Uint8Array {
    const offset = this.#offsets[change]!
    const start = offset + CHANGE_HEAD_BYTES
    return this.#bytes.subarray(start, start + this.#bytes.readUInt16BE(offset + 1))
  }

  /** Returns the value of a change, as a copy, or null if the change is a removal. */
  #valueOf(change: number): Uint8Array | null {
    const offset = this.#offsets[change]!
    const length = this.#bytes.readUInt32BE(offset + 3)
    if (length === REMOVED) return null
    const start = offset + CHANGE_HEAD_BYTES + this.#bytes.readUInt16BE(offset + 1)
    const value = Buffer.allocUnsafe(length)
    this.#bytes.copy(value, 0, start, start + length)
    return value
  }

  #changeAt(change: number): TableChange {
    const table = this.#bytes[this.#offsets[change]!]!
    return { table, key: Buffer.from(this.#keyOf(change)), value: this.#valueOf(change) }
  }

  /** Returns the order of the keys of a table, including all changes. */
  #order(table: number): RowKeyOrder {
    const order = (this.#orders[table] ??= new RowKeyOrder((change, key) => this.#compare(change, key)))
    for (let change = order.level; change < this.#count; change += 1) {
      if (this.#bytes[this.#offsets[change]!] !== table) continue
      const key = this.#keyOf(change)
      if (this.#find(table, key, change) === NONE) order.add(change, key)
    }
    order.level = this.#count
    return order
  }

  #reserve(bytes: number): void {
    const needed = this.#end + bytes
    if (needed <= this.#bytes.length) return
    let length = this.#bytes.length
    while (length < needed) length *= 2
    const larger = Buffer.allocUnsafeSlow(length)
    this.#bytes.copy(larger, 0, 0, this.#end)
    this.#bytes = larger
  }

  #growNumbers(): void {
    const length = 2 * this.#offsets.length
    const grown = (numbers: Int32Array) => {
      const larger = new Int32Array(length)
      larger.set(numbers)
      return larger
    }
    this.#offsets = grown(this.#offsets)
    this.#hashes = grown(this.#hashes)
    this.#earlier = grown(this.#earlier)
    this.#buckets = new Int32Array(2 * length).fill(NONE)
    for (let change = 0; change < this.#count; change += 1) {
      const bucket = this.#hashes[change]! & (this.#buckets.length - 1)
      this.#earlier[change] = this.#buckets[bucket]!
      this.#buckets[bucket] = change
    }
  }
}

/** FNV-1a. Its high bits are mixed into the low ones, which select the bucket. */
function hashOf(table: number, key: Uint8Array): number {
  let hash = 0x811c9dc5 ^ table
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key[index]!, 0x01000193)
  return hash ^ (hash >>> 15)
}
