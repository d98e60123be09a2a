/**
 * Defines the layout of a closure, inline in its container or in the closure region:
 *
 *   up to 40 entries   │ scopes × n │ (end, mask) × r │ gates, if any
 *   more               │ scopes × n │ masks × n │ table of pairs (scope, mask) │ gates, if any
 *   gates              │ g │ (instance, state) × g │
 *
 * A closure has few different masks. A short closure therefore groups the scopes by mask. It stores each mask
 * once, with the position after the last scope of the group, so that fewer lines are loaded. A long closure
 * can be searched from either side.
 *
 * Readers can encounter torn blocks. The number of entries bounds every loop, and a word beyond the view
 * reads as undefined.
 */
import { log2Ceil } from '#engine/shared-index/memory/allocator.ts'
import * as L from '#engine/shared-index/memory/layout.ts'

// These constants are destructured so that the compiler treats them as constants. Constants of another module
// would be loaded on each use.
const { CLOSURE_LIST_MAX } = L

/** Returns log2 of the number of pairs in the hash table of a closure with this many entries. */
export function tableLog2(entries: number): number {
  return log2Ceil(entries * 2)
}

/**
 * Returns the minimum length in words of a closure with this many entries. A reader without the lock checks
 * that these words are within bounds. Without this check, a torn number of entries could make the reader
 * search a table of any size.
 */
export function wordsMin(entries: number): number {
  return entries > CLOSURE_LIST_MAX ? 2 * entries + (2 << tableLog2(entries)) : entries
}

/** Returns the mask of an entry. O(different masks). */
export function maskOfEntry(words: Int32Array, block: number, entries: number, entry: number): number {
  const masks = block + entries
  if (entries > CLOSURE_LIST_MAX) return words[masks + entry]!
  // Most closures have two masks, and which one is required is not predictable. The choice is therefore
  // computed without a branch; with one, bulks are 2 % slower.
  let run = masks + ((~(entry - words[masks]!) >>> 31) << 1)
  while (run < masks + 2 * entries && entry >= words[run]!) run += 2
  return words[run + 1]!
}

/** Returns the word at which the gates begin. Gates are the last part of a closure. O(different masks). */
export function gatesAt(words: Int32Array, block: number, entries: number): number {
  const masks = block + entries
  if (entries > CLOSURE_LIST_MAX) return masks + entries + (2 << tableLog2(entries))
  let run = masks
  while (run < masks + 2 * entries && words[run]! < entries) run += 2
  return entries === 0 ? run : run + 2
}

/**
 * Returns the word after a closure. `size` is the size word in the head of the closure. Requires the lock,
 * because the block must not be torn.
 */
export function blockEnd(words: Int32Array, block: number, size: number): number {
  const gates = gatesAt(words, block, (size & L.HEAD_SIZE_MASK) >>> 1)
  return (size & 1) === 0 ? gates : gates + 1 + 2 * words[gates]!
}
