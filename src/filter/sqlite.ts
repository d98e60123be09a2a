/** SQLite: lists as JSON, times as text or milliseconds, globs only as prefix, suffix or substring. */
import type { SqlDialect, Expression } from './dialect.ts'
import { isStorable } from './column-texts.ts'
import { exactNumberSql } from './exact-numbers.ts'
import { notExpressible } from './condition-sql.ts'
import { bound, type Fragment, joined, raw, sql } from './fragment.ts'
import { simpleGlob } from './glob.ts'
import type { Field } from './table.ts'
import type { ScalarValue } from './tree.ts'

const isKeyNumber = ({ type, as }: Field): boolean => type === 'string' && as !== 'text'

/** Whether the column contains a number. SQLite can compare texts with numbers as texts. */
const isNumeric = (column: Fragment): Fragment => sql`typeof(${column}) IN ('integer', 'real')`

const isNative = ({ type, as }: Field): boolean => type === 'number' && (as === 'integer' || as === 'double')

function onlyNumbers({ field, sql: column }: Expression, test: Fragment): Fragment {
  return isNative(field) ? sql`(${test} AND ${isNumeric(column)})` : test
}

/**
 * SQLite reads a number of 20 or more digits, or with a large exponent, with a small error. A check sends the
 * nearest double. The text has a digit that is not 0, and 19 further digits or points.
 */
const LONG_NUMBER = `'*[1-9]${'[0-9.]'.repeat(19)}*'`

/** The number in a column; `NULL` for texts that SQLite can read as another number than a check. */
function exactlyRead(column: Fragment): Fragment {
  const isShort = sql`length(${column}) <= 40 AND ${column} NOT GLOB '*[^0-9.-]*' AND ${column} NOT GLOB ${raw(LONG_NUMBER)}`
  const isRead = sql`${isNumeric(column)} OR (typeof(${column}) = 'text' AND ${isShort})`
  return sql`CAST(CASE WHEN ${isRead} THEN ${column} END AS REAL)`
}

function comparable({ field, sql: column }: Expression): Fragment {
  const { type, as } = field
  if (type === 'string' && as === 'text') return sql`${column} COLLATE BINARY`
  if (type === 'number' && !isNative(field)) return exactlyRead(column)
  return (type === 'time' || type === 'date') && as === 'text' ? sql`${column} COLLATE BINARY` : column
}

function plain(field: Field, value: ScalarValue): ScalarValue {
  if (field.type === 'bool') return value === true ? 1 : 0
  return field.type === 'time' && field.as === 'milliseconds' ? Date.parse(value as string) : value
}

function constant(field: Field, value: ScalarValue): Fragment {
  return isKeyNumber(field) ? sql`CAST(${bound(value)} AS INTEGER)` : bound(plain(field, value))
}

/**
 * SQLite reads numbers in JSON that are not small integers with small errors, so they are bound one by one.
 */
function list(field: Field, values: readonly ScalarValue[]): Fragment {
  if (field.type.startsWith('number') && !values.every(Number.isSafeInteger)) {
    const each = values.map(value => bound(value))
    return sql`(${joined(each, ', ')})`
  }
  const json = bound(JSON.stringify(values.map(value => plain(field, value))))
  const value = isKeyNumber(field) ? sql`CAST(value AS INTEGER)` : sql`value`
  return sql`(SELECT ${value} FROM json_each(${json}))`
}

/** SQLite reads numbers in JSON of up to 19 digits exactly if they are 0 or within these bounds. */
const [NUMBER_MIN, NUMBER_MAX] = [1e-60, 1e60]

/** SQLite reads a literal that is too large as infinity. */
const INFINITY = '9e999'

/** Columns of `json_each`. Its argument would be one of them, if a column of the name had no alias. */
const JSON_EACH = /^(key|value|type|atom|id|parent|fullkey|path|json|root|rowid|oid|_rowid_)$/i

type SetOperator = 'intersects' | 'disjoint' | 'subset' | 'nsubset'

/** Whether the column has an element in the list, or one that is not. */
function elements(
  { field, sql: column }: Expression,
  operator: SetOperator,
  values: readonly ScalarValue[],
): Fragment {
  const [name] = column
  if (JSON_EACH.test(field.column) && name === SQLITE.quote(field.column)) {
    throw notExpressible(field, operator, 'of a column of this name without the option alias')
  }
  const isNumbers = field.type === 'number_array'
  const isExact = (value: number) => value === 0 || (NUMBER_MIN < value && value < NUMBER_MAX)
  if (isNumbers && !values.every(value => isExact(Math.abs(value as number)))) {
    throw notExpressible(field, operator, 'with a number beyond 1e60 or below 1e-60')
  }
  const element = isNumbers ? sql`CAST(verdict_element.value AS REAL)` : sql`verdict_element.value`
  const among = operator === 'intersects' || operator === 'disjoint' ? sql`IN` : sql`NOT IN`
  const isExactElement = exactNumberSql(element, field, INFINITY)
  // No number that is not exact decides a test.
  const decides = !isNumbers
    ? sql``
    : operator === 'disjoint'
      ? sql` OR NOT ${isExactElement}`
      : operator === 'nsubset'
        ? sql` AND ${isExactElement}`
        : sql``
  const found = sql`EXISTS (SELECT 1 FROM json_each(${column}) verdict_element WHERE ${element} ${among} ${list(field, values)}${decides})`
  const isPositive = operator === 'intersects' || operator === 'nsubset'
  // No test is true for a list with a number that SQLite can read with an error.
  const isRead = isNumbers ? sql`${column} NOT GLOB ${raw(LONG_NUMBER)}` : sql`${column} IS NOT NULL`
  if (isPositive) return isNumbers ? sql`(${isRead} AND ${found})` : found
  return sql`(${isRead} AND NOT ${found})`
}

function glob({ field, sql: column }: Expression, source: string, operator: 'match' | 'nmatch'): Fragment {
  const simple = simpleGlob(source)
  if (simple === null) throw notExpressible(field, operator, 'with this glob')
  const { text, isOpenBefore, isOpenAfter } = simple
  const is = operator === 'match'
  const value = bound(text)
  if (!isStorable(text)) return is ? sql`1 = 0` : sql`${column} IS NOT NULL`
  if (isOpenBefore && isOpenAfter)
    return is ? sql`instr(${column}, ${value}) > 0` : sql`instr(${column}, ${value}) = 0`
  const equals = is ? sql`=` : sql`<>`
  if (isOpenAfter) return sql`substr(${column}, 1, length(${value})) COLLATE BINARY ${equals} ${value}`
  if (!isOpenBefore) return sql`${column} COLLATE BINARY ${equals} ${value}`
  // If the text is shorter than the value, this is the whole text, which differs from the value.
  return sql`substr(${column}, -length(${value})) COLLATE BINARY ${equals} ${value}`
}

export const SQLITE: SqlDialect = {
  name: 'sqlite',
  valuesMax: 32_766,
  kinds: {
    string: ['text', 'integer', 'bigint'],
    number: ['integer', 'bigint', 'numeric', 'double'],
    bool: ['boolean'],
    time: ['text', 'milliseconds'],
    date: ['text'],
    string_array: ['array'],
    number_array: ['array'],
  },
  // SQLite can read an unknown identifier in double quotes as a text.
  quote: identifier => `\`${identifier.replaceAll('`', '``')}\``,
  holds: isStorable,
  comparable,
  constant,
  equal(expression, value) {
    return onlyNumbers(expression, sql`${comparable(expression)} = ${constant(expression.field, value)}`)
  },
  unequal: (expression, value) => sql`${comparable(expression)} <> ${constant(expression.field, value)}`,
  oneOf(expression, values) {
    return onlyNumbers(expression, sql`${comparable(expression)} IN ${list(expression.field, values)}`)
  },
  noneOf: (expression, values) => sql`${comparable(expression)} NOT IN ${list(expression.field, values)}`,
  contains: ({ sql: column }, text) => sql`instr(${column}, ${bound(text)}) > 0`,
  lacks: ({ sql: column }, text) => sql`instr(${column}, ${bound(text)}) = 0`,
  matches: (expression, source) => glob(expression, source, 'match'),
  matchesNot: (expression, source) => glob(expression, source, 'nmatch'),
  intersects: (expression, values) => elements(expression, 'intersects', values),
  disjoint: (expression, values) => elements(expression, 'disjoint', values),
  subset: (expression, values) => elements(expression, 'subset', values),
  notSubset: (expression, values) => elements(expression, 'nsubset', values),
  length: ({ sql: column }) => sql`json_array_length(${column})`,
  guard(expression) {
    const { field } = expression
    if (field.type !== 'number') return null
    return onlyNumbers(expression, exactNumberSql(comparable(expression), field, INFINITY))
  },
}
