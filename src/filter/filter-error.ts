/** The error of the adapters. An adapter throws it instead of omitting a part of a filter (filter.md P66). */

export type FilterErrorCode =
  /** The plan is not one that this version of the adapters can read. */
  | 'UNKNOWN_KIND'
  | 'UNKNOWN_NODE'
  | 'UNKNOWN_OPERATOR'
  | 'INVALID_VALUE'
  /** The filter tests a field that the table does not describe. */
  | 'UNKNOWN_FIELD'
  /** The target cannot express the operator exactly. */
  | 'NOT_EXPRESSIBLE'
  /** The filter has more values than the target binds. */
  | 'TOO_MANY_VALUES'
  /** The description of the table is not valid. */
  | 'INVALID_TABLE'
  /** A row has a value that its column must not have. */
  | 'INVALID_ROW'

export class FilterError extends Error {
  readonly code: FilterErrorCode
  /** The field that the error concerns; null if it concerns none. */
  readonly field: string | null
  readonly operator: string | null

  constructor(
    code: FilterErrorCode,
    message: string,
    {
      field = null,
      operator = null,
    }: { readonly field?: string | null; readonly operator?: string | null } = {},
  ) {
    super(message)
    this.name = 'FilterError'
    this.code = code
    this.field = field
    this.operator = operator
  }
}
