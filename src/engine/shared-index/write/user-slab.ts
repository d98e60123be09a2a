/**
 * Manages the assignments of a user, and a filter. If an assignment does not exist, a reader usually finds
 * this in the filter, without reading the slab. The filter is a Bloom filter with one hash and 512 bits. For
 * each instance or tenant for which the user has a mask, one bit is set.
 *
 * Invariant: every scope in the slab has its bit. If a user has many assignments, the filter can keep the
 * bits of removed scopes, because a rebuild would cost more than false hits. A false hit costs one probe.
 *
 * All functions require the lock and a critical section.
 */
import { clearExpiryOfRoles } from '#engine/shared-index/memory/expiry-table.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { deleteMember, deletePair, findPair } from '#engine/shared-index/memory/slab.ts'

const REBUILT_UP_TO_LOG2 = 7
const FILTER_WORDS = 16

export function addToFilter(graph: Int32Array, user: number, line: number): void {
  const hash = Math.imul(line, L.ID_HASH)
  const at = user + L.U_FILTER + (hash >>> (L.FILTER_SHIFT + 5))
  graph[at] = graph[at]! | (1 << (hash >>> L.FILTER_SHIFT))
}

/**
 * Removes these roles from the scope. If no roles remain, the scope is removed. If no scopes of the line
 * remain, the user is also removed from the assignees of the line. Returns true if the scope was removed. The
 * caller can then rebuild the filter, immediately or later.
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

/** Updates the user's side for `dropScope`. Returns true if the scope was removed. */
export function takeMask(regions: Regions, user: number, scope: number, mask: number): boolean {
  const { graph, header } = regions
  const slab = (user << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS
  const at = findPair(graph, graph[slab]!, graph[slab + 1]!, scope)
  if (at === 0 || (graph[at + 1]! & mask) === 0) return false
  header[L.H_ASSIGNMENTS] = header[L.H_ASSIGNMENTS]! - bitCount(graph[at + 1]! & mask)
  clearExpiryOfRoles(regions, user, scope, graph[at + 1]! & mask)
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

/** Rebuilds the filter without the bits of removed scopes. `line` is the line of a user. */
export function rebuildFilter(graph: Int32Array, line: number): void {
  const user = line << L.LINE_WORDS_LOG2
  const meta = graph[user + L.U_ASSIGNMENTS + 1]!
  // The capacity decides, because a rebuild reads the whole slab. A large slab that is mostly empty is shrunk
  // later (`slab.ts`).
  if ((meta & L.LOG2_MASK) > REBUILT_UP_TO_LOG2) return
  graph.fill(0, user + L.U_FILTER, user + L.U_FILTER + FILTER_WORDS)
  if (meta === 0) return
  const from = graph[user + L.U_ASSIGNMENTS]!
  const end = from + (2 << (meta & L.LOG2_MASK))
  for (let at = from; at < end; at += 2) {
    if (graph[at] !== 0) addToFilter(graph, user, graph[at]! & L.LINE_MASK)
  }
}
