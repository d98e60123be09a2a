/**
 * Allocates blocks of 2^k words in an arena: in the graph region, or in the memory of the attribute index.
 * The free blocks of each size form a list: the first word of a free block links to the next one. The heads
 * of these lists and the top of the unused area are in the header.
 *
 * Invariant: a block is allocated once and is within the region. Blocks of a line or more start on a line. A
 * freed block can be reused immediately: if a reader still reads the block, the validation of the reader
 * fails (`sequence.ts`).
 *
 * Every function requires the lock. A free block is split if a smaller one is needed, and blocks are never
 * merged. Later loads need blocks of the same sizes as earlier ones, so the free lists stop growing after one
 * load.
 */
import { assert } from '#model/assert.ts'
import * as L from './layout.ts'

const FEW_WORDS_LOG2 = 5

/**
 * Words from which blocks are allocated, and the header with the free lists. The arena is either the graph or
 * the memory of the attribute index.
 */
export interface Arena {
  readonly header: Int32Array
  /** The words. Growing the arena replaces this view. */
  readonly graph: Int32Array
  readonly graphWordsMax: number
  /** Grows the arena to at least `words`. Throws `LIMIT_EXCEEDED` if that is above its limit. */
  growGraph(words: number): void
}

/** Returns the first word of a block of 2^log2 words. Its content is undefined. O(1). */
export function allocate(regions: Arena, log2: number): number {
  const { header } = regions
  assert(log2 >= 1 && log2 < L.SIZE_CLASSES, 'a block has between 2 and 2^30 words')
  for (let size = log2; size < L.SIZE_CLASSES; size++) {
    const block = header[L.H_FREE_LISTS + size]!
    if (block === 0) continue
    header[L.H_FREE_LISTS + size] = regions.graph[block]!
    header[L.H_FREE_COUNTS + size] = header[L.H_FREE_COUNTS + size]! - 1
    header[L.H_GRAPH_FREE_WORDS] = header[L.H_GRAPH_FREE_WORDS]! - (1 << size)
    return splitDown(regions, block, size, log2)
  }
  if (log2 >= L.LINE_WORDS_LOG2) return takeFromTop(regions, 1 << log2)
  return splitDown(regions, takeFromTop(regions, L.LINE_WORDS), L.LINE_WORDS_LOG2, log2)
}

/** Like `allocate`, but sets all words of the block to 0. O(words). */
export function allocateZeroed(regions: Arena, log2: number): number {
  const block = allocate(regions, log2)
  const { graph } = regions
  // Most blocks are records. For these few words, a call of `fill` costs more than the loop.
  if (log2 > FEW_WORDS_LOG2) graph.fill(0, block, block + (1 << log2))
  else for (let word = block; word < block + (1 << log2); word++) graph[word] = 0
  return block
}

/** Frees a block of 2^log2 words. O(1). */
export function release(regions: Arena, block: number, log2: number): void {
  const { header } = regions
  regions.graph[block] = header[L.H_FREE_LISTS + log2]!
  header[L.H_FREE_LISTS + log2] = block
  header[L.H_FREE_COUNTS + log2] = header[L.H_FREE_COUNTS + log2]! + 1
  header[L.H_GRAPH_FREE_WORDS] = header[L.H_GRAPH_FREE_WORDS]! + (1 << log2)
}

/** Returns whether a block of 2^log2 words can be allocated. O(sizes). */
export function hasBlock({ header, graphWordsMax }: Arena, log2: number): boolean {
  for (let size = log2; size < L.SIZE_CLASSES; size++) if (header[L.H_FREE_COUNTS + size] !== 0) return true
  const words = 1 << Math.max(log2, L.LINE_WORDS_LOG2)
  return header[L.H_GRAPH_TOP]! + words + L.OPEN_BEHIND_TOP <= graphWordsMax
}

/**
 * Grows the region so that `words` more words can be allocated. Throws `LIMIT_EXCEEDED` if the region cannot
 * grow that far.
 */
export function reserve(regions: Arena, words: number): void {
  const wanted = regions.header[L.H_GRAPH_TOP]! + words + L.OPEN_BEHIND_TOP
  if (wanted > regions.graph.length) regions.growGraph(wanted)
}

/** Like `reserve`. But if the region cannot grow by `words` words, grows the region to its limit. */
export function reserveIfThere(regions: Arena, words: number): void {
  const { header, graphWordsMax } = regions
  reserve(regions, Math.min(words, graphWordsMax - L.OPEN_BEHIND_TOP - header[L.H_GRAPH_TOP]!))
}

/** Returns the smallest k with 2^k >= n. */
export function log2Ceil(n: number): number {
  return n <= 1 ? 0 : 32 - Math.clz32(n - 1)
}

function takeFromTop(regions: Arena, words: number): number {
  const block = regions.header[L.H_GRAPH_TOP]!
  reserve(regions, words)
  regions.header[L.H_GRAPH_TOP] = block + words
  return block
}

/**
 * Splits a free block until its front part has the requested size. The other parts are put on the free lists.
 */
function splitDown(regions: Arena, block: number, from: number, to: number): number {
  for (let size = from - 1; size >= to; size--) release(regions, block + (1 << size), size)
  return block
}
