/**
 * Finds the line of a record by (type, key). The table uses open addressing. It has 256 partitions, which the
 * top bits of the hash select, so that growing one partition takes little time. Keys are always compared byte
 * by byte.
 *
 *   header   [ptr, meta] × 256  ─►  graph  │ slot │ slot │ 0 0 │ slot │…   2^k slots, at most 3/4 used
 *
 *   slot     │ 6 bits of the hash │ line │ 6 bits of the hash │ next line │      line 0: free
 *
 * A slot has 12 bits of the hash as a tag, so only one wrong slot in 4,096 leads to an unnecessary read of a
 * record. *Next* is the line that is needed after the record: the target of an instance's in-edges, or the
 * first line of a user's roles (`nextOf`). It is a hint for prefetching both lines together, so that most
 * checks wait for memory only twice. An outdated hint costs time, but results stay correct.
 *
 * Slots follow the order of the hash. A partition is therefore doubled in one ordered pass, and a deletion
 * shifts slots back. Both need whole hashes, which are recomputed from the keys in the records. Readers might
 * see torn words, so they bound every probe by the capacity.
 */
import { allocateZeroed, release } from './allocator.ts'
import { hashOf, type Key } from './key.ts'
import * as L from './layout.ts'
import { keyBytes, keyStart } from './records.ts'
import type { Regions } from './index-buffers.ts'

// These constants are destructured so that the compiler treats them as constants. Constants of another module
// would be loaded on each use.
const {
  COUNT_SHIFT,
  FLAG_EXTERNAL,
  H_HASH_MULTIPLIER,
  H_HASH_START,
  H_PARTITIONS,
  IDENTITY_MASK,
  INLINE,
  I_IN,
  KEY_BYTES_SHIFT,
  LINE_BITS,
  LINE_MASK,
  LINE_WORDS_LOG2,
  LOG2_MASK,
  PARTITION_BITS,
  PARTITION_COUNT,
  R_KEY,
  TYPE_SHIFT,
  USER_TYPE,
  U_ASSIGNMENTS,
} = L

const CAPACITY_LOG2_MIN = 2
/** Number of bits of the hash in each word of a slot. */
const TAG_BITS = 32 - LINE_BITS

/**
 * Returns the word of the first slot in which the key can be, or 0 if the partition is empty. O(1). Does not
 * read the slot, because that would probably be a cache miss.
 */
export function firstSlot(header: Int32Array, hash: number): number {
  const partition = H_PARTITIONS + ((hash >>> (32 - PARTITION_BITS)) << 1)
  const base = header[partition]!
  if (base === 0) return 0
  return base + (((hash << PARTITION_BITS) >>> (32 - (header[partition + 1]! & LOG2_MASK))) << 1)
}

/** Returns the line of the record with this key, or 0 if there is none. Expected O(1). */
export function find(regions: Regions, key: Key, type: number): number {
  const slot = slotWithTag(regions, key.hash)
  return slot === 0 ? 0 : recordFrom(regions, slot, key, type)
}

/**
 * Returns the word of the first slot whose tag matches this hash, or 0 if there is none. Expected O(1); reads
 * no record.
 */
export function slotWithTag({ header, graph }: Regions, hash: number): number {
  const partition = H_PARTITIONS + ((hash >>> (32 - PARTITION_BITS)) << 1)
  const base = header[partition]!
  if (base === 0) return 0
  const log2 = header[partition + 1]! & LOG2_MASK
  const mask = (1 << log2) - 1
  const start = homeOf(hash, log2)
  for (let probe = 0; probe <= mask; probe++) {
    const slot = base + (((start + probe) & mask) << 1)
    const first = graph[slot]!
    // A slot beyond the view reads as undefined, which counts as no line. Validation detects such a torn
    // read.
    if (lineOf(first) === 0) return 0
    if (hasTag(first, graph[slot + 1]!, hash)) return slot
  }
  return 0
}

/**
 * Returns the line of the record with this key, or 0 if there is none. Continues the search from a slot whose
 * tag matches.
 */
export function recordFrom(regions: Regions, slot: number, key: Key, type: number): number {
  const { graph } = regions
  const identity = (type << TYPE_SHIFT) | (key.bytes << KEY_BYTES_SHIFT)
  const line = lineOf(graph[slot]!)
  return isKeyOf(graph, line, key, identity) ? line : recordBehind(regions, slot, key, identity)
}

/**
 * Continues the search after a slot whose tag matches but whose record has another key. One slot in 4,096 is
 * such a slot. At most O(capacity), even if words are torn.
 */
function recordBehind({ header, graph }: Regions, slot: number, key: Key, identity: number): number {
  const { hash } = key
  const partition = H_PARTITIONS + ((hash >>> (32 - PARTITION_BITS)) << 1)
  const base = header[partition]!
  const mask = (1 << (header[partition + 1]! & LOG2_MASK)) - 1
  const start = (slot - base) >> 1
  for (let probe = 1; probe <= mask; probe++) {
    const next = base + (((start + probe) & mask) << 1)
    const first = graph[next]!
    const line = lineOf(first)
    if (line === 0) return 0
    if (hasTag(first, graph[next + 1]!, hash) && isKeyOf(graph, line, key, identity)) return line
  }
  return 0
}

/**
 * Returns the line in a word of a slot. In the first word, this is the line of the record; in the second
 * word, it is the next line.
 */
export function lineOf(word: number): number {
  return word & LINE_MASK
}

/** Returns whether the slot's tag matches the hash. */
export function hasTag(first: number, second: number, hash: number): boolean {
  return ((first ^ (hash << LINE_BITS)) | (second ^ ((hash >>> TAG_BITS) << LINE_BITS))) >>> LINE_BITS === 0
}

/**
 * Returns whether the record at `line` has this type, key length and key. Reads one line, or two if the key
 * is long.
 */
function isKeyOf(graph: Int32Array, line: number, key: Key, identity: number): boolean {
  const record = line << LINE_WORDS_LOG2
  const head = graph[record]!
  if ((head & IDENTITY_MASK) !== identity) return false
  const from = (head & FLAG_EXTERNAL) === 0 ? record + R_KEY : graph[record + R_KEY]! + 1
  const { words } = key
  const count = (key.bytes + 3) >>> 2
  for (let at = 0; at < count; at++) {
    if (graph[from + at] !== words[at]) return false
  }
  return true
}

/**
 * Adds a key that is not in the table. Expected O(1) amortized, because a partition is doubled from time to
 * time. Requires the lock and a critical section.
 */
export function insert(regions: Regions, hash: number, line: number): void {
  const { header } = regions
  const partition = H_PARTITIONS + ((hash >>> (32 - PARTITION_BITS)) << 1)
  const meta = header[partition + 1]!
  const count = meta >>> COUNT_SHIFT
  if (header[partition] === 0) resize(regions, partition, CAPACITY_LOG2_MIN)
  else if ((count + 1) * 4 > 3 << (meta & LOG2_MASK)) resize(regions, partition, (meta & LOG2_MASK) + 1)
  const { graph } = regions
  const at = freeSlot(graph, header[partition]!, header[partition + 1]! & LOG2_MASK, hash)
  graph[at] = line | (hash << LINE_BITS)
  graph[at + 1] = (hash >>> TAG_BITS) << LINE_BITS
  header[partition + 1] = header[partition + 1]! + (1 << COUNT_SHIFT)
}

/** Removes a key. Requires the lock and a critical section. O(slots up to the next free one). */
export function remove(regions: Regions, hash: number, line: number): void {
  const { header, graph } = regions
  const slot = slotOf(regions, hash, line)
  if (slot === 0) return
  const partition = H_PARTITIONS + ((hash >>> (32 - PARTITION_BITS)) << 1)
  const base = header[partition]!
  const log2 = header[partition + 1]! & LOG2_MASK
  const mask = (1 << log2) - 1
  let hole = (slot - base) >> 1
  for (let next = (hole + 1) & mask; ; next = (next + 1) & mask) {
    const at = base + (next << 1)
    if (graph[at] === 0) break
    const home = homeOf(hashOfRecord(regions, lineOf(graph[at]!)), log2)
    if (((next - home) & mask) < ((next - hole) & mask)) continue
    graph[base + (hole << 1)] = graph[at]!
    graph[base + (hole << 1) + 1] = graph[at + 1]!
    hole = next
  }
  graph[base + (hole << 1)] = 0
  graph[base + (hole << 1) + 1] = 0
  header[partition + 1] = header[partition + 1]! - (1 << COUNT_SHIFT)
  const count = header[partition + 1]! >>> COUNT_SHIFT
  if (count > 0) return
  release(regions, base, log2 + 1)
  header[partition] = 0
  header[partition + 1] = 0
}

/**
 * Updates the next line in the slot of a record after its in-edges (instance) or its roles (user) have
 * changed. Does nothing if the record is no longer in the table. Only the writer calls it. It requires
 * neither the lock nor a critical section, because an outdated hint is harmless. Expected O(1).
 */
export function noteNext(regions: Regions, record: number): void {
  const slot = slotOf(regions, hashOfRecord(regions, record), record)
  if (slot === 0) return
  const { graph } = regions
  graph[slot + 1] = (graph[slot + 1]! & ~LINE_MASK) | nextOf(graph, record)
}

/**
 * Returns the line that is needed after this record. For a user, this is the first line of the roles. For an
 * instance with a single in-edge, it is the container of this edge; for other instances, the first line of
 * the in-edges.
 */
export function nextOf(graph: Int32Array, record: number): number {
  const at = record << LINE_WORDS_LOG2
  if (graph[at]! >>> TYPE_SHIFT === USER_TYPE) return graph[at + U_ASSIGNMENTS]! >>> LINE_WORDS_LOG2
  const isInline = (graph[at + I_IN + 1]! & LOG2_MASK) === INLINE
  return isInline ? graph[at + I_IN]! : graph[at + I_IN]! >>> LINE_WORDS_LOG2
}

/** Returns the word of the record's slot, or 0 if it has none. */
function slotOf({ header, graph }: Regions, hash: number, line: number): number {
  const partition = H_PARTITIONS + ((hash >>> (32 - PARTITION_BITS)) << 1)
  const base = header[partition]!
  if (base === 0) return 0
  const log2 = header[partition + 1]! & LOG2_MASK
  const mask = (1 << log2) - 1
  for (let index = homeOf(hash, log2); ; index = (index + 1) & mask) {
    const known = lineOf(graph[base + (index << 1)]!)
    if (known === line) return base + (index << 1)
    if (known === 0) return 0
  }
}

function homeOf(hash: number, log2: number): number {
  return (hash << PARTITION_BITS) >>> (32 - log2)
}

/** Returns the hash of the key of a record. Reads the record's line, and another line if the key is long. */
function hashOfRecord({ header, graph }: Regions, line: number): number {
  const record = line << LINE_WORDS_LOG2
  const secrets = { start: header[H_HASH_START]!, multiplier: header[H_HASH_MULTIPLIER]! }
  const key = { words: graph, from: keyStart(graph, record), bytes: keyBytes(graph, record) }
  return hashOf(key, graph[record]! >>> TYPE_SHIFT, secrets)
}

/**
 * Returns the first partition, starting with `from`, that is mostly empty, or -1 if there is none. Such
 * partitions are shrunk between commits.
 */
export function nextSparse(header: Int32Array, from: number): number {
  for (let partition = from; partition < PARTITION_COUNT; partition++) {
    const meta = header[H_PARTITIONS + (partition << 1) + 1]!
    const log2 = meta & LOG2_MASK
    if (log2 > CAPACITY_LOG2_MIN && (meta >>> COUNT_SHIFT) * 8 < 1 << log2) return partition
  }
  return -1
}

export function partitionOf(hash: number): number {
  return hash >>> (32 - PARTITION_BITS)
}

/**
 * Returns log2 of the number of slots that the partition needs for `keysMore` more keys. If it has enough
 * slots, returns the current value.
 */
export function slotsLog2(header: Int32Array, partition: number, keysMore: number): number {
  const meta = header[H_PARTITIONS + (partition << 1) + 1]!
  let log2 = Math.max(CAPACITY_LOG2_MIN, meta & LOG2_MASK)
  while (((meta >>> COUNT_SHIFT) + keysMore) * 4 > 3 << log2) log2++
  return log2
}

/** Returns the number of slots of the partition. Used for loops over all records with `recordInSlot`. */
export function slotCount(header: Int32Array, partition: number): number {
  const at = H_PARTITIONS + (partition << 1)
  return header[at] === 0 ? 0 : 1 << (header[at + 1]! & LOG2_MASK)
}

/** Returns the line of the record in this slot, or 0 if the slot is free. */
export function recordInSlot(regions: Regions, partition: number, index: number): number {
  return lineOf(regions.graph[regions.header[H_PARTITIONS + (partition << 1)]! + (index << 1)]!)
}

function freeSlot(graph: Int32Array, base: number, log2: number, hash: number): number {
  const mask = (1 << log2) - 1
  let index = homeOf(hash, log2)
  while (graph[base + (index << 1)] !== 0) index = (index + 1) & mask
  return base + (index << 1)
}

function resize(regions: Regions, partition: number, log2: number): void {
  const base = allocateZeroed(regions, log2 + 1)
  copyPartition(regions, partition, base, log2)
  replacePartition(regions, partition, base, log2)
}

/**
 * Copies a partition into a zeroed block of 2^log2 slots. In this function and the next, `partition` is the
 * word of the partition in the header.
 */
export function copyPartition(regions: Regions, partition: number, base: number, log2: number): void {
  const { header, graph } = regions
  const old = header[partition]!
  if (old === 0) return
  const end = old + (2 << (header[partition + 1]! & LOG2_MASK))
  for (let slot = old; slot < end; slot += 2) {
    const line = lineOf(graph[slot]!)
    if (line === 0) continue
    const at = freeSlot(graph, base, log2, hashOfRecord(regions, line))
    graph[at] = graph[slot]!
    graph[at + 1] = graph[slot + 1]!
  }
}

/**
 * Replaces the block of the partition with a block that has already been filled, and frees the old one.
 * Requires the lock and a critical section.
 */
export function replacePartition(regions: Regions, partition: number, base: number, log2: number): void {
  const { header } = regions
  if (header[partition] !== 0) release(regions, header[partition]!, (header[partition + 1]! & LOG2_MASK) + 1)
  header[partition] = base
  header[partition + 1] = (header[partition + 1]! & ~LOG2_MASK) | log2
}
