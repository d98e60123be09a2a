/**
 * Implements slabs: open-addressing tables of records, in blocks of the graph region. A descriptor [ptr,
 * meta] inside the record points to the block. Slabs have two shapes:
 *
 *   set        one word per entry: the users assigned to an instance
 *   pairs      two words per entry: [scope, role mask] of a user; [neighbor, edge class] of an instance
 *
 *   descriptor ptr ─►  │ a │ x │ 0 │ 0 │ b │ y │ c │ z │      2^k entries, at most 3/4 used, 0 is free
 *
 * A set or edge list with one entry needs no block: the entry is in the descriptor (`INLINE`).
 *
 * Entries are ordered by the top bits of a multiplicative hash of their first word. Doubling keeps this
 * order, so it reads and writes sequentially. Deletion shifts entries back, so no slot has to be marked as
 * deleted. The same first word can occur several times with different second words (two instances linked by
 * two relations).
 *
 * Writing functions require the lock and a critical section. Readers might see torn words, so they bound
 * probes by the capacity and check that a block is within their view.
 */
import { allocateZeroed, hasBlock, release } from './allocator.ts'
import * as L from './layout.ts'
import type { Regions } from './index-buffers.ts'

// These constants are destructured so that the compiler treats them as constants. Constants of another module
// would be loaded on each use.
const { COUNT_SHIFT, ID_HASH, INLINE, LOG2_MASK } = L

/** Shapes of a slab, as log2 of the words of an entry. */
export const SET = 0
export const PAIRS = 1

const CAPACITY_LOG2_MIN = 1
/**
 * Maximum log2 of the capacity for which the critical section of a deletion shrinks the slab. Larger slabs
 * are shrunk later (`replacements.ts`).
 */
export const SHRINKING_LOG2_MAX = 11
/**
 * Shape of a slab. Sets and edge lists store a single entry inline. Assignments do not, because their second
 * word needs all 32 bits.
 */
export type Width = typeof SET | typeof PAIRS

export function countOf(meta: number): number {
  return meta >>> COUNT_SHIFT
}

/** Returns the number of entries. An inline slab has one entry; its count bits contain an edge class. */
export function entryCount(meta: number): number {
  return (meta & LOG2_MASK) === INLINE ? 1 : meta >>> COUNT_SHIFT
}

/**
 * Returns whether a block of 2^log2 entries is within the view. The result is false only if the descriptor is
 * torn.
 */
export function isWithin(graph: Int32Array, ptr: number, log2: number, width: Width): boolean {
  return log2 < 29 && ptr > 0 && ptr + (1 << (log2 + width)) <= graph.length
}

/** Returns the word of the pair with this first word, or 0 if there is none. Expected O(1). */
export function findPair(graph: Int32Array, ptr: number, meta: number, first: number): number {
  const log2 = meta & LOG2_MASK
  if (meta >>> COUNT_SHIFT === 0 || !isWithin(graph, ptr, log2, PAIRS)) return 0
  const mask = (1 << log2) - 1
  let index = Math.imul(first, ID_HASH) >>> (32 - log2)
  for (let probe = 0; probe <= mask; probe++) {
    const at = ptr + (index << 1)
    const entry = graph[at]!
    if (entry === first) return at
    if (entry === 0) return 0
    index = (index + 1) & mask
  }
  return 0
}

/**
 * Returns whether the slab contains the pair, whether inline or not. Expected O(1) if few pairs have the same
 * first word.
 */
export function hasPair(
  graph: Int32Array,
  ptr: number,
  meta: number,
  first: number,
  second: number,
): boolean {
  const log2 = meta & LOG2_MASK
  if (log2 === INLINE) return ptr === first && meta >>> COUNT_SHIFT === second
  if (meta >>> COUNT_SHIFT === 0 || !isWithin(graph, ptr, log2, PAIRS)) return false
  const mask = (1 << log2) - 1
  let index = Math.imul(first, ID_HASH) >>> (32 - log2)
  for (let probe = 0; probe <= mask; probe++) {
    const at = ptr + (index << 1)
    const entry = graph[at]!
    if (entry === 0) return false
    if (entry === first && graph[at + 1] === second) return true
    index = (index + 1) & mask
  }
  return false
}

/**
 * Returns the word of the role mask for this scope. If the scope has no mask yet, adds one with the value 0.
 * `descriptor` is the word of the slab's [ptr, meta].
 */
export function pairFor(regions: Regions, descriptor: number, first: number): number {
  const found = findPair(regions.graph, regions.graph[descriptor]!, regions.graph[descriptor + 1]!, first)
  if (found !== 0) return found + 1
  return insert(regions, descriptor, PAIRS, first) + 1
}

/** Deletes the pair with this first word, if it exists. */
export function deletePair(regions: Regions, descriptor: number, first: number): void {
  const { graph } = regions
  const found = findPair(graph, graph[descriptor]!, graph[descriptor + 1]!, first)
  if (found !== 0) closeGap(regions, descriptor, PAIRS, (found - graph[descriptor]!) >> PAIRS)
}

/** Adds an edge. Returns true if it did not exist. */
export function addEdge(regions: Regions, descriptor: number, neighbour: number, edgeClass: number): boolean {
  const { graph } = regions
  const ptr = graph[descriptor]!
  const meta = graph[descriptor + 1]!
  if (meta === 0) {
    graph[descriptor] = neighbour
    graph[descriptor + 1] = (edgeClass << COUNT_SHIFT) | INLINE
    return true
  }
  if (hasPair(graph, ptr, meta, neighbour, edgeClass)) return false
  if ((meta & LOG2_MASK) === INLINE) {
    graph[descriptor] = 0
    graph[descriptor + 1] = 0
    regions.graph[insert(regions, descriptor, PAIRS, ptr) + 1] = meta >>> COUNT_SHIFT
  }
  const at = insert(regions, descriptor, PAIRS, neighbour)
  regions.graph[at + 1] = edgeClass
  return true
}

/** Deletes an edge. Returns true if it existed. */
export function deleteEdge(
  regions: Regions,
  descriptor: number,
  neighbour: number,
  edgeClass: number,
): boolean {
  const { graph } = regions
  const ptr = graph[descriptor]!
  const meta = graph[descriptor + 1]!
  if (!hasPair(graph, ptr, meta, neighbour, edgeClass)) return false
  if ((meta & LOG2_MASK) === INLINE) {
    graph[descriptor] = 0
    graph[descriptor + 1] = 0
    return true
  }
  const mask = (1 << (meta & LOG2_MASK)) - 1
  let index = Math.imul(neighbour, ID_HASH) >>> (32 - (meta & LOG2_MASK))
  while (graph[ptr + (index << 1)] !== neighbour || graph[ptr + (index << 1) + 1] !== edgeClass) {
    index = (index + 1) & mask
  }
  closeGap(regions, descriptor, PAIRS, index)
  return true
}

/** Adds a member to a set. Returns true if it was not in the set. */
export function addMember(regions: Regions, descriptor: number, member: number): boolean {
  const { graph } = regions
  const ptr = graph[descriptor]!
  const meta = graph[descriptor + 1]!
  if (meta === 0) {
    graph[descriptor] = member
    graph[descriptor + 1] = INLINE
    return true
  }
  if ((meta & LOG2_MASK) === INLINE) {
    if (ptr === member) return false
    graph[descriptor] = 0
    graph[descriptor + 1] = 0
    insert(regions, descriptor, SET, ptr)
  } else if (findMember(graph, ptr, meta, member) >= 0) return false
  insert(regions, descriptor, SET, member)
  return true
}

export function deleteMember(regions: Regions, descriptor: number, member: number): void {
  const { graph } = regions
  const ptr = graph[descriptor]!
  const meta = graph[descriptor + 1]!
  if ((meta & LOG2_MASK) === INLINE) {
    if (ptr !== member) return
    graph[descriptor] = 0
    graph[descriptor + 1] = 0
    return
  }
  const index = findMember(graph, ptr, meta, member)
  if (index >= 0) closeGap(regions, descriptor, SET, index)
}

/** Frees the block and leaves an empty slab. */
export function releaseSlab(regions: Regions, descriptor: number, width: Width): void {
  const { graph } = regions
  const log2 = graph[descriptor + 1]! & LOG2_MASK
  if (graph[descriptor] !== 0 && log2 !== INLINE) release(regions, graph[descriptor]!, log2 + width)
  regions.sparse.delete(descriptor)
  graph[descriptor] = 0
  graph[descriptor + 1] = 0
}

/** Returns the index of the member, or -1 if it does not exist. The slab must not be inline. */
export function findMember(graph: Int32Array, ptr: number, meta: number, member: number): number {
  const log2 = meta & LOG2_MASK
  if (meta >>> COUNT_SHIFT === 0) return -1
  const mask = (1 << log2) - 1
  for (let index = Math.imul(member, ID_HASH) >>> (32 - log2); ; index = (index + 1) & mask) {
    const entry = graph[ptr + index]!
    if (entry === member) return index
    if (entry === 0) return -1
  }
}

/**
 * Adds an entry with this first word and zeros after it, and returns the word of the entry. If the slab is
 * full, grows it first.
 */
function insert(regions: Regions, descriptor: number, width: Width, first: number): number {
  const meta = regions.graph[descriptor + 1]!
  const count = meta >>> COUNT_SHIFT
  const log2 = meta & LOG2_MASK
  if (count === 0 && regions.graph[descriptor] === 0) {
    resize(regions, descriptor, width, CAPACITY_LOG2_MIN)
  } else if (isFull(meta)) resize(regions, descriptor, width, log2 + 1)
  const { graph } = regions
  graph[descriptor + 1] = graph[descriptor + 1]! + (1 << COUNT_SHIFT)
  return putEntry(graph, graph[descriptor]!, graph[descriptor + 1]! & LOG2_MASK, width, first)
}

function putEntry(graph: Int32Array, ptr: number, log2: number, width: Width, first: number): number {
  const mask = (1 << log2) - 1
  let index = Math.imul(first, ID_HASH) >>> (32 - log2)
  while (graph[ptr + (index << width)] !== 0) index = (index + 1) & mask
  const at = ptr + (index << width)
  graph[at] = first
  return at
}

/**
 * Deletes the entry at `index` and moves displaced entries up. Shrinks the slab if it is then mostly empty.
 */
function closeGap(regions: Regions, descriptor: number, width: Width, index: number): void {
  const { graph } = regions
  const ptr = graph[descriptor]!
  const meta = graph[descriptor + 1]! - (1 << COUNT_SHIFT)
  const log2 = meta & LOG2_MASK
  const mask = (1 << log2) - 1
  let hole = index
  for (let next = (hole + 1) & mask; ; next = (next + 1) & mask) {
    const from = ptr + (next << width)
    if (graph[from] === 0) break
    const home = Math.imul(graph[from]!, ID_HASH) >>> (32 - log2)
    if (((next - home) & mask) < ((next - hole) & mask)) continue
    const to = ptr + (hole << width)
    graph[to] = graph[from]!
    if (width === PAIRS) graph[to + 1] = graph[from + 1]!
    hole = next
  }
  graph[ptr + (hole << width)] = 0
  if (width === PAIRS) graph[ptr + (hole << width) + 1] = 0
  graph[descriptor + 1] = meta
  const count = meta >>> COUNT_SHIFT
  if (count === 0) releaseSlab(regions, descriptor, width)
  else if (isSparse(meta)) {
    if (log2 > SHRINKING_LOG2_MAX) regions.sparse.set(descriptor, width)
    else if (hasBlock(regions, blockLog2(log2 - 1, width))) resize(regions, descriptor, width, log2 - 1)
  }
}

/** Returns whether the slab must be doubled before an entry can be added. The slab must not be inline. */
export function isFull(meta: number): boolean {
  return ((meta >>> COUNT_SHIFT) + 1) * 4 > 3 << (meta & LOG2_MASK)
}

/** Returns whether the slab is mostly empty. The slab must not be inline. */
export function isSparse(meta: number): boolean {
  const log2 = meta & LOG2_MASK
  return log2 > CAPACITY_LOG2_MIN && (meta >>> COUNT_SHIFT) * 5 < 1 << log2
}

/** Returns log2 of the capacity for this many entries. At least a quarter of the capacity stays free. */
export function capacityLog2(entries: number): number {
  let log2 = CAPACITY_LOG2_MIN
  while (entries * 4 > 3 << log2) log2++
  return log2
}

function resize(regions: Regions, descriptor: number, width: Width, log2: number): void {
  const ptr = allocateZeroed(regions, blockLog2(log2, width))
  copySlab(regions.graph, descriptor, width, ptr, log2)
  replaceBlock(regions, descriptor, width, ptr, log2)
}

export function blockLog2(log2: number, width: Width): number {
  return Math.max(1, log2 + width)
}

/**
 * Copies a slab into a zeroed block of 2^log2 entries. The copy accesses both blocks sequentially, because
 * the entries of both are in the order of the hash.
 */
export function copySlab(
  graph: Int32Array,
  descriptor: number,
  width: Width,
  to: number,
  log2: number,
): void {
  const from = graph[descriptor]!
  if (from === 0) return
  const end = from + (1 << ((graph[descriptor + 1]! & LOG2_MASK) + width))
  for (let at = from; at < end; at += 1 << width) {
    if (graph[at] === 0) continue
    const put = putEntry(graph, to, log2, width, graph[at]!)
    if (width === PAIRS) graph[put + 1] = graph[at + 1]!
  }
}

/** Replaces the block of the slab with a block that has already been filled, and frees the old one. */
export function replaceBlock(
  regions: Regions,
  descriptor: number,
  width: Width,
  ptr: number,
  log2: number,
): void {
  const { graph } = regions
  const old = graph[descriptor]!
  const meta = graph[descriptor + 1]!
  if (old !== 0) release(regions, old, blockLog2(meta & LOG2_MASK, width))
  graph[descriptor] = ptr
  graph[descriptor + 1] = (meta & ~LOG2_MASK) | log2
}
