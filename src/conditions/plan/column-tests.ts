/**
 * Tests of present columns (filter.md P40 to P44). Each function gets values of which at least one is a
 * column, and returns when the test is true and when it is false.
 */
import { isInRelation, type OrderRelation, rankOf } from '#conditions/nodes/ordering.ts'
import type { LengthRelation } from '#conditions/nodes/array-length.ts'
import type { SetRelation } from '#conditions/nodes/array-comparison.ts'
import { readInstant } from '#conditions/values/instants.ts'
import { UNKNOWN } from '#conditions/values/truth.ts'
import { comparable, equality, isCompound, isUnreadable } from '#conditions/values/values.ts'
import {
  among,
  and,
  ascending,
  Column,
  ColumnTest,
  type Formula,
  type ListSource,
  NO_NUMBER,
  notAmong,
  or,
  readable,
  type Scalar,
} from './formula.ts'
import type { FieldOperator } from '#filter/tree.ts'
import { isFormOf, rangeOf, type TimeType } from './time-bounds.ts'
import { ALWAYS, anyTruths, NEITHER, negatedTruths, NEVER, type Truths } from './truths.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'

/** Reason why a test cannot be expressed. */
export interface Inexpressible {
  readonly because: string
}

export type ColumnTruths = Truths | Inexpressible

const TEXT_ORDER: Inexpressible = {
  because: 'the text of a string column can be a time: declare the column as time or date',
}
const TIME_WITH_DATE: Inexpressible = { because: 'a time column cannot be ordered with a date column' }
const TEXT_OF_TIME: Inexpressible = {
  because: 'a filter does not read a time or date column as text: declare the column as string, or omit it',
}
const TEXT_EQUALS_TIME: Inexpressible = {
  because: 'a string column cannot be compared with a time or date column: declare both with one type',
}
const WHOLE_ARRAYS: Inexpressible = {
  because:
    'a filter does not compare an array column with an array as a whole: use array_superset and array_subset',
}
const COLUMN_IN_COLUMN: Inexpressible = { because: 'a filter does not search for a column in another column' }
const LENGTH_OF_COLUMNS: Inexpressible = {
  because: 'a filter does not compare the length of an array column with another column',
}

export function isInexpressible(truths: ColumnTruths): truths is Inexpressible {
  return 'because' in truths
}

export function isArrayColumn({ type }: Column): boolean {
  return type === 'string_array' || type === 'number_array'
}

/** Returns whether the text of a value of the column could equal or contain a text. */
export function isTextColumn({ type }: Column): boolean {
  return type === 'string' || isTimeColumn(type)
}

function isTimeColumn(type: Column['type']): type is TimeType {
  return type === 'time' || type === 'date'
}

/** Returns the value as a value of the column, or null if no row contains it. */
function fitting({ type }: Column, value: unknown): Scalar | null {
  const plain = comparable(value)
  switch (type) {
    case 'string':
    case 'string_array':
      return typeof plain === 'string' ? plain : null
    case 'number':
    case 'number_array':
      return typeof plain === 'number' && Number.isFinite(plain) ? plain : null
    case 'bool':
      return typeof plain === 'boolean' ? plain : null
    case 'time':
    case 'date':
      return typeof plain === 'string' && isFormOf(type, plain) ? plain : null
  }
}

function testOf(column: Column, operator: FieldOperator, opposite: FieldOperator, value: Scalar): Truths {
  return {
    isTrue: new ColumnTest(column, operator, value),
    isFalse: new ColumnTest(column, opposite, value),
  }
}

function listOf(column: Column, values: Iterable<Scalar>, source?: ListSource): Truths {
  const listed = new Set(values)
  return { isTrue: among(column, listed, source), isFalse: notAmong(column, listed, source) }
}

const MIRRORED: Readonly<Partial<Record<FieldOperator, FieldOperator>>> = {
  lt: 'gt',
  lte: 'gte',
  gt: 'lt',
  gte: 'lte',
}

/** A test of two columns. The left one is the first by the bytes of its name. */
function twoColumns(left: Column, operator: FieldOperator, right: Column): Formula {
  return compareUtf8(left.field, right.field) < 0
    ? new ColumnTest(left, operator, { field: right.field }, { other: right })
    : new ColumnTest(right, MIRRORED[operator] ?? operator, { field: left.field }, { other: left })
}

/** `equals`, and the comparison with an element of a list. At least one of the values is a column. */
export function equalTruths(left: unknown, right: unknown): ColumnTruths {
  if (!(left instanceof Column)) return equalTruths(right, left)
  if (right instanceof Column) return equalColumns(left, right)
  if (isUnreadable(right)) return NEITHER
  if (isArrayColumn(left)) {
    if (Array.isArray(right)) return WHOLE_ARRAYS
    // An object with an unreadable number is not comparable with an array.
    return equality([], right) === UNKNOWN ? NEITHER : isCompound(right) ? unequal(left) : NEVER
  }
  const value = fitting(left, right)
  return value === null ? unequal(left) : listOf(left, [value])
}

/** Truths of a test that is false for each value of the columns that a check can read. */
export function unequal(...columns: readonly Column[]): Truths {
  return { isTrue: false, isFalse: and(columns.map(readable)) }
}

function equalColumns(left: Column, right: Column): ColumnTruths {
  if (left.field === right.field) return negatedTruths(unequal(left))
  if (isArrayColumn(left) || isArrayColumn(right)) {
    if (isArrayColumn(left) && isArrayColumn(right)) return WHOLE_ARRAYS
    return unequal(isArrayColumn(left) ? right : left)
  }
  if (left.type !== right.type) {
    const isTextWithTime =
      (left.type === 'string' && isTimeColumn(right.type)) ||
      (right.type === 'string' && isTimeColumn(left.type))
    return isTextWithTime ? TEXT_EQUALS_TIME : unequal(left, right)
  }
  return { isTrue: twoColumns(left, 'eq', right), isFalse: twoColumns(left, 'ne', right) }
}

const OPERATOR_OF = { below: 'lt', 'below-or-equal': 'lte', above: 'gt', 'above-or-equal': 'gte' } as const
const OPPOSITE_OF = { below: 'gte', 'below-or-equal': 'gt', above: 'lte', 'above-or-equal': 'lt' } as const
export const MIRRORED_RELATION = {
  below: 'above',
  'below-or-equal': 'above-or-equal',
  above: 'below',
  'above-or-equal': 'below-or-equal',
} as const

/** `less-than` and related operators. At least one of the values is a column. */
export function orderTruths(left: unknown, relation: OrderRelation, right: unknown): ColumnTruths {
  if (!(left instanceof Column)) return orderTruths(right, MIRRORED_RELATION[relation], left)
  if (right instanceof Column) return orderedColumns(left, relation, right)
  switch (left.type) {
    case 'number': {
      const rank = rankOf(right)
      return typeof rank === 'number'
        ? testOf(left, OPERATOR_OF[relation], OPPOSITE_OF[relation], rank)
        : NEITHER
    }
    case 'time':
    case 'date': {
      const rank = rankOf(right)
      if (rank === null || typeof rank === 'number') return NEITHER
      const { isBefore, bound, isAll } = rangeOf(left.type, relation, rank)
      if (bound === null) return isAll ? ALWAYS : NEVER
      return isBefore ? testOf(left, 'lt', 'gte', bound) : testOf(left, 'gte', 'lt', bound)
    }
    case 'string':
      return typeof right === 'string' && readInstant(right) !== null ? TEXT_ORDER : NEITHER
    default:
      return NEITHER
  }
}

function orderedColumns(left: Column, relation: OrderRelation, right: Column): ColumnTruths {
  const hasText = left.type === 'string' || right.type === 'string'
  if (hasText) return isTextColumn(left) && isTextColumn(right) ? TEXT_ORDER : NEITHER
  if (isTimeColumn(left.type) && isTimeColumn(right.type) && left.type !== right.type) return TIME_WITH_DATE
  const isOrdered = left.type === right.type && (left.type === 'number' || isTimeColumn(left.type))
  if (!isOrdered) return NEITHER
  if (left.field === right.field) {
    return isInRelation(0, relation) ? negatedTruths(unequal(left)) : unequal(left)
  }
  return {
    isTrue: twoColumns(left, OPERATOR_OF[relation], right),
    isFalse: twoColumns(left, OPPOSITE_OF[relation], right),
  }
}

/** `contains`. At least one of the values is a column. */
export function containsTruths(text: unknown, part: unknown): ColumnTruths {
  const isText = (value: unknown): boolean =>
    value instanceof Column ? isTextColumn(value) : typeof value === 'string'
  if (!isText(text) || !isText(part)) return NEITHER
  if (part instanceof Column) return COLUMN_IN_COLUMN
  const column = text as Column
  if (column.type !== 'string') return TEXT_OF_TIME
  return part === '' ? ALWAYS : testOf(column, 'contains', 'ncontains', part as string)
}

const ANYTHING = '**'

/** `match` of a column. */
export function matchTruths(column: Column, glob: string): ColumnTruths {
  if (column.type !== 'string') return isTextColumn(column) ? TEXT_OF_TIME : NEITHER
  if (glob === ANYTHING) return ALWAYS
  const literal = literalOf(glob)
  return literal === null ? testOf(column, 'match', 'nmatch', glob) : listOf(column, [literal])
}

/** Returns the only text that a glob without wildcards matches; null for other globs. */
function literalOf(glob: string): string | null {
  let text = ''
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at]!
    if ('*?[{'.includes(character)) return null
    if (character === '\\') at += 1
    text += glob[at]!
  }
  return text
}

/** Tests whether a column is among the elements of a known list. */
export function amongTruths(column: Column, elements: readonly unknown[]): ColumnTruths {
  if (isArrayColumn(column)) {
    const each = elements.map(element => equalTruths(column, element))
    const inexpressible = each.find(isInexpressible)
    return inexpressible ?? anyTruths(each as Truths[])
  }
  const values = elements.flatMap(element => fitting(column, element) ?? [])
  const { isTrue, isFalse } = listOf(column, values)
  return { isTrue, isFalse: elements.some(isUnreadable) ? false : isFalse }
}

/** Tests whether a value is an element of an array column. The value can be a column. */
export function elementTruths(list: Column, value: unknown): ColumnTruths {
  if (!isArrayColumn(list)) return NEITHER
  if (value instanceof Column) {
    const isPossible = list.type === 'string_array' ? isTextColumn(value) : value.type === 'number'
    if (isPossible) return COLUMN_IN_COLUMN
    // An array never equals an element, even if it contains numbers that a check cannot read.
    return isArrayColumn(value) ? unequal(list) : unequal(list, value)
  }
  if (isUnreadable(value)) return NEITHER
  const element = fitting(list, value)
  return element === null ? unequal(list) : intersectionOf(list, [element as string | number])
}

function intersectionOf(list: Column, elements: readonly (string | number)[], source?: ListSource): Truths {
  if (elements.length === 0) return NEVER
  const listed = ascending(elements)
  const from = source === undefined ? {} : { source }
  return {
    isTrue: new ColumnTest(list, 'intersects', listed, from),
    isFalse: new ColumnTest(list, 'disjoint', listed, from),
  }
}

function subsetOf(list: Column, elements: readonly (string | number)[], source?: ListSource): Truths {
  if (elements.length === 0) return { isTrue: isEmpty(list), isFalse: new ColumnTest(list, 'len_gt', 0) }
  const listed = ascending(elements)
  const from = source === undefined ? {} : { source }
  return {
    isTrue: new ColumnTest(list, 'subset', listed, from),
    isFalse: new ColumnTest(list, 'nsubset', listed, from),
  }
}

/** Tests whether a list of numbers has an element that a check can read. */
function hasReadable(list: Column): Formula {
  return new ColumnTest(list, 'nsubset', [NO_NUMBER])
}

function isEmpty(list: Column): Formula {
  return new ColumnTest(list, 'len_eq', 0)
}

/** `array_subset` and related operators. `operand` is a known value or a column. */
export function comparedTruths(attribute: unknown, relation: SetRelation, operand: unknown): ColumnTruths {
  const isList = (value: unknown): boolean =>
    value instanceof Column ? isArrayColumn(value) : Array.isArray(value)
  if (!isList(attribute) || !isList(operand)) return NEITHER
  if (attribute instanceof Column && operand instanceof Column) return WHOLE_ARRAYS
  const isMirrored = !(attribute instanceof Column)
  const column = (isMirrored ? operand : attribute) as Column
  const elements = (isMirrored ? attribute : operand) as readonly unknown[]
  const values = elements.flatMap(element => fitting(column, element) ?? []) as (string | number)[]
  const isUnclear = elements.some(isUnreadable)
  // No element of the column equals one of these values, unless it is unreadable.
  const hasOthers = elements.length > 0 && values.length === 0
  if (relation === 'intersecting') {
    const { isTrue, isFalse } = hasOthers ? unequal(column) : intersectionOf(column, values)
    return { isTrue, isFalse: isUnclear ? isEmpty(column) : isFalse }
  }
  if ((relation === 'subset') !== isMirrored) {
    const { isTrue, isFalse } = subsetOf(column, values)
    if (isUnclear) return { isTrue, isFalse: false }
    const isNumbers = column.type === 'number_array'
    return { isTrue, isFalse: hasOthers && isNumbers ? hasReadable(column) : isFalse }
  }
  return superset(column, { elements, values, isUnclear })
}

/** Tests whether each element of a known list is in the array column. */
function superset(
  column: Column,
  list: {
    readonly elements: readonly unknown[]
    readonly values: readonly (string | number)[]
    readonly isUnclear: boolean
  },
): Truths {
  const { elements, values, isUnclear } = list
  const hasOthers = elements.some(element => !isUnreadable(element) && fitting(column, element) === null)
  const each = values.map(value => intersectionOf(column, [value]))
  return {
    isTrue: and([!hasOthers && !isUnclear, ...each.map(({ isTrue }) => isTrue)]),
    isFalse: or([
      hasOthers && readable(column),
      isUnclear && isEmpty(column),
      ...each.map(({ isFalse }) => isFalse),
    ]),
  }
}

/** `array_len_equals` and related operators. At least one of the values is a column. */
export function lengthTruths(attribute: unknown, relation: LengthRelation, operand: unknown): ColumnTruths {
  if (!(attribute instanceof Column)) {
    if (!Array.isArray(attribute)) return NEITHER
    const column = operand as Column
    if (column.type !== 'number') return NEITHER
    const { length } = attribute
    if (relation === 'equal') return listOf(column, [length])
    return relation === 'above' ? testOf(column, 'lt', 'gte', length) : testOf(column, 'gt', 'lte', length)
  }
  if (!isArrayColumn(attribute)) return NEITHER
  if (operand instanceof Column) return operand.type === 'number' ? LENGTH_OF_COLUMNS : NEITHER
  const length = comparable(operand)
  if (typeof length !== 'number' || isUnreadable(length)) return NEITHER
  switch (relation) {
    case 'equal':
      return Number.isSafeInteger(length) && length >= 0
        ? testOf(attribute, 'len_eq', 'len_ne', length)
        : NEVER
    case 'above':
      return longerThan(attribute, Math.floor(length))
    case 'below':
      return negatedTruths(longerThan(attribute, Math.ceil(length) - 1))
  }
}

/** `length` is a whole number. */
function longerThan(list: Column, length: number): Truths {
  if (length < 0) return ALWAYS
  if (length + 1 > Number.MAX_SAFE_INTEGER) return NEVER
  return {
    isTrue: new ColumnTest(list, 'len_gt', length),
    isFalse: new ColumnTest(list, 'len_lt', length + 1),
  }
}

/** Keys of stored instances for which the tests of a match are true, and for which they are false. */
export interface MatchedKeys {
  readonly isTrue: KeysOrTooMany
  readonly isFalse: KeysOrTooMany
}

/** Null stands for more keys than a filter may contain. */
export type KeysOrTooMany = readonly string[] | null

/** A list of keys as a formula. */
type OfKeys = (keys: KeysOrTooMany, make: (keys: readonly string[]) => Formula) => Formula

/** A match of stored instances whose keys are in a column. */
export function lookupTruths(
  column: Column,
  quantity: 'one' | 'any' | 'all',
  { isTrue, isFalse }: MatchedKeys,
  ofKeys: OfKeys,
): Truths {
  const intersects = (keys: readonly string[]) => intersectionOf(column, keys, 'lookup').isTrue
  const within = (keys: readonly string[]) => subsetOf(column, keys, 'lookup').isTrue
  const isOne = (keys: readonly string[]) => among(column, keys, 'lookup')
  switch (quantity) {
    case 'one':
      return { isTrue: ofKeys(isTrue, isOne), isFalse: ofKeys(isFalse, isOne) }
    case 'any':
      return { isTrue: ofKeys(isTrue, intersects), isFalse: ofKeys(isFalse, within) }
    case 'all':
      return { isTrue: ofKeys(isTrue, within), isFalse: ofKeys(isFalse, intersects) }
  }
}

/** `any_match` or `all_match` of an array column whose elements are not objects: only `[]` decides. */
export function matchOfScalars(column: Column, quantity: 'any' | 'all'): Truths {
  const none = isEmpty(column)
  return quantity === 'any' ? { isTrue: false, isFalse: none } : { isTrue: none, isFalse: false }
}

export function lookupOfTimes(column: Column): Inexpressible | null {
  return isTimeColumn(column.type) ? TEXT_OF_TIME : null
}
