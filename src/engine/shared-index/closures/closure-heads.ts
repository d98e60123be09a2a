/**
 * Finds closure heads. The head of a state on a container contains the position of the closure and shows
 * whether the closure is still valid.
 *
 *   container, word 6…14   │ block │ size │ built at │  for ordinals 0, 1, 2 of the container's type
 *   further heads          │ log2 of this block │ – │ – │ ordinal 3: block, size, built at │ …
 *
 *   block                  │ its word in the closure region; if inline, minus its offset in the container │
 *   size                   │ low bits of its closure era │ number of entries, 29 bits (`HEAD_SIZE_MASK`) │
 *
 * A closure is valid while `built at` equals the sum of four counters that only increase: the container's
 * version, its tenant's closure epoch, the state's epoch and the closure era. The sum repeats only if none of
 * them changed (or after 2^32 steps). Heads begin as zeros, and no sum is 0, because versions begin at 1.
 *
 * Memory order: a builder writes the block, then head words 0 and 1, and finally `built at`, atomically. A
 * reader reads `built at` first. If a reader finds a head valid, it therefore also sees the data of the head.
 * This holds on x86; on other processors, readers hold the lock.
 */
import { allocateZeroed, hasBlock, log2Ceil, release } from '#engine/shared-index/memory/allocator.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { beginSection, endSection } from '#engine/shared-index/memory/sequence.ts'

// These constants are destructured so that the compiler treats them as constants. Constants of another module
// would be loaded on each use.
const { C_HEADS, C_HEADS_IN_PLACE, C_MORE_HEADS, HEAD_WORDS, LINE_WORDS_LOG2 } = L

/** Returns the word of the head for this ordinal, or 0 if the head does not exist yet. */
export function headAt(graph: Int32Array, container: number, ordinal: number): number {
  const record = container << LINE_WORDS_LOG2
  if (ordinal < C_HEADS_IN_PLACE) return record + C_HEADS + ordinal * HEAD_WORDS
  const block = graph[record + C_MORE_HEADS]!
  if (block === 0) return 0
  const at = (ordinal - C_HEADS_IN_PLACE + 1) * HEAD_WORDS
  return at + HEAD_WORDS <= 1 << graph[block]! ? block + at : 0
}

/**
 * Returns the word of the head for this ordinal, and creates the head if necessary. Returns 0 if the memory
 * is not sufficient. Requires the lock, but no critical section.
 */
export function headFor(regions: Regions, container: number, ordinal: number): number {
  const known = headAt(regions.graph, container, ordinal)
  if (known !== 0) return known
  const log2 = log2Ceil((ordinal - C_HEADS_IN_PLACE + 2) * HEAD_WORDS)
  if (!hasBlock(regions, log2)) return 0
  // Needs a critical section, because readers might be reading the block that is replaced.
  beginSection(regions.header)
  const record = container << LINE_WORDS_LOG2
  const block = allocateZeroed(regions, log2)
  const { graph } = regions
  const old = graph[record + C_MORE_HEADS]!
  if (old !== 0) graph.copyWithin(block, old, old + (1 << graph[old]!))
  graph[block] = log2
  graph[record + C_MORE_HEADS] = block
  // Releases the old block last. If the thread dies before this, only a block is leaked. If the block were
  // released earlier, a free block could still be in use.
  if (old !== 0) release(regions, old, graph[old]!)
  endSection(regions.header)
  return headAt(graph, container, ordinal)
}
