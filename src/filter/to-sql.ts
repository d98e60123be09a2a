/** A plan as the condition of an SQL statement. */
import { conditionSql, type ConditionOptions } from './condition-sql.ts'
import { type DialectName, requireDialect, type SqlDialect } from './dialect.ts'
import { type Fragment, templateOf } from './fragment.ts'
import { MYSQL } from './mysql.ts'
import { POSTGRESQL } from './postgresql.ts'
import { readPlan } from './read-plan.ts'
import { SQLITE } from './sqlite.ts'
import type { FilterTable } from './table.ts'
import type { PlannedFilter } from './tree.ts'

export interface SqlOptions extends ConditionOptions {
  readonly dialect: DialectName
}

const DIALECTS: Readonly<Record<DialectName, SqlDialect>> = {
  postgresql: POSTGRESQL,
  mysql: MYSQL,
  sqlite: SQLITE,
}

/** The condition as parts that other libraries can embed. Throws `FilterError`. */
export function fragmentOf(
  plan: PlannedFilter,
  table: FilterTable,
  { dialect, alias }: SqlOptions,
): Fragment {
  requireDialect(dialect)
  return conditionSql(readPlan(plan, table), table, DIALECTS[dialect], { alias })
}

/**
 * The condition for a `WHERE` clause, and the values of its parameters in order. It is never empty. The
 * parameters are `?`, and with PostgreSQL `$1`, `$2`, …, from `firstParameter` on. Throws `FilterError`.
 */
export function toSql(
  plan: PlannedFilter,
  table: FilterTable,
  { firstParameter = 1, ...options }: SqlOptions & { readonly firstParameter?: number },
): { readonly text: string; readonly values: readonly unknown[] } {
  const { texts, values } = templateOf(fragmentOf(plan, table, options))
  const isNumbered = options.dialect === 'postgresql'
  const text = texts.reduce((before, after, index) => {
    return before + (isNumbered ? `$${firstParameter + index - 1}` : '?') + after
  })
  return { text, values }
}
