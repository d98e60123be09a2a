/**
 * Checks a plan against the description of a table, and resolves the names of its fields (filter.md P66). The
 * result contains every node of the filter.
 */
import { FilterError } from './filter-error.ts'
import { readGlob } from './glob.ts'
import { isDate, isTime } from './row-values.ts'
import type { Field, FilterTable } from './table.ts'
import {
  FIELD_OPERATORS,
  type ColumnType,
  type FieldOperator,
  type ScalarValue,
  type PlannedFilter,
} from './tree.ts'

/** A condition on a row. */
export type RowCondition =
  | { readonly kind: 'always' }
  | { readonly kind: 'never' }
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly RowCondition[] }
  | Comparison

/** A test of a field. The members that an operator does not use are empty. */
export interface Comparison {
  readonly kind: 'test'
  readonly field: Field
  readonly operator: FieldOperator
  /** The values: one, or the elements of a list. For `exists`, one truth value. */
  readonly values: readonly ScalarValue[]
  /** The other field, if the test compares two fields. */
  readonly other: Field | null
}

/** Nested compounds beyond this depth do not come from the service. */
const DEPTH_MAX = 1_000

/** Throws `FilterError` for everything that the service does not send to this version of the adapters. */
export function readPlan(plan: PlannedFilter, table: FilterTable): RowCondition {
  const { kind, filter } = (plan ?? {}) as { readonly kind?: unknown; readonly filter?: unknown }
  if (kind === 'always_allowed' || kind === 'always_denied') {
    if (filter !== undefined)
      throw new FilterError('UNKNOWN_NODE', `expected no filter with the kind ${kind}`)
    return { kind: kind === 'always_allowed' ? 'always' : 'never' }
  }
  if (kind !== 'conditional') {
    const message = 'expected kind to be always_allowed, always_denied or conditional, got '
    throw new FilterError('UNKNOWN_KIND', message + JSON.stringify(kind))
  }
  return readNode(filter, table, 0)
}

function readNode(node: unknown, table: FilterTable, depth: number): RowCondition {
  if (typeof node !== 'object' || node === null || depth > DEPTH_MAX) throw unknownNode(node)
  const { type, operator, field, value, ...others } = node as Record<string, unknown>
  if (Object.keys(others).length > 0) throw unknownNode(node)
  if (type === 'compound' && (operator === 'and' || operator === 'or') && !('field' in node)) {
    if (!Array.isArray(value) || value.length < 2) throw unknownNode(node)
    return { kind: operator, conditions: value.map(child => readNode(child, table, depth + 1)) }
  }
  if (type !== 'field' || typeof field !== 'string') throw unknownNode(node)
  const known = table.fields.get(field)
  if (known === undefined) {
    throw new FilterError('UNKNOWN_FIELD', `the table describes no field ${JSON.stringify(field)}`, { field })
  }
  if (!FIELD_OPERATORS.includes(operator as FieldOperator)) {
    const message = `${field}: this version of the adapters has no operator ${JSON.stringify(operator)}`
    throw new FilterError('UNKNOWN_OPERATOR', message, { field, operator: String(operator) })
  }
  return comparison(known, operator as FieldOperator, value, table)
}

function unknownNode(node: unknown): FilterError {
  const text = JSON.stringify(node) ?? String(node)
  return new FilterError('UNKNOWN_NODE', `expected a node of a filter, got ${text.slice(0, 200)}`)
}

/** Operators by the form of their value. */
const ORDERINGS: ReadonlySet<FieldOperator> = new Set(['lt', 'lte', 'gt', 'gte'])
const EQUALITIES: ReadonlySet<FieldOperator> = new Set(['eq', 'ne'])
const LISTS: ReadonlySet<FieldOperator> = new Set(['in', 'nin'])
const TEXTS: ReadonlySet<FieldOperator> = new Set(['contains', 'ncontains', 'match', 'nmatch'])
const SETS: ReadonlySet<FieldOperator> = new Set(['intersects', 'disjoint', 'subset', 'nsubset'])
const LENGTHS: ReadonlySet<FieldOperator> = new Set(['len_eq', 'len_ne', 'len_lt', 'len_gt'])

function comparison(field: Field, operator: FieldOperator, value: unknown, table: FilterTable): Comparison {
  const test = { kind: 'test', field, operator, other: null } as const
  const invalid = (expected: string): FilterError => {
    const message = `${field.name} ${operator}: expected ${expected}, got ${JSON.stringify(value)?.slice(0, 200)}`
    return new FilterError('INVALID_VALUE', message, { field: field.name, operator })
  }
  const { type } = field
  const element = ELEMENT_TYPES[type]
  const isList = element !== undefined
  if (operator === 'exists') {
    if (typeof value !== 'boolean' || field.nulls === 'never')
      throw invalid('true or false, of a field with NULL')
    return { ...test, values: [value] }
  }
  if (isReference(value)) {
    const isOrdered = type === 'number' || type === 'time' || type === 'date'
    const other = table.fields.get(value.field)
    const fits = EQUALITIES.has(operator) ? !isList : ORDERINGS.has(operator) && isOrdered
    if (!fits || other?.type !== type || field.join || other.join) throw invalid('a comparable field')
    return { ...test, values: [], other }
  }
  if (EQUALITIES.has(operator)) {
    if (isList || !fitsType(value, type) || (type === 'bool' && operator === 'ne')) throw invalid(`a ${type}`)
    return { ...test, values: [value] }
  }
  if (ORDERINGS.has(operator)) {
    const isInstant = (type === 'time' || type === 'date') && (operator === 'lt' || operator === 'gte')
    if ((type !== 'number' && !isInstant) || !fitsType(value, type)) throw invalid('a bound of the field')
    return { ...test, values: [value] }
  }
  if (LISTS.has(operator)) {
    const isFitting = !isList && type !== 'bool' && isListOf(value, type, 2)
    if (!isFitting) throw invalid(`at least two values of the type ${type}`)
    return { ...test, values: value }
  }
  if (TEXTS.has(operator)) {
    if (type !== 'string' || typeof value !== 'string' || value === '') throw invalid('a text')
    if (operator === 'match' || operator === 'nmatch') readGlob(value)
    return { ...test, values: [value] }
  }
  if (SETS.has(operator)) {
    if (!isList || !isListOf(value, element, 1)) throw invalid('a list of elements')
    return { ...test, values: value }
  }
  if (LENGTHS.has(operator)) {
    if (!isList || !Number.isSafeInteger(value) || (value as number) < 0) throw invalid('a whole number')
    return { ...test, values: [value as number] }
  }
  throw invalid('another operator')
}

const ELEMENT_TYPES: Partial<Record<ColumnType, 'string' | 'number'>> = {
  string_array: 'string',
  number_array: 'number',
}

function isReference(value: unknown): value is { readonly field: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length === 1 &&
    typeof (value as { field?: unknown }).field === 'string'
  )
}

function isListOf(value: unknown, type: ColumnType, least: number): value is readonly ScalarValue[] {
  return Array.isArray(value) && value.length >= least && value.every(item => fitsType(item, type))
}

function fitsType(value: unknown, type: ColumnType): value is ScalarValue {
  switch (type) {
    case 'string':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    case 'bool':
      return typeof value === 'boolean'
    case 'time':
      return typeof value === 'string' && isTime(value)
    case 'date':
      return typeof value === 'string' && isDate(value)
    default:
      return false
  }
}
