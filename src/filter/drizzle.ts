/** A plan as an expression for `.where(…)` of Drizzle. */
import { type SQL, sql } from 'drizzle-orm'
import { templateOf } from './fragment.ts'
import type { FilterTable } from './table.ts'
import { fragmentOf, type SqlOptions } from './to-sql.ts'
import type { PlannedFilter } from './tree.ts'

/** `options.dialect` must be that of the database. Throws `FilterError`. */
export function toDrizzle(plan: PlannedFilter, table: FilterTable, options: SqlOptions): SQL {
  const { texts, values } = templateOf(fragmentOf(plan, table, options))
  const template = Object.assign([...texts], { raw: texts })
  // A list that is inserted directly would become several parameters.
  return sql(template, ...values.map(value => sql.param(value)))
}
