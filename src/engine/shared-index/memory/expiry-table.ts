/**
 * Stores the expiration times of facts, in a hash table from a fact to its expiration time. A fact that does
 * not expire takes no space here, and no decision reads this table.
 *
 *   header   [first part, second part, count, size] × 64  ─►  graph  │ entry │ – │ entry │…  at most 7/8 used
 *
 *   entry    │ 1: tuple │ line of the user, or of the object │ scope, or container of the subject │
 *            │ end, high 16 bits │ bit of the role, or edge class │ end, low 32 bits │
 *
 * A partition grows by a third or by a half, so that entries take 18 to 27 bytes. Blocks have 2^k words, so
 * every second size has its last third in a separate block. Growing one partition is short: 0.2 ms with a
 * million entries in all partitions.
 *
 * Invariant: the entry of an expiring fact exists exactly as long as the fact. Every operation that removes
 * or unlinks a fact removes its entry.
 *
 * Writing functions require the lock and a critical section. Readers might see torn words: they bound every
 * probe and validate their results.
 */
import { allocateZeroed, type Arena, hasBlock, release } from './allocator.ts'
import * as L from './layout.ts'

/** Words of an entry, and words of a partition in the header. */
const ENTRY_LOG2 = 2
const HEAD_LOG2 = 2
const SECOND_PART = 1
const COUNT = 2
const SIZE = 3

const TUPLE = 1 << L.LINE_BITS
const LOW_BITS = 0xffff
const HIGH = 2 ** 32
/** Maximum expiration time, in the year 10889. Later times are stored as this one. */
const EXPIRY_MAX = 2 ** 48 - 1
const MIX = 0x85ebca6b | 0

/** Identifies a fact in this table by three numbers. */
export interface FactNumbers {
  readonly isTuple: boolean
  /** Line of the user (assignment) or of the object (tuple). */
  readonly line: number
  /** The scope (assignment, `layout.ts`) or the container of the subject (tuple). */
  readonly other: number
  /** The bit of the role in its mask (assignment) or the edge class (tuple). */
  readonly link: number
}

/** Returns the number of facts that expire. O(1). */
export function expiringCount({ header }: Pick<Arena, 'header'>): number {
  return header[L.H_EXPIRING]!
}

/**
 * Returns the expiration time of the fact in milliseconds since 1970, or null if the fact does not expire.
 * Expected O(1).
 */
export function expiresAtOf({ header, graph }: Arena, fact: FactNumbers): number | null {
  if (header[L.H_EXPIRING] === 0) return null
  const first = firstWord(fact)
  const hash = hashOf(first, fact)
  const head = headOf(hash)
  const capacity = capacityOf(header[head + SIZE]!)
  for (let slot = homeOf(hash, capacity), probe = 0; probe < capacity; probe++) {
    const at = wordOf(header, head, slot)
    const found = graph[at]
    // A word beyond the view reads as undefined. This happens only if the header was torn.
    if (found === undefined || found === 0) return null
    if (found === first && isRest(graph, at, fact)) return expiresAtIn(graph, at)
    slot = slot + 1 === capacity ? 0 : slot + 1
  }
  return null
}

/**
 * Sets or changes the expiration time of the fact. Expected O(1); O(its partition) if the partition has to
 * grow.
 */
export function setExpiry(regions: Arena, fact: FactNumbers, expiresAt: number): void {
  const { header } = regions
  const first = firstWord(fact)
  const hash = hashOf(first, fact)
  const head = headOf(hash)
  let at = find(regions, head, hash, fact)
  if (at < 0) {
    if (isFull(header, head)) resize(regions, head, header[head + SIZE]! + 1)
    at = freeSlot(regions, head, hash)
    header[head + COUNT] = header[head + COUNT]! + 1
    header[L.H_EXPIRING] = header[L.H_EXPIRING]! + 1
  }
  const time = Math.min(Math.max(0, expiresAt), EXPIRY_MAX)
  const { graph } = regions
  graph[at] = first
  graph[at + 1] = fact.other
  graph[at + 2] = (Math.floor(time / HIGH) << 16) | fact.link
  graph[at + 3] = (time % HIGH) | 0
}

/** Removes the expiration time of a fact that is deleted or no longer expires. Expected O(1). */
export function clearExpiry(regions: Arena, fact: FactNumbers): void {
  const { header } = regions
  if (header[L.H_EXPIRING] === 0) return
  const hash = hashOf(firstWord(fact), fact)
  const head = headOf(hash)
  const at = find(regions, head, hash, fact)
  if (at < 0) return
  closeGap(regions, head, at)
  header[head + COUNT] = header[head + COUNT]! - 1
  header[L.H_EXPIRING] = header[L.H_EXPIRING]! - 1
  const count = header[head + COUNT]!
  if (count === 0) empty(regions, head)
  else if (count * 4 < capacityOf(header[head + SIZE]!)) shrink(regions, head)
}

/** Removes the expiration times of all roles of a mask that the user holds in the scope. */
export function clearExpiryOfRoles(regions: Arena, user: number, scope: number, mask: number): void {
  if (regions.header[L.H_EXPIRING] === 0) return
  for (let bits = mask; bits !== 0; bits &= bits - 1) {
    const link = 31 - Math.clz32(bits & -bits)
    clearExpiry(regions, { isTuple: false, line: user, other: scope, link })
  }
}

/** Removes the expiration time of a tuple. */
export function clearExpiryOfTuple(
  regions: Arena,
  object: number,
  container: number,
  edgeClass: number,
): void {
  if (regions.header[L.H_EXPIRING] === 0) return
  clearExpiry(regions, { isTuple: true, line: object, other: container, link: edgeClass })
}

/** Calls `visit` with each fact of a partition that expires before `before`. O(capacity of the partition). */
export function eachExpiring(
  { header, graph }: Arena,
  partition: number,
  before: number,
  visit: (fact: FactNumbers, expiresAt: number) => void,
): void {
  const head = L.H_EXPIRY_PARTITIONS + (partition << HEAD_LOG2)
  const capacity = capacityOf(header[head + SIZE]!)
  for (let slot = 0; slot < capacity; slot++) {
    const at = wordOf(header, head, slot)
    const first = graph[at]!
    if (first === 0) continue
    const expiresAt = expiresAtIn(graph, at)
    if (expiresAt >= before) continue
    const isTuple = (first & TUPLE) !== 0
    const link = graph[at + 2]! & LOW_BITS
    visit({ isTuple, line: first & L.LINE_MASK, other: graph[at + 1]!, link }, expiresAt)
  }
}

/**
 * Yields the sizes of the blocks that the partitions allocate one after another while they receive `more`
 * entries. A size is log2 of the number of words. Assumes the worst distribution of the entries. A partition
 * grows to the next size only when it is full, so few partitions reach a large size. Used by
 * `commit-capacity.ts`.
 */
export function* blocksForExpiry({ header }: Pick<Arena, 'header'>, more: number): Iterable<number> {
  const partitions = Array.from({ length: L.EXPIRY_PARTITIONS }, (_, partition) => {
    const head = L.H_EXPIRY_PARTITIONS + (partition << HEAD_LOG2)
    return { size: header[head + SIZE]!, count: header[head + COUNT]! }
  })
  for (let size = 1; ; size += 1) {
    const full = entriesOf(size - 1)
    const short = partitions.filter(each => each.size < size).map(({ count }) => full + 1 - count)
    let left = more
    let reached = 0
    for (const entries of short.toSorted((one, other) => one - other)) {
      left -= entries
      if (left < 0) break
      reached += 1
      yield* blocksOf(size)
    }
    if (reached === 0 && short.length > 0) return
  }
}

/**
 * Returns the number of words that partitions allocate while they receive `more` entries, for the worst
 * distribution of the entries.
 */
export function wordsAheadForExpiry({ header }: Pick<Arena, 'header'>, more: number): number {
  let words = 0
  let grown = 0
  for (let partition = 0; partition < L.EXPIRY_PARTITIONS && grown < more; partition++) {
    const head = L.H_EXPIRY_PARTITIONS + (partition << HEAD_LOG2)
    const size = header[head + SIZE]!
    if (holds(size, header[head + COUNT]! + more)) continue
    grown += 1
    words += capacityOf(size + 1) << ENTRY_LOG2
  }
  return words
}

/** Returns the capacity of a partition of this size. The capacities are 0 entries, 4, 6, 8, 12, 16, 24, … */
function capacityOf(size: number): number {
  if (size <= 0) return 0
  const log2 = Math.min((size + 3) >> 1, L.SIZE_CLASSES - ENTRY_LOG2 - 1)
  return size % 2 === 1 ? 1 << log2 : 3 << (log2 - 1)
}

/**
 * Returns log2 of the number of entries in the first part. It contains all entries if the capacity is 2^k,
 * and two thirds of them otherwise.
 */
function firstPartLog2(size: number): number {
  return size % 2 === 1 ? (size + 3) >> 1 : (size + 2) >> 1
}

function* blocksOf(size: number): Iterable<number> {
  if (size === 0) return
  const log2 = firstPartLog2(size) + ENTRY_LOG2
  yield log2
  if (size % 2 === 0) yield log2 - 1
}

/** Returns the maximum number of entries in a partition of this size. */
function entriesOf(size: number): number {
  return Math.floor((capacityOf(size) * 7) / 8)
}

function holds(size: number, entries: number): boolean {
  return entries <= entriesOf(size)
}

function isFull(header: Int32Array, head: number): boolean {
  return !holds(header[head + SIZE]!, header[head + COUNT]! + 1)
}

function firstWord({ isTuple, line }: FactNumbers): number {
  return isTuple ? line | TUPLE : line
}

function hashOf(first: number, { other, link }: FactNumbers): number {
  const mixed = Math.imul(first ^ Math.imul(other ^ Math.imul(link + 1, MIX), L.ID_HASH), MIX)
  return Math.imul(mixed ^ (mixed >>> 15), L.ID_HASH)
}

/**
 * Returns the word of the partition in the header. The top bits of the hash select the partition. The slot in
 * it depends on all bits.
 */
function headOf(hash: number): number {
  return L.H_EXPIRY_PARTITIONS + ((hash >>> (32 - L.EXPIRY_PARTITIONS_LOG2)) << HEAD_LOG2)
}

function homeOf(hash: number, capacity: number): number {
  return Math.floor(((hash << L.EXPIRY_PARTITIONS_LOG2) >>> 0) * (capacity / HIGH))
}

/** Returns the word of a slot in the graph. */
function wordOf(header: Int32Array, head: number, slot: number): number {
  const first = 1 << firstPartLog2(header[head + SIZE]!)
  return slot < first
    ? header[head]! + (slot << ENTRY_LOG2)
    : header[head + SECOND_PART]! + ((slot - first) << ENTRY_LOG2)
}

function isRest(graph: Int32Array, at: number, { other, link }: FactNumbers): boolean {
  return graph[at + 1] === other && (graph[at + 2]! & LOW_BITS) === link
}

function expiresAtIn(graph: Int32Array, at: number): number {
  return (graph[at + 2]! >>> 16) * HIGH + (graph[at + 3]! >>> 0)
}

/** Returns the word of the fact's entry, or -1 if it has none. */
function find({ header, graph }: Arena, head: number, hash: number, fact: FactNumbers): number {
  const first = firstWord(fact)
  const capacity = capacityOf(header[head + SIZE]!)
  if (capacity === 0) return -1
  for (let slot = homeOf(hash, capacity); ; slot = slot + 1 === capacity ? 0 : slot + 1) {
    const at = wordOf(header, head, slot)
    if (graph[at] === 0) return -1
    if (graph[at] === first && isRest(graph, at, fact)) return at
  }
}

function freeSlot({ header, graph }: Arena, head: number, hash: number): number {
  const capacity = capacityOf(header[head + SIZE]!)
  for (let slot = homeOf(hash, capacity); ; slot = slot + 1 === capacity ? 0 : slot + 1) {
    const at = wordOf(header, head, slot)
    if (graph[at] === 0) return at
  }
}

/**
 * Closes the gap that a deleted entry leaves: moves later entries into it if their probe sequences permit.
 */
function closeGap({ header, graph }: Arena, head: number, gap: number): void {
  const capacity = capacityOf(header[head + SIZE]!)
  let hole = slotOf(header, head, gap)
  for (let slot = hole; ;) {
    slot = slot + 1 === capacity ? 0 : slot + 1
    const from = wordOf(header, head, slot)
    if (graph[from] === 0) break
    const home = homeOf(hashAt(graph, from), capacity)
    if (distance(home, slot, capacity) < distance(hole, slot, capacity)) continue
    graph.copyWithin(wordOf(header, head, hole), from, from + (1 << ENTRY_LOG2))
    hole = slot
  }
  graph[wordOf(header, head, hole)] = 0
}

function slotOf(header: Int32Array, head: number, at: number): number {
  const size = header[head + SIZE]!
  const first = 1 << firstPartLog2(size)
  const slot = (at - header[head]!) >> ENTRY_LOG2
  if (slot >= 0 && slot < first) return slot
  return first + ((at - header[head + SECOND_PART]!) >> ENTRY_LOG2)
}

function distance(from: number, to: number, capacity: number): number {
  return to >= from ? to - from : to - from + capacity
}

function hashAt(graph: Int32Array, at: number): number {
  const first = graph[at]!
  const isTuple = (first & TUPLE) !== 0
  const link = graph[at + 2]! & LOW_BITS
  return hashOf(first, { isTuple, line: first & L.LINE_MASK, other: graph[at + 1]!, link })
}

/** Moves the entries of a partition into blocks of another size. */
function resize(regions: Arena, head: number, size: number): void {
  const { header } = regions
  const former = header.slice(head, head + (1 << HEAD_LOG2))
  const [firstLog2, secondLog2] = blocksOf(size)
  const first = allocateZeroed(regions, firstLog2!)
  const second = secondLog2 === undefined ? 0 : allocateZeroed(regions, secondLog2)
  // Reads the view only now, because the allocations can grow the graph and replace its view.
  const { graph } = regions
  header[head] = first
  header[head + SECOND_PART] = second
  header[head + SIZE] = size
  const capacity = capacityOf(former[SIZE]!)
  for (let slot = 0; slot < capacity; slot++) {
    const from = wordOf(former, 0, slot)
    if (graph[from] === 0) continue
    const to = freeSlot(regions, head, hashAt(graph, from))
    graph.copyWithin(to, from, from + (1 << ENTRY_LOG2))
  }
  releaseBlocks(regions, former, 0)
}

/**
 * Halves the capacity of a partition. Does nothing if there is no space for the new blocks while the old ones
 * still exist.
 */
function shrink(regions: Arena, head: number): void {
  const size = regions.header[head + SIZE]! - 2
  if (size > 0 && hasBlock(regions, firstPartLog2(size) + ENTRY_LOG2 + 1)) resize(regions, head, size)
}

function releaseBlocks(regions: Arena, heads: Int32Array, head: number): void {
  const [firstLog2, secondLog2] = blocksOf(heads[head + SIZE]!)
  if (firstLog2 !== undefined) release(regions, heads[head]!, firstLog2)
  if (secondLog2 !== undefined) release(regions, heads[head + SECOND_PART]!, secondLog2)
}

function empty(regions: Arena, head: number): void {
  releaseBlocks(regions, regions.header, head)
  regions.header.fill(0, head, head + (1 << HEAD_LOG2))
}
