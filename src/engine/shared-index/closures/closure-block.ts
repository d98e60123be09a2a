/**
 * The layout of a closure, inline in its container or in the closure region:
 *
 *   up to 40 entries   │ scopes × n │ (end, mask) × r │ gates, if any
 *   more               │ scopes × n │ masks × n │ table of pairs (scope, mask) │ gates, if any
 *
 *   gates              │ g │ (instance, state) × g │
 *
 * A closure has few different masks. So a short one keeps the scopes with the same mask side by side, and each mask once
 * with the position behind its last scope: fewer lines to load. A long one can be searched from either side.
 *
 * Readers may look at torn blocks. Every loop here is bounded by the number of entries, and a word beyond the view reads
 * as undefined.
 */
import { log2Ceil } from '#engine/shared-index/memory/allocator.ts'
import * as L from '#engine/shared-index/memory/layout.ts'

// Own constants are compiled in; those of another module are loaded each time.
const { CLOSURE_LIST_MAX } = L

/** log2 of the pairs in the hash table of a closure with this many entries. */
export function tableLog2(entries: number): number {
  return log2Ceil(entries * 2)
}

/**
 * The least words of a closure with this many entries. A reader without the lock checks that they lie within
 * bounds: for a torn number of entries it would otherwise search a table of any size.
 */
export function wordsMin(entries: number): number {
  return entries > CLOSURE_LIST_MAX ? 2 * entries + (2 << tableLog2(entries)) : entries
}

/** The mask of an entry. O(masks that differ). */
export function maskOfEntry(words: Int32Array, block: number, entries: number, entry: number): number {
  const masks = block + entries
  if (entries > CLOSURE_LIST_MAX) return words[masks + entry]!
  // Most closures have two masks, and which of them it is cannot be predicted: no branch. With one, bulks take
  // 2 % more.
  let run = masks + ((~(entry - words[masks]!) >>> 31) << 1)
  while (run < masks + 2 * entries && entry >= words[run]!) run += 2
  return words[run + 1]!
}

/** The word where the gates begin, behind all else. O(masks that differ). */
export function gatesAt(words: Int32Array, block: number, entries: number): number {
  const masks = block + entries
  if (entries > CLOSURE_LIST_MAX) return masks + entries + (2 << tableLog2(entries))
  let run = masks
  while (run < masks + 2 * entries && words[run]! < entries) run += 2
  return entries === 0 ? run : run + 2
}

/** The word behind a closure. `size` is that of its head. Needs the lock: the block must not be torn. */
export function blockEnd(words: Int32Array, block: number, size: number): number {
  const gates = gatesAt(words, block, (size & L.HEAD_SIZE_MASK) >>> 1)
  return (size & 1) === 0 ? gates : gates + 1 + 2 * words[gates]!
}
