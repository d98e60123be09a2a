/** Entry point of `verdict-authz/filter`. Nothing in this folder imports the service. */

export type { Difference, BulkChecks } from './verify-plan.ts'
export { verifyPlan } from './verify-plan.ts'
export { FilterError, type FilterErrorCode } from './filter-error.ts'
export { toPredicate, type Predicate } from './predicate.ts'
export { type TableRow, rowCheck } from './row-values.ts'
export {
  type AttributeDescription,
  type ColumnDescription,
  type JoinDescription,
  planRequest,
  type PlanQuestion,
  table,
  type FilterTable,
  type TableDescription,
} from './table.ts'
export { toSql, type SqlOptions } from './to-sql.ts'
export type { AccessPlan, PlannedFilter } from './tree.ts'
