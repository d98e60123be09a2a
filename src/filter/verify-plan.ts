/** Compares a plan with checks of real rows: the law of filter.md P19 on the data of the caller. */
import { toPredicate } from './predicate.ts'
import { type TableRow, rowCheck } from './row-values.ts'
import type { PlanQuestion, FilterTable } from './table.ts'
import type { PlannedFilter } from './tree.ts'

/** Sends checks to `/allowed/bulk`, and returns the results in the same order. */
export type BulkChecks = (checks: readonly Record<string, unknown>[]) => Promise<readonly boolean[]>

export interface Difference {
  readonly row: TableRow
  /** Whether the filter selects the row. */
  readonly isSelected: boolean
  /** Whether a check of the row allows. */
  readonly isAllowed: boolean
}

const CHECKS_AT_ONCE = 1_000

/**
 * Returns the rows for which the filter and a check differ. The plan and the checks must be of the same
 * revision. Throws `FilterError`, and the errors of `bulk`.
 */
export async function verifyPlan(
  plan: PlannedFilter,
  table: FilterTable,
  question: PlanQuestion,
  rows: Iterable<TableRow>,
  bulk: BulkChecks,
): Promise<Difference[]> {
  const selects = toPredicate(plan, table)
  const differences: Difference[] = []
  const all = Array.from(rows)
  for (let from = 0; from < all.length; from += CHECKS_AT_ONCE) {
    const some = all.slice(from, from + CHECKS_AT_ONCE)
    const allowed = await bulk(some.map(row => rowCheck(table, question, row)))
    for (const [index, row] of some.entries()) {
      const isSelected = selects(row)
      const isAllowed = allowed[index] === true
      if (isSelected !== isAllowed) differences.push({ row, isSelected, isAllowed })
    }
  }
  return differences
}
