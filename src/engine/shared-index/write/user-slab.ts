/**
 * A user's assignments and the filter that says "nothing here" without looking: one bit of 512 for each instance or
 * tenant the user has a mask for.
 *
 * Invariant: every scope in the slab has its bit. Bits of what is gone may stay in the filter of a user with many
 * assignments, where rebuilding would cost more than false hits; a false hit costs one probe.
 *
 * Lock held and in a section everywhere.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import { deleteMember, deletePair, findPair } from '#engine/shared-index/memory/slab.ts'

const REBUILT_UP_TO_LOG2 = 7
const FILTER_WORDS = 16

export function addToFilter(graph: Int32Array, user: number, line: number): void {
  const hash = Math.imul(line, L.ID_HASH)
  const at = user + L.U_FILTER + (hash >>> (L.FILTER_SHIFT + 5))
  graph[at] = graph[at]! | (1 << (hash >>> L.FILTER_SHIFT))
}

/**
 * Takes these roles from the scope; with its last one the scope goes, and with the last scope the assignee. True if the
 * scope went: then the filter may be rebuilt, now or later.
 */
export function dropScope(
  regions: Regions,
  user: number,
  scope: number,
  mask: number,
  banks: number,
): boolean {
  if (!takeMask(regions, user, scope, mask)) return false
  const { graph } = regions
  const line = scope & L.LINE_MASK
  if (!hasAnyScope(graph, (user << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS, line, banks)) {
    deleteMember(regions, (line << L.LINE_WORDS_LOG2) + L.I_ASSIGNEES, user)
  }
  return true
}

/** The user's side of `dropScope` alone. True if the scope went. */
export function takeMask(regions: Regions, user: number, scope: number, mask: number): boolean {
  const { graph, header } = regions
  const slab = (user << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS
  const at = findPair(graph, graph[slab]!, graph[slab + 1]!, scope)
  if (at === 0 || (graph[at + 1]! & mask) === 0) return false
  header[L.H_ASSIGNMENTS] = header[L.H_ASSIGNMENTS]! - bitCount(graph[at + 1]! & mask)
  graph[at + 1] = graph[at + 1]! & ~mask
  if (graph[at + 1] !== 0) return false
  deletePair(regions, slab, scope)
  return true
}

export function bitCount(mask: number): number {
  let bits = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) bits++
  return bits
}

function hasAnyScope(graph: Int32Array, slab: number, line: number, banks: number): boolean {
  for (let bank = 0; bank < banks; bank++) {
    if (findPair(graph, graph[slab]!, graph[slab + 1]!, line | (bank << L.BANK_SHIFT)) !== 0) return true
  }
  return false
}

/** Takes out of the filter what is gone; `line` is a user's. */
export function rebuildFilter(graph: Int32Array, line: number): void {
  const user = line << L.LINE_WORDS_LOG2
  const meta = graph[user + L.U_ASSIGNMENTS + 1]!
  // By capacity, which is what a rebuild reads: a large slab that is mostly empty shrinks later (`slab.ts`).
  if ((meta & L.LOG2_MASK) > REBUILT_UP_TO_LOG2) return
  graph.fill(0, user + L.U_FILTER, user + L.U_FILTER + FILTER_WORDS)
  if (meta === 0) return
  const from = graph[user + L.U_ASSIGNMENTS]!
  const end = from + (2 << (meta & L.LOG2_MASK))
  for (let at = from; at < end; at += 2) {
    if (graph[at] !== 0) addToFilter(graph, user, graph[at]! & L.LINE_MASK)
  }
}
