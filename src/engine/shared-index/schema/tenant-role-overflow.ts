/**
 * Manages overflow lines of tenants. One line has 64 banks of 32 roles (`layout.ts`), but there can be 10,000
 * tenant roles. The roles of each further 64 banks are stored under a separate line, an *overflow line* of
 * the tenant. It is created when the first of these roles is assigned in the tenant:
 *
 *     tenant ──► directory │ – │ line 1 │ line 2 │ …15   tenant role bank 64 × n + b is bank b of line n
 *                               └─► line │ its tenant │ n │ assignees
 *
 * For assignments, an overflow line is a scope like any other, with its own assignees and a bit in the
 * filters of its users. Only code that begins or ends at a tenant handles overflow lines. An overflow line
 * exists as long as its tenant. It cannot be found by name.
 *
 * Reads without the lock can be torn. Validation detects a number that is not a line.
 */
import { allocateZeroed } from '#engine/shared-index/memory/allocator.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import type { ActionView } from './schema-view.ts'

// These constants are destructured so that the compiler treats them as constants. Constants of another module
// would be loaded on each use.
const { A_GROUP, A_TENANT, BANKS_LOG2, BANK_SHIFT, FLAG_OVERFLOW, LINE_WORDS_LOG2, T_OVERFLOW } = L

/**
 * Returns the line under which tenant roles of this bank are stored in the tenant, or 0 if it does not exist.
 * O(1).
 */
export function lineOfBank(graph: Int32Array, tenant: number, bank: number): number {
  const group = bank >>> BANKS_LOG2
  if (group === 0) return tenant
  const directory = graph[(tenant << LINE_WORDS_LOG2) + T_OVERFLOW]!
  return directory === 0 ? 0 : (graph[directory + group] ?? 0)
}

/** Like `lineOfBank`, but creates the line if it does not exist. Requires the lock and a critical section. */
export function makeLineOfBank(regions: Regions, tenant: number, bank: number): number {
  const known = lineOfBank(regions.graph, tenant, bank)
  if (known !== 0) return known
  const record = tenant << LINE_WORDS_LOG2
  if (regions.graph[record + T_OVERFLOW] === 0) {
    const directory = allocateZeroed(regions, LINE_WORDS_LOG2)
    regions.graph[record + T_OVERFLOW] = directory
  }
  const overflow = allocateZeroed(regions, LINE_WORDS_LOG2)
  const { graph } = regions
  const group = bank >>> BANKS_LOG2
  graph[overflow] = (L.TENANT_TYPE << L.TYPE_SHIFT) | FLAG_OVERFLOW
  graph[overflow + A_TENANT] = tenant
  graph[overflow + A_GROUP] = group
  graph[graph[record + T_OVERFLOW]! + group] = overflow >>> LINE_WORDS_LOG2
  return overflow >>> LINE_WORDS_LOG2
}

/**
 * Returns the bank of a scope whose line is a tenant or an overflow line. The banks of all lines of a tenant
 * are counted consecutively.
 */
export function bankOf(graph: Int32Array, scope: number): number {
  const record = (scope & L.LINE_MASK) << LINE_WORDS_LOG2
  const group = (graph[record]! & FLAG_OVERFLOW) === 0 ? 0 : graph[record + A_GROUP]!
  return (group << BANKS_LOG2) | (scope >>> BANK_SHIFT)
}

/** Returns the tenant to which a line belongs. The line is the tenant itself or one of its overflow lines. */
export function tenantAt(graph: Int32Array, line: number): number {
  const record = line << LINE_WORDS_LOG2
  return (graph[record]! & FLAG_OVERFLOW) === 0 ? line : graph[record + A_TENANT]!
}

/** Returns the overflow lines of a tenant. */
export function* overflowLinesOf(graph: Int32Array, tenant: number): Iterable<number> {
  const directory = graph[(tenant << LINE_WORDS_LOG2) + T_OVERFLOW]!
  if (directory === 0) return
  for (let group = 1; group < L.TENANT_LINES_MAX; group++) {
    const overflow = graph[directory + group]!
    if (overflow !== 0) yield overflow
  }
}

/**
 * Returns the lines of the tenant that can contain roles that allow, each with pairs [bank, mask] of these
 * roles.
 */
export function* allowingLines(
  graph: Int32Array,
  tenant: number,
  { tenantMasks, overflowMasks }: ActionView,
): Iterable<readonly [line: number, masks: Int32Array]> {
  yield [tenant, tenantMasks]
  for (let m = 0; m < overflowMasks.length; m += 2) {
    const line = lineOfBank(graph, tenant, overflowMasks[m]!)
    if (line !== 0) yield [line, overflowMasks.subarray(m, m + 2)]
  }
}
