/**
 * What a closure looks like, in the room of its container or in the region of closures:
 *
 *   up to 40 entries   │ scopes × n │ (end, mask) × r │ gates, if any
 *   more               │ scopes × n │ masks × n │ table of pairs (scope, mask) │ gates, if any
 *
 *   gates              │ g │ (instance, state) × g │
 *
 * Few masks differ in a closure, so in a short one the scopes that share one stand side by side, and each mask is told once with
 * the place behind the last of its scopes: less to bring in. A long one is looked up by scope from either side.
 *
 * Readers look at torn blocks, too: every loop here is bounded by the number of entries, and what lies beyond a view
 * reads as nothing.
 */
import { log2Ceil } from '#engine/shared-index/memory/allocator.ts'
import * as L from '#engine/shared-index/memory/layout.ts'

// Own constants are compiled in; those of another module are loaded each time.
const { CLOSURE_LIST_MAX } = L

/** log2 of the pairs in the table of a closure with so many entries. */
export function tableLog2(entries: number): number {
  return log2Ceil(entries * 2)
}

/**
 * How many words a closure with so many entries has at least. Whoever reads without the lock looks whether they lie
 * where they may: a torn number of entries would have a table of any size gone through.
 */
export function wordsMin(entries: number): number {
  return entries > CLOSURE_LIST_MAX ? 2 * entries + (2 << tableLog2(entries)) : entries
}

/** The mask of an entry. O(masks that differ). */
export function maskOfEntry(words: Int32Array, block: number, entries: number, entry: number): number {
  const masks = block + entries
  if (entries > CLOSURE_LIST_MAX) return words[masks + entry]!
  // Most closures have two, and which of them it is cannot be guessed: no branch.
  let run = masks + ((~(entry - words[masks]!) >>> 31) << 1)
  while (run < masks + 2 * entries && entry >= words[run]!) run += 2
  return words[run + 1]!
}

/** Where the gates begin: the word behind all else. O(masks that differ). */
export function gatesAt(words: Int32Array, block: number, entries: number): number {
  const masks = block + entries
  if (entries > CLOSURE_LIST_MAX) return masks + entries + (2 << tableLog2(entries))
  let run = masks
  while (run < masks + 2 * entries && words[run]! < entries) run += 2
  return entries === 0 ? run : run + 2
}

/** The word behind a closure. `size` is that of its head. Only with the lock, for what is whole. */
export function blockEnd(words: Int32Array, block: number, size: number): number {
  const gates = gatesAt(words, block, (size & L.HEAD_SIZE_MASK) >>> 1)
  return (size & 1) === 0 ? gates : gates + 1 + 2 * words[gates]!
}
