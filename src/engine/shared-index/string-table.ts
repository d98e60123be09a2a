/**
 * From (type, key) to a record's line: open addressing in 256 partitions by the hash's top bits, so that growing
 * one is short work, whatever the whole holds. A slot is [hash, line]; line 0 is free. Equal hashes are compared
 * byte for byte, always.
 *
 *   header   [ptr, meta] × 256  ─►  graph  │hash│line│hash│line│ 0 │ 0 │…      2^k slots, at most 3/4 of them taken
 *
 * Slots follow the order of the hash, so a partition is doubled by one pass in order, and what is deleted is closed
 * up by shifting back. Readers bound every probe by the capacity: what they look at may be torn.
 */
import { allocateZeroed, release } from './allocator.ts'
import type { Key } from './key.ts'
import * as L from './layout.ts'
import type { Regions } from './regions.ts'

// Own constants are compiled in; those of another module are loaded each time.
const {
  COUNT_SHIFT,
  FLAG_EXTERNAL,
  H_PARTITIONS,
  IDENTITY_MASK,
  KEY_BYTES_SHIFT,
  LINE_WORDS_LOG2,
  LOG2_MASK,
  PARTITION_BITS,
  PARTITION_COUNT,
  R_KEY,
  TYPE_SHIFT,
} = L

const CAPACITY_LOG2_MIN = 2

/** Where the key's search begins: the word of its first slot, or 0 if the partition is empty. O(1), one likely miss less. */
export function firstSlot(header: Int32Array, hash: number): number {
  const partition = H_PARTITIONS + ((hash >>> (32 - PARTITION_BITS)) << 1)
  const base = header[partition]!
  if (base === 0) return 0
  return base + (((hash << PARTITION_BITS) >>> (32 - (header[partition + 1]! & LOG2_MASK))) << 1)
}

/** The line of the record with this key, 0 if there is none. Expected O(1). */
export function find(regions: Regions, key: Key, type: number): number {
  const { header, graph } = regions
  const { hash } = key
  const partition = H_PARTITIONS + ((hash >>> (32 - PARTITION_BITS)) << 1)
  const base = header[partition]!
  if (base === 0) return 0
  const log2 = header[partition + 1]! & LOG2_MASK
  const mask = (1 << log2) - 1
  const start = (hash << PARTITION_BITS) >>> (32 - log2)
  const identity = (type << TYPE_SHIFT) | (key.bytes << KEY_BYTES_SHIFT)
  for (let probe = 0; probe <= mask; probe++) {
    const slot = base + (((start + probe) & mask) << 1)
    const line = graph[slot + 1]!
    // A slot beyond the view reads as undefined: torn, and found out at validation.
    if (line === 0 || line === undefined) return 0
    if (graph[slot] === hash && isKeyOf(graph, line, key, identity)) return line
  }
  return 0
}

/** Whether the record at `line` has this type, key length and key. Reads one line, two if the key is long. */
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

/** Lock held, in a section. The key is not in the table. Expected O(1), a doubling now and then. */
export function insert(regions: Regions, hash: number, line: number): void {
  const { header } = regions
  const partition = H_PARTITIONS + ((hash >>> (32 - PARTITION_BITS)) << 1)
  const meta = header[partition + 1]!
  const count = meta >>> COUNT_SHIFT
  if (header[partition] === 0) resize(regions, partition, CAPACITY_LOG2_MIN)
  else if ((count + 1) * 4 > 3 << (meta & LOG2_MASK)) resize(regions, partition, (meta & LOG2_MASK) + 1)
  place(regions.graph, header[partition]!, header[partition + 1]! & LOG2_MASK, hash, line)
  header[partition + 1] = header[partition + 1]! + (1 << COUNT_SHIFT)
}

/** Lock held, in a section. O(length of the run). */
export function remove(regions: Regions, hash: number, line: number): void {
  const { header, graph } = regions
  const partition = H_PARTITIONS + ((hash >>> (32 - PARTITION_BITS)) << 1)
  const base = header[partition]!
  const log2 = header[partition + 1]! & LOG2_MASK
  const mask = (1 << log2) - 1
  let hole = (hash << PARTITION_BITS) >>> (32 - log2)
  while (graph[base + (hole << 1) + 1] !== line) {
    if (graph[base + (hole << 1) + 1] === 0) return
    hole = (hole + 1) & mask
  }
  for (let next = (hole + 1) & mask; ; next = (next + 1) & mask) {
    const slot = base + (next << 1)
    if (graph[slot + 1] === 0) break
    const home = (graph[slot]! << PARTITION_BITS) >>> (32 - log2)
    if (((next - home) & mask) < ((next - hole) & mask)) continue
    graph[base + (hole << 1)] = graph[slot]!
    graph[base + (hole << 1) + 1] = graph[slot + 1]!
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

/** The next partition from this one on that is mostly empty, -1 if there is none. Partitions shrink between commits. */
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

/** log2 of the slots the partition needs for so many keys more; as it has, if that is enough. */
export function slotsLog2(header: Int32Array, partition: number, keysMore: number): number {
  const meta = header[H_PARTITIONS + (partition << 1) + 1]!
  let log2 = Math.max(CAPACITY_LOG2_MIN, meta & LOG2_MASK)
  while (((meta >>> COUNT_SHIFT) + keysMore) * 4 > 3 << log2) log2++
  return log2
}

/** Slots in the partition; the record of slot `index` is `recordInSlot`. For walks over all records. */
export function slotCount(header: Int32Array, partition: number): number {
  const at = H_PARTITIONS + (partition << 1)
  return header[at] === 0 ? 0 : 1 << (header[at + 1]! & LOG2_MASK)
}

/** The line in that slot, 0 if it is free. */
export function recordInSlot(regions: Regions, partition: number, index: number): number {
  return regions.graph[regions.header[H_PARTITIONS + (partition << 1)]! + (index << 1) + 1]!
}

function place(graph: Int32Array, base: number, log2: number, hash: number, line: number): void {
  const mask = (1 << log2) - 1
  let index = (hash << PARTITION_BITS) >>> (32 - log2)
  while (graph[base + (index << 1) + 1] !== 0) index = (index + 1) & mask
  graph[base + (index << 1)] = hash
  graph[base + (index << 1) + 1] = line
}

function resize(regions: Regions, partition: number, log2: number): void {
  const base = allocateZeroed(regions, log2 + 1)
  copyPartition(regions, partition, base, log2)
  replacePartition(regions, partition, base, log2)
}

/** Fills a zeroed block of 2^log2 slots. `partition` is its word in the header, here and below. */
export function copyPartition(regions: Regions, partition: number, base: number, log2: number): void {
  const { header, graph } = regions
  const old = header[partition]!
  if (old === 0) return
  const end = old + (2 << (header[partition + 1]! & LOG2_MASK))
  for (let slot = old; slot < end; slot += 2) {
    if (graph[slot + 1] !== 0) place(graph, base, log2, graph[slot]!, graph[slot + 1]!)
  }
}

/** Lock held, in a section. Puts a filled block in the place of the partition's, which is given back. */
export function replacePartition(regions: Regions, partition: number, base: number, log2: number): void {
  const { header } = regions
  if (header[partition] !== 0) release(regions, header[partition]!, (header[partition + 1]! & LOG2_MASK) + 1)
  header[partition] = base
  header[partition + 1] = (header[partition + 1]! & ~LOG2_MASK) | log2
}
