/**
 * An ordered list of pairs (hash, entity), by hash and then by the key of the entity. It is divided into
 * chunks, so that a change moves at most a kilobyte:
 *
 *   [ptr, log2 capacity, chunks, entries]
 *     ─► │ chunk, entries, first hash, first entity │ … ─► │ hash, entity │ hash, entity │ …
 *
 * An entity is the line of its record. The key of every entity in a list must be readable, so a record is
 * removed from its lists before the record is freed.
 *
 * Writing functions require a critical section, unless no thread reads the list. Readers might see torn
 * words, so they check the bounds of all positions.
 */
import { type Arena, allocate, hasBlock, release } from '#engine/shared-index/memory/allocator.ts'
import type { Key } from '#engine/shared-index/memory/key.ts'
import { compareKeys, compareWithKey } from '#engine/shared-index/memory/key-comparison.ts'
import type { NumberList } from '#engine/shared-index/memory/number-list.ts'

export const CHUNK_ENTRIES = 128
const CHUNK_LOG2 = 8
const HEADS_LOG2_MIN = 2
/** Words of the head of a chunk. */
const HEAD_LOG2 = 2
const HEAD = { chunk: 0, count: 1, hash: 2, entity: 3 } as const
/**
 * If a chunk has fewer than `SPARSE_ENTRIES` entries, it is merged with the next chunk. The chunks are not
 * merged if they have more than `JOINED_ENTRIES_MAX` entries together.
 */
const SPARSE_ENTRIES = 32
const JOINED_ENTRIES_MAX = 96

/** Words of the descriptor. */
export const LIST = { ptr: 0, log2: 1, chunks: 2, entries: 3 } as const

/** A list, the memory that contains it, and the graph that contains the records of its entities. */
export interface OrderedList {
  readonly memory: Arena
  /** The word of the descriptor in `memory`. */
  readonly at: number
  readonly graph: Int32Array
}

/** Position of an entry, or the position at which a missing entry would be inserted. */
interface EntryPosition {
  readonly chunk: number
  readonly index: number
}

/**
 * Adds an entry. Returns false if the memory is full. Returns true if the entry was added or already exists.
 * O(log entries + chunk).
 */
export function insert(list: OrderedList, hash: number, entity: number): boolean {
  const { memory, at, graph } = list
  if (memory.graph[at + LIST.chunks] === 0 && !insertChunk(list, 0)) return false
  let { chunk, index } = positionOf(list, hash, line => compareKeys(graph, line, entity))
  const words = memory.graph
  let head = headOf(words, at, chunk)
  const count = words[head + HEAD.count]!
  if (index < count && hasEntry(words, words[head + HEAD.chunk]! + 2 * index, hash, entity)) return true
  if (count === CHUNK_ENTRIES) {
    const isAtEnd = index === count && chunk === words[at + LIST.chunks]! - 1
    if (!splitChunk(list, chunk, isAtEnd ? count : count >>> 1)) return false
    const kept = memory.graph[headOf(memory.graph, at, chunk) + HEAD.count]!
    if (index > kept || isAtEnd) {
      chunk += 1
      index -= kept
    }
  }
  const { graph: written } = memory
  head = headOf(written, at, chunk)
  const from = written[head + HEAD.chunk]! + 2 * index
  const end = written[head + HEAD.chunk]! + 2 * written[head + HEAD.count]!
  written.copyWithin(from + 2, from, end)
  written[from] = hash
  written[from + 1] = entity
  written[head + HEAD.count] = written[head + HEAD.count]! + 1
  written[at + LIST.entries] = written[at + LIST.entries]! + 1
  noteFirst(written, head)
  return true
}

/** Removes an entry if it exists. O(log entries + chunk). */
export function remove(list: OrderedList, hash: number, entity: number): void {
  const { memory, at, graph } = list
  const words = memory.graph
  if (words[at + LIST.chunks] === 0) return
  const { chunk, index } = positionOf(list, hash, line => compareKeys(graph, line, entity))
  const head = headOf(words, at, chunk)
  const first = words[head + HEAD.chunk]!
  const count = words[head + HEAD.count]!
  if (index === count || !hasEntry(words, first + 2 * index, hash, entity)) return
  words.copyWithin(first + 2 * index, first + 2 * index + 2, first + 2 * count)
  words[head + HEAD.count] = count - 1
  words[at + LIST.entries] = words[at + LIST.entries]! - 1
  if (count === 1) return removeChunk(list, chunk)
  noteFirst(words, head)
  if (count - 1 < SPARSE_ENTRIES) joinWithNext(list, chunk)
}

/** Frees at most `chunksMax` chunks of the list. Returns true when the whole list is free. */
export function clear({ memory, at }: OrderedList, chunksMax: number): boolean {
  const words = memory.graph
  const chunks = words[at + LIST.chunks]!
  const left = Math.max(0, chunks - chunksMax)
  for (let chunk = chunks - 1; chunk >= left; chunk--) {
    release(memory, words[headOf(words, at, chunk) + HEAD.chunk]!, CHUNK_LOG2)
  }
  words[at + LIST.chunks] = left
  if (left > 0) return false
  if (words[at + LIST.ptr] !== 0) release(memory, words[at + LIST.ptr]!, words[at + LIST.log2]! + HEAD_LOG2)
  words.fill(0, at, at + 4)
  return true
}

/**
 * Takes up to `limit` entities with this hash, in the order of their keys. Starts after the key `after`, or
 * at the first entity if `after` is `null`. Returns true if no entities with this hash remain. For readers.
 * O(log entries + entities).
 */
export function take(
  { memory, at, graph }: OrderedList,
  wanted: { readonly hash: number; readonly after: Key | null; readonly limit: number },
  into: NumberList,
): boolean {
  const words = memory.graph
  const { hash, after, limit } = wanted
  const chunks = chunksIn(words, at)
  if (chunks === 0) return true
  const isBehind = (line: number): number => (after === null ? 1 : compareWithKey(graph, line, after) || -1)
  let { chunk, index } = positionOf({ memory, at, graph }, hash, isBehind)
  for (; chunk < chunks; chunk++, index = 0) {
    const head = headOf(words, at, chunk)
    const first = words[head + HEAD.chunk]!
    const count = Math.min(words[head + HEAD.count]!, CHUNK_ENTRIES)
    for (; index < count; index++) {
      if (words[first + 2 * index] !== hash) return true
      if (into.length >= limit) return false
      into.push(words[first + 2 * index + 1]!)
    }
  }
  return true
}

/**
 * Estimates the number of entries with this hash, with an error of at most two chunks. For readers. O(log
 * entries).
 */
export function estimate(list: OrderedList, hash: number): number {
  const { memory, at } = list
  const words = memory.graph
  const chunks = chunksIn(words, at)
  if (chunks === 0) return 0
  const from = positionOf(list, hash, () => 1)
  const to = positionOf(list, hash, () => -1)
  if (from.chunk === to.chunk) return to.index - from.index
  const between = (to.chunk - from.chunk) * Math.ceil(words[at + LIST.entries]! / chunks)
  return Math.max(1, between + to.index - from.index)
}

/**
 * Returns the position of the first entry that does not come before the searched entry. Entries are ordered
 * by hash; for an equal hash, `compare` compares the entity. The result can be the end of a chunk.
 */
function positionOf(
  { memory, at }: OrderedList,
  hash: number,
  compare: (entity: number) => number,
): EntryPosition {
  const words = memory.graph
  const order = (entryHash: number, entity: number): number =>
    entryHash === hash ? compare(entity) : entryHash >>> 0 < hash >>> 0 ? -1 : 1
  // Finds the last chunk whose first entry does not come after the searched entry. The position is in this
  // chunk or at its end. If there is no such chunk, the position is the start of the list.
  let low = 0
  for (let high = chunksIn(words, at); low < high;) {
    const middle = (low + high) >>> 1
    const head = headOf(words, at, middle)
    if (order(words[head + HEAD.hash]!, words[head + HEAD.entity]!) <= 0) low = middle + 1
    else high = middle
  }
  const chunk = Math.max(0, low - 1)
  const head = headOf(words, at, chunk)
  const first = words[head + HEAD.chunk]!
  let index = 0
  for (let high = Math.min(words[head + HEAD.count]!, CHUNK_ENTRIES); index < high;) {
    const middle = (index + high) >>> 1
    if (order(words[first + 2 * middle]!, words[first + 2 * middle + 1]!) < 0) index = middle + 1
    else high = middle
  }
  return { chunk, index }
}

/** Returns the number of chunks. A torn read never returns more chunks than have a head within the view. */
function chunksIn(words: Int32Array, at: number): number {
  const ptr = words[at + LIST.ptr]!
  const chunks = words[at + LIST.chunks]!
  return ptr > 0 && chunks > 0 && ptr + (chunks << HEAD_LOG2) <= words.length ? chunks : 0
}

function headOf(words: Int32Array, at: number, chunk: number): number {
  return words[at + LIST.ptr]! + (chunk << HEAD_LOG2)
}

function hasEntry(words: Int32Array, entry: number, hash: number, entity: number): boolean {
  return words[entry] === hash && words[entry + 1] === entity
}

function noteFirst(words: Int32Array, head: number): void {
  const first = words[head + HEAD.chunk]!
  words[head + HEAD.hash] = words[first]!
  words[head + HEAD.entity] = words[first + 1]!
}

/** Creates an empty chunk at this position. Returns false if the memory is full. */
function insertChunk({ memory, at }: OrderedList, number: number): boolean {
  const words = memory.graph
  const chunks = words[at + LIST.chunks]!
  const log2 = words[at + LIST.log2]!
  const isFull = words[at + LIST.ptr] === 0 || chunks === 1 << log2
  const largerLog2 = words[at + LIST.ptr] === 0 ? HEADS_LOG2_MIN : log2 + 1
  // Checks the space for both blocks together, because the first allocation might use the space of the second
  // one.
  if (!hasBlock(memory, isFull ? Math.max(largerLog2 + HEAD_LOG2, CHUNK_LOG2) + 1 : CHUNK_LOG2)) return false
  if (isFull) {
    const heads = allocate(memory, largerLog2 + HEAD_LOG2)
    const old = memory.graph[at + LIST.ptr]!
    if (old !== 0) {
      memory.graph.copyWithin(heads, old, old + (chunks << HEAD_LOG2))
      release(memory, old, log2 + HEAD_LOG2)
    }
    memory.graph[at + LIST.ptr] = heads
    memory.graph[at + LIST.log2] = largerLog2
  }
  const chunk = allocate(memory, CHUNK_LOG2)
  const { graph: written } = memory
  const head = headOf(written, at, number)
  written.copyWithin(head + 4, head, headOf(written, at, chunks))
  written[head + HEAD.chunk] = chunk
  written[head + HEAD.count] = 0
  written[at + LIST.chunks] = chunks + 1
  return true
}

/**
 * Keeps the first `kept` entries of a chunk and moves the others into a new one after it. Returns false if
 * the memory is full.
 */
function splitChunk(list: OrderedList, chunk: number, kept: number): boolean {
  if (!insertChunk(list, chunk + 1)) return false
  const { memory, at } = list
  const words = memory.graph
  const head = headOf(words, at, chunk)
  const next = headOf(words, at, chunk + 1)
  const from = words[head + HEAD.chunk]!
  const count = words[head + HEAD.count]!
  words.copyWithin(words[next + HEAD.chunk]!, from + 2 * kept, from + 2 * count)
  words[head + HEAD.count] = kept
  words[next + HEAD.count] = count - kept
  if (count > kept) noteFirst(words, next)
  return true
}

function removeChunk({ memory, at }: OrderedList, chunk: number): void {
  const words = memory.graph
  const head = headOf(words, at, chunk)
  release(memory, words[head + HEAD.chunk]!, CHUNK_LOG2)
  words.copyWithin(head, head + 4, headOf(words, at, words[at + LIST.chunks]!))
  words[at + LIST.chunks] = words[at + LIST.chunks]! - 1
}

function joinWithNext(list: OrderedList, chunk: number): void {
  const { memory, at } = list
  const words = memory.graph
  if (chunk + 1 >= words[at + LIST.chunks]!) return
  const head = headOf(words, at, chunk)
  const next = headOf(words, at, chunk + 1)
  const count = words[head + HEAD.count]!
  const more = words[next + HEAD.count]!
  if (count + more > JOINED_ENTRIES_MAX) return
  const from = words[next + HEAD.chunk]!
  words.copyWithin(words[head + HEAD.chunk]! + 2 * count, from, from + 2 * more)
  words[head + HEAD.count] = count + more
  removeChunk(list, chunk + 1)
}
