/**
 * Reads assignments in both directions: the direct roles of a user, and the users who hold a role. Reads
 * without the lock.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { findPair, isWithin, PAIRS, SET } from '#engine/shared-index/memory/slab.ts'
import type { SchemaView } from '#engine/shared-index/schema/schema-view.ts'

/** Number of users whose records are prefetched together. */
const STAGE = 64
/** The users of one stage. This scratch memory is used by one thread. */
const users = new Int32Array(STAGE)

/** Returns whether the user directly holds this role on this instance or tenant. Expected O(1). */
export function holdsRole(graph: Int32Array, user: number, line: number, roleIndex: number): boolean {
  return (maskAt(graph, user, line | ((roleIndex >>> 5) << L.BANK_SHIFT)) & (1 << (roleIndex & 31))) !== 0
}

/**
 * Returns whether the user directly holds any existing role on this line. If so, guarded derivations do not
 * apply to the user there.
 */
export function holdsAny(graph: Int32Array, schema: SchemaView, user: number, line: number): boolean {
  const type = schema.typesById[graph[line << L.LINE_WORDS_LOG2]! >>> L.TYPE_SHIFT]
  if (type === undefined) return false
  for (let bank = 0; bank < type.liveMasks.length; bank++) {
    if ((maskAt(graph, user, line | (bank << L.BANK_SHIFT)) & type.liveMasks[bank]!) !== 0) return true
  }
  return false
}

/**
 * Returns the mask of roles that the user holds in the scope. It can contain roles that have been removed.
 * Expected O(1).
 */
export function maskAt(graph: Int32Array, user: number, scope: number): number {
  const slab = (user << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS
  const at = findPair(graph, graph[slab]!, graph[slab + 1]!, scope)
  return at === 0 ? 0 : graph[at + 1]!
}

/** Returns every existing user with an assignment on the instance or tenant. O(assignees). */
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
 * Appends every existing user who holds one of these roles in this scope. The records and slabs of users are
 * scattered over memory. They are therefore read in stages of independent loads, as in `batch-check.ts`. The
 * returned number has no meaning; it keeps the compiler from removing the prefetching loads. O(assignees).
 */
export function takeHolders(regions: Regions, scope: number, mask: number, into: NumberList): number {
  const { graph } = regions
  const descriptor = ((scope & L.LINE_MASK) << L.LINE_WORDS_LOG2) + L.I_ASSIGNEES
  const ptr = graph[descriptor]!
  const log2 = graph[descriptor + 1]! & L.LOG2_MASK
  if (log2 === L.INLINE) {
    users[0] = ptr
    takeWhoHold(graph, 1, { scope, mask }, into)
    return 0
  }
  if (!isWithin(graph, ptr, log2, SET)) return 0
  const end = ptr + (1 << log2)
  let prefetchSink = 0
  for (let from = ptr; from < end; from += STAGE) {
    let count = 0
    for (let at = from; at < Math.min(from + STAGE, end); at++) {
      const user = graph[at]!
      users[count] = user
      count += user === 0 ? 0 : 1
    }
    prefetchSink ^= prefetchHoldings(graph, count, scope)
    takeWhoHold(graph, count, { scope, mask }, into)
  }
  return prefetchSink
}

/** Prefetches the records of the users, and then the slots of the scope in their slabs. */
function prefetchHoldings(graph: Int32Array, count: number, scope: number): number {
  const hash = Math.imul(scope, L.ID_HASH)
  let sink = 0
  for (let i = 0; i < count; i++) sink ^= graph[(users[i]! << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS]!
  for (let i = 0; i < count; i++) {
    const slab = (users[i]! << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS
    sink ^= graph[graph[slab]! + ((hash >>> (32 - (graph[slab + 1]! & L.LOG2_MASK))) << 1)]!
  }
  return sink
}

function takeWhoHold(
  graph: Int32Array,
  count: number,
  { scope, mask }: { readonly scope: number; readonly mask: number },
  into: NumberList,
): void {
  for (let i = 0; i < count; i++) {
    const user = users[i]!
    if (!isGone(graph, user) && (maskAt(graph, user, scope) & mask) !== 0) into.push(user)
  }
}

/** Returns every (scope, mask) of the user. Scopes can belong to dead records. O(assignments). */
export function* assignmentsOf(regions: Regions, user: number): Iterable<readonly [number, number]> {
  const { graph } = regions
  const { from, end } = assignmentWords(regions, user)
  for (let at = from; at < end; at += 2) if (graph[at] !== 0) yield [graph[at]!, graph[at + 1]!]
}

/** Returns the words with the pairs of `assignmentsOf`. Pairs whose scope is 0 are free. */
export function assignmentWords(
  { graph }: Regions,
  user: number,
): { readonly from: number; readonly end: number } {
  const slab = (user << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS
  const from = graph[slab]!
  const meta = graph[slab + 1]!
  if (!meta || !isWithin(graph, from, meta & L.LOG2_MASK, PAIRS)) return { from: 0, end: 0 }
  return { from, end: from + (2 << (meta & L.LOG2_MASK)) }
}

/** Returns the indexes of the roles in a mask of this bank. */
export function* roleIndexesIn(bank: number, mask: number): Iterable<number> {
  for (let rest = mask; rest !== 0; rest &= rest - 1) {
    yield bank * L.BANK_ROLES + 31 - Math.clz32(rest & -rest)
  }
}

function isGone(graph: Int32Array, line: number): boolean {
  return (graph[line << L.LINE_WORDS_LOG2]! & L.FLAG_DEAD) !== 0
}
