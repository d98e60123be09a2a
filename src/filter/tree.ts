/**
 * The filter of a plan as a tree (filter.md P45 to P48). The service creates such trees, and adapters
 * translate them to conditions of a database. This file imports nothing, because clients use it without the
 * service.
 */

/** All operators of field nodes. An adapter must throw on an operator that it does not know. */
export const FIELD_OPERATORS = [
  'eq',
  'ne',
  'lt',
  'lte',
  'gt',
  'gte',
  'in',
  'nin',
  'exists',
  'contains',
  'ncontains',
  'match',
  'nmatch',
  'intersects',
  'disjoint',
  'subset',
  'nsubset',
  'len_eq',
  'len_ne',
  'len_lt',
  'len_gt',
] as const
export type FieldOperator = (typeof FIELD_OPERATORS)[number]

/** Operators whose value is a list. */
export const LIST_OPERATORS = ['in', 'nin', 'intersects', 'disjoint', 'subset', 'nsubset'] as const
export type ListOperator = (typeof LIST_OPERATORS)[number]

export const COLUMN_TYPES = [
  'string',
  'number',
  'bool',
  'time',
  'date',
  'string_array',
  'number_array',
] as const
export type ColumnType = (typeof COLUMN_TYPES)[number]

/** How a check of a row represents a column that is `NULL`. */
export const NULL_MEANINGS = ['sent', 'missing', 'never'] as const
export type NullMeaning = (typeof NULL_MEANINGS)[number]

/** Another column of the same row. */
export interface FieldReference {
  readonly field: string
}

export type ScalarValue = string | number | boolean
export type FieldValue = ScalarValue | readonly (string | number)[] | FieldReference

/**
 * A test of one column. It is true or not true. If the column is `NULL`, only `exists false` is true.
 */
export interface FieldNode {
  readonly type: 'field'
  readonly operator: FieldOperator
  /** `key`, `tenant`, `attributes.<name>` or `relations.<key>`. */
  readonly field: string
  readonly value: FieldValue
}

export interface CompoundNode {
  readonly type: 'compound'
  readonly operator: 'and' | 'or'
  /** At least two nodes. */
  readonly value: readonly FilterNode[]
}

export type FilterNode = CompoundNode | FieldNode

export const PLAN_KINDS = ['always_allowed', 'always_denied', 'conditional'] as const
export type PlanKind = (typeof PLAN_KINDS)[number]

/** The response of `POST /allowed/plan`. */
export interface AccessPlan {
  readonly kind: PlanKind
  /** Present exactly if `kind` is `conditional`. */
  readonly filter?: FilterNode
  /** Number of elements in all lists of the filter. */
  readonly ids: number
  /** State from which the service computed the plan. */
  readonly revision: string
  /** Time of the plan, in RFC 3339 format in UTC with milliseconds. */
  readonly as_of: string
  /** Time until which the plan can be used. Null: until a later revision. */
  readonly expires_at: string | null
}

/** The part of a plan that an adapter reads. */
export type PlannedFilter = Pick<AccessPlan, 'kind' | 'filter'>
