/** A plan as an expression for `.where(…)` of Kysely. */
import { type RawBuilder, sql } from 'kysely'
import { templateOf } from './fragment.ts'
import type { FilterTable } from './table.ts'
import { fragmentOf, type SqlOptions } from './to-sql.ts'
import type { PlannedFilter } from './tree.ts'

/** `options.dialect` must be that of the database. Throws `FilterError`. */
export function toKysely(plan: PlannedFilter, table: FilterTable, options: SqlOptions): RawBuilder<boolean> {
  const { texts, values } = templateOf(fragmentOf(plan, table, options))
  return sql<boolean>(asTemplate(texts), ...values)
}

function asTemplate(texts: readonly string[]): TemplateStringsArray {
  return Object.assign([...texts], { raw: texts })
}
