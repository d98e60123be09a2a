/**
 * Manages annexes of tenants. One line has 64 banks of 32 roles (`layout.ts`), but there can be 10,000 tenant
 * roles. The roles of each further 64 banks are stored under a separate line, an *annex* of the tenant. It is
 * created when the first of these roles is assigned in the tenant:
 *
 *     tenant ──► directory │ – │ annex 1 │ annex 2 │ …15   tenant role bank 64 × n + b is bank b of annex n
 *                               └─► annex │ its tenant │ n │ assignees
 *
 * For assignments, an annex is a scope like any other, with its own assignees and a bit in the filters of its
 * users. Only code that begins or ends at a tenant handles annexes. An annex exists as long as its tenant. It
 * cannot be found by name.
 *
 * Reads without the lock can be torn. Validation detects a number that is not a line.
 */
import { allocateZeroed } from '#engine/shared-index/memory/allocator.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import type { ActionView } from './schema-view.ts'

// Constants of this module are compiled in; those of another module would be loaded on each use.
const { A_GROUP, A_TENANT, BANKS_LOG2, BANK_SHIFT, FLAG_ANNEX, LINE_WORDS_LOG2, T_ANNEXES } = L

/** Returns the line that stores tenant roles of this bank in the tenant; 0 if there is none. O(1). */
export function lineOfBank(graph: Int32Array, tenant: number, bank: number): number {
  const group = bank >>> BANKS_LOG2
  if (group === 0) return tenant
  const directory = graph[(tenant << LINE_WORDS_LOG2) + T_ANNEXES]!
  return directory === 0 ? 0 : (graph[directory + group] ?? 0)
}

/** Like `lineOfBank`, but creates the line if needed. Requires the lock and a critical section. */
export function makeLineOfBank(regions: Regions, tenant: number, bank: number): number {
  const known = lineOfBank(regions.graph, tenant, bank)
  if (known !== 0) return known
  const record = tenant << LINE_WORDS_LOG2
  if (regions.graph[record + T_ANNEXES] === 0) {
    const directory = allocateZeroed(regions, LINE_WORDS_LOG2)
    regions.graph[record + T_ANNEXES] = directory
  }
  const annex = allocateZeroed(regions, LINE_WORDS_LOG2)
  const { graph } = regions
  const group = bank >>> BANKS_LOG2
  graph[annex] = (L.TENANT_TYPE << L.TYPE_SHIFT) | FLAG_ANNEX
  graph[annex + A_TENANT] = tenant
  graph[annex + A_GROUP] = group
  graph[graph[record + T_ANNEXES]! + group] = annex >>> LINE_WORDS_LOG2
  return annex >>> LINE_WORDS_LOG2
}

/** Returns the bank, counted over all annexes, of a scope of a tenant or an annex. */
export function bankOf(graph: Int32Array, scope: number): number {
  const record = (scope & L.LINE_MASK) << LINE_WORDS_LOG2
  const group = (graph[record]! & FLAG_ANNEX) === 0 ? 0 : graph[record + A_GROUP]!
  return (group << BANKS_LOG2) | (scope >>> BANK_SHIFT)
}

/** Returns the tenant of a line, which is the tenant itself or one of its annexes. */
export function tenantAt(graph: Int32Array, line: number): number {
  const record = line << LINE_WORDS_LOG2
  return (graph[record]! & FLAG_ANNEX) === 0 ? line : graph[record + A_TENANT]!
}

/** The annexes of a tenant. */
export function* annexesOf(graph: Int32Array, tenant: number): Iterable<number> {
  const directory = graph[(tenant << LINE_WORDS_LOG2) + T_ANNEXES]!
  if (directory === 0) return
  for (let group = 1; group < L.TENANT_LINES_MAX; group++) {
    const annex = graph[directory + group]!
    if (annex !== 0) yield annex
  }
}

/**
 * Returns the lines of the tenant that can contain allowing roles, each with pairs [bank, mask] of these
 * roles.
 */
export function* allowingLines(
  graph: Int32Array,
  tenant: number,
  { tenantMasks, annexMasks }: ActionView,
): Iterable<readonly [line: number, masks: Int32Array]> {
  yield [tenant, tenantMasks]
  for (let m = 0; m < annexMasks.length; m += 2) {
    const line = lineOfBank(graph, tenant, annexMasks[m]!)
    if (line !== 0) yield [line, annexMasks.subarray(m, m + 2)]
  }
}
