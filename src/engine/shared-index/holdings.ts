/** What users hold directly, and who holds something: assignments read from both sides. Reads without the lock. */
import * as L from './layout.ts'
import type { NumberList } from './number-list.ts'
import type { Regions } from './regions.ts'
import type { SchemaView } from './schema-view.ts'
import { findPair, isWithin, PAIRS, SET } from './slab.ts'

/** log2 of the users whose records are fetched at a time. */
const STAGE_LOG2 = 5

/** Whether the user holds the role at this place, on this instance or tenant, directly. Expected O(1). */
export function holdsPlace(graph: Int32Array, user: number, line: number, place: number): boolean {
  return (maskAt(graph, user, line | ((place >>> 5) << L.BANK_SHIFT)) & (1 << (place & 31))) !== 0
}

/** Whether the user holds any role there directly that still exists: what blocks a guarded derivation. */
export function holdsAny(graph: Int32Array, schema: SchemaView, user: number, line: number): boolean {
  const type = schema.typesById[graph[line << L.LINE_WORDS_LOG2]! >>> L.TYPE_SHIFT]
  if (type === undefined) return false
  for (let bank = 0; bank < type.liveMasks.length; bank++) {
    if ((maskAt(graph, user, line | (bank << L.BANK_SHIFT)) & type.liveMasks[bank]!) !== 0) return true
  }
  return false
}

function maskAt(graph: Int32Array, user: number, scope: number): number {
  const slab = (user << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS
  const at = findPair(graph, graph[slab]!, graph[slab + 1]!, scope)
  return at === 0 ? 0 : graph[at + 1]!
}

/** Every user with some assignment on the instance or tenant, removed ones left out. O(assignees). */
export function* assigneesOf({ graph }: Regions, line: number): Iterable<number> {
  const descriptor = (line << L.LINE_WORDS_LOG2) + L.I_ASSIGNEES
  const ptr = graph[descriptor]!
  const meta = graph[descriptor + 1]!
  if (!meta) return
  if ((meta & L.LOG2_MASK) === L.INLINE) {
    if (!isGone(graph, ptr)) yield ptr
    return
  }
  const log2 = meta & L.LOG2_MASK
  if (!isWithin(graph, ptr, log2, SET)) return
  for (let at = ptr; at < ptr + (1 << log2); at++) {
    const user = graph[at]!
    if (user !== 0 && !isGone(graph, user)) yield user
  }
}

/**
 * Appends every user who holds the role at this place there, removed ones left out. The users' records and slabs are
 * scattered over memory, so they are looked at in stages of independent loads (as in `batch-check.ts`). O(assignees).
 */
export function takeHolders(regions: Regions, line: number, place: number, into: NumberList): void {
  const { graph } = regions
  const descriptor = (line << L.LINE_WORDS_LOG2) + L.I_ASSIGNEES
  const log2 = graph[descriptor + 1]! & L.LOG2_MASK
  if (log2 === L.INLINE || log2 < STAGE_LOG2) {
    for (const user of assigneesOf(regions, line)) if (holdsPlace(graph, user, line, place)) into.push(user)
    return
  }
  const ptr = graph[descriptor]!
  if (!isWithin(graph, ptr, log2, SET)) return
  const scope = line | ((place >>> 5) << L.BANK_SHIFT)
  for (let from = ptr; from < ptr + (1 << log2); from += 1 << STAGE_LOG2) {
    fetchSlots(graph, from, scope)
    for (let at = from; at < from + (1 << STAGE_LOG2); at++) {
      const user = graph[at]!
      if (user !== 0 && !isGone(graph, user) && holdsPlace(graph, user, line, place)) into.push(user)
    }
  }
}

/** Brings in the users' records, then where the scope would stand in their slabs. The value means nothing. */
function fetchSlots(graph: Int32Array, from: number, scope: number): number {
  const end = from + (1 << STAGE_LOG2)
  const hash = Math.imul(scope, L.ID_HASH)
  let sink = 0
  for (let at = from; at < end; at++) sink ^= graph[(graph[at]! << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS]!
  for (let at = from; at < end; at++) {
    const slab = (graph[at]! << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS
    sink ^= graph[graph[slab]! + ((hash >>> (32 - (graph[slab + 1]! & L.LOG2_MASK))) << 1)]!
  }
  return sink
}

/** Every (scope, mask) of the user, dead ones included. O(assignments). */
export function* assignmentsOf({ graph }: Regions, user: number): Iterable<readonly [number, number]> {
  const slab = (user << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS
  const ptr = graph[slab]!
  const meta = graph[slab + 1]!
  if (!meta || !isWithin(graph, ptr, meta & L.LOG2_MASK, PAIRS)) return
  const end = ptr + (2 << (meta & L.LOG2_MASK))
  for (let at = ptr; at < end; at += 2) if (graph[at] !== 0) yield [graph[at]!, graph[at + 1]!]
}

/** Places of the roles in a mask of this bank. */
export function* placesIn(bank: number, mask: number): Iterable<number> {
  for (let rest = mask; rest !== 0; rest &= rest - 1) {
    yield bank * L.BANK_ROLES + 31 - Math.clz32(rest & -rest)
  }
}

function isGone(graph: Int32Array, line: number): boolean {
  return (graph[line << L.LINE_WORDS_LOG2]! & L.FLAG_DEAD) !== 0
}
