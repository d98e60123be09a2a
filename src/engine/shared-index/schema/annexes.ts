/**
 * Annexes of tenants. Under one line there is room for 64 banks of 32 roles (`layout.ts`), and of tenant roles there may be
 * 10,000. Those of each further 64 banks are held under a line of their own, an *annex* of the tenant, which is made when the
 * first of them is given there:
 *
 *     tenant ──► directory │ – │ annex 1 │ annex 2 │ …15     place of a role: bank 64 × n + b is bank b of annex n
 *                               └─► annex │ its tenant │ n │ assignees
 *
 * To assignments an annex is a scope like any other, with assignees of its own and a bit in the filters of its users; only
 * what begins at a tenant, or ends there, knows of it. It lives as long as its tenant. No name leads to it.
 *
 * Bounds: what is read without the lock may be torn; a line that is none is found out at validation.
 */
import { allocateZeroed } from '#engine/shared-index/memory/allocator.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import type { ActionView } from './schema-view.ts'

// Own constants are compiled in; those of another module are loaded each time.
const { A_GROUP, A_TENANT, BANKS_LOG2, BANK_SHIFT, FLAG_ANNEX, LINE_WORDS_LOG2, T_ANNEXES } = L

/** The line under which tenant roles of this bank are held in the tenant; 0 if none is. O(1). */
export function lineOfBank(graph: Int32Array, tenant: number, bank: number): number {
  const group = bank >>> BANKS_LOG2
  if (group === 0) return tenant
  const directory = graph[(tenant << LINE_WORDS_LOG2) + T_ANNEXES]!
  return directory === 0 ? 0 : (graph[directory + group] ?? 0)
}

/** Lock held, in a section: the same, made if need be. */
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

/** The bank, over all annexes, that a scope of a tenant or an annex names. */
export function bankOf(graph: Int32Array, scope: number): number {
  const record = (scope & L.LINE_MASK) << LINE_WORDS_LOG2
  const group = (graph[record]! & FLAG_ANNEX) === 0 ? 0 : graph[record + A_GROUP]!
  return (group << BANKS_LOG2) | (scope >>> BANK_SHIFT)
}

/** The tenant that a line is, or is an annex of. */
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

/** The lines under which the tenant roles that allow are held in the tenant, each with pairs [bank, mask] of them. */
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
