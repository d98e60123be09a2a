/** MySQL 8: lists through `JSON_TABLE`, texts in the collation that compares bytes, times as `DATETIME`. */
import type { SqlDialect, Expression } from './dialect.ts'
import { isStorable } from './column-texts.ts'
import { exactNumberSql } from './exact-numbers.ts'
import { notExpressible } from './condition-sql.ts'
import { bound, type Fragment, joined, raw, sql } from './fragment.ts'
import { expressionOf, readGlob } from './glob.ts'
import { TIME_MAX } from './row-values.ts'
import type { Field } from './table.ts'
import type { ScalarValue } from './tree.ts'

/** The only collation of MySQL that neither pads nor ignores characters. */
const EXACT = 'COLLATE utf8mb4_0900_bin'
const isText = ({ type, as }: Field): boolean => type === 'string' && as === 'text'

function comparable({ field, sql: column }: Expression): Fragment {
  if (isText(field)) return sql`${column} ${raw(EXACT)}`
  if (field.type === 'number' && field.as !== 'integer') return sql`CAST(${column} AS DOUBLE)`
  // A column can have microseconds. A cast to milliseconds would round them.
  if (field.type === 'time') return sql`(${column} - INTERVAL (MICROSECOND(${column}) % 1000) MICROSECOND)`
  return column
}

/** The form of a time that `DATETIME` reads, without its zone. */
function datetime(time: string): string {
  return time.slice(0, -1).replace('T', ' ')
}

function plain(field: Field, value: ScalarValue): ScalarValue {
  if (field.type === 'bool') return value === true ? 1 : 0
  return field.type === 'time' ? datetime(value as string) : value
}

function constant(field: Field, value: ScalarValue): Fragment {
  const parameter = bound(plain(field, value))
  switch (field.type) {
    case 'string':
      return isText(field)
        ? sql`CAST(${parameter} AS CHAR CHARACTER SET utf8mb4) ${raw(EXACT)}`
        : sql`CAST(${parameter} AS SIGNED)`
    case 'number':
      return field.as === 'integer' ? sql`CAST(${parameter} AS SIGNED)` : sql`CAST(${parameter} AS DOUBLE)`
    case 'time':
      return sql`CAST(${parameter} AS DATETIME(3))`
    case 'date':
      return sql`CAST(${parameter} AS DATE)`
    default:
      return parameter
  }
}

/** Type of the column of `JSON_TABLE`. */
function typeOf(field: Field): string {
  switch (field.type) {
    case 'string':
      return isText(field) ? `LONGTEXT CHARACTER SET utf8mb4 ${EXACT}` : 'BIGINT'
    case 'number':
      return field.as === 'integer' ? 'BIGINT' : 'DOUBLE'
    case 'date':
      return 'DATE'
    default:
      return 'DATETIME(3)'
  }
}

/** Numbers in JSON can be read with small errors, so those that are not integers are bound one by one. */
function list(field: Field, values: readonly ScalarValue[]): Fragment {
  if (field.type === 'number' && field.as !== 'integer') {
    const each = values.map(value => constant(field, value))
    return sql`(${joined(each, ', ')})`
  }
  const listed = bound(JSON.stringify(values.map(value => plain(field, value))))
  return sql`(SELECT verdict_value FROM JSON_TABLE(CAST(${listed} AS JSON), '$[*]' COLUMNS (verdict_value ${raw(typeOf(field))} PATH '$')) verdict_list)`
}

/** Times in half-open milliseconds, since a column can have microseconds. */
function inMilliseconds(
  { field, sql: column }: Expression,
  values: readonly ScalarValue[],
  isIn: boolean,
): Fragment {
  const ranges = values.map(value => {
    const next = new Date(Date.parse(value as string) + 1).toISOString()
    // The last millisecond of the year 9999 has no next one.
    return [datetime(value as string), value === TIME_MAX ? null : datetime(next)]
  })
  const listed = bound(JSON.stringify(ranges))
  const columns = `COLUMNS (verdict_begin ${typeOf(field)} PATH '$[0]', verdict_end ${typeOf(field)} PATH '$[1]')`
  const found = sql`EXISTS (SELECT 1 FROM JSON_TABLE(CAST(${listed} AS JSON), '$[*]' ${raw(columns)}) verdict_list WHERE ${column} >= verdict_begin AND (verdict_end IS NULL OR ${column} < verdict_end))`
  return isIn ? found : sql`(${column} IS NOT NULL AND NOT ${found})`
}

function json(field: Field, operator: string, values: readonly ScalarValue[]): Fragment {
  if (field.type === 'string_array') return sql`CAST(${bound(JSON.stringify(values))} AS JSON)`
  // Elements beyond 2^53 can be integers of 64 bits, which a check sends as doubles.
  const isExact = (value: number) => Math.abs(value) <= Number.MAX_SAFE_INTEGER
  if (!values.every(value => isExact(value as number))) {
    throw notExpressible(field, operator, 'with a number beyond 2^53')
  }
  const each = values.map(value => sql`CAST(${bound(value)} AS DOUBLE)`)
  return sql`JSON_ARRAY(${joined(each, ', ')})`
}

const ELEMENT = raw('verdict_value')

/** The number of elements with a property in a list of numbers. MySQL selected wrong rows by `NOT EXISTS`. */
function elementCount(column: Fragment, is: Fragment): Fragment {
  return sql`(SELECT COUNT(*) FROM JSON_TABLE(${column}, '$[*]' COLUMNS (verdict_value DOUBLE PATH '$')) verdict_list WHERE ${is})`
}

/** The regular expressions of MySQL are those of ICU. `(?s)`: a dot also matches line ends. */
function pattern(glob: string): Fragment {
  const escaped = (character: string): string =>
    /[\\^$.*+?()[\]{}|&#~-]/.test(character) ? `\\${character}` : character
  const body = expressionOf(readGlob(glob), { any: '.', literal: escaped, inClass: escaped })
  return sql`CAST(${bound(`(?s)\\A(?:${body})\\z`)} AS CHAR CHARACTER SET utf8mb4) ${raw(EXACT)}`
}

export const MYSQL: SqlDialect = {
  name: 'mysql',
  valuesMax: 65_535,
  kinds: {
    string: ['text', 'integer', 'bigint'],
    number: ['integer', 'bigint', 'numeric', 'double'],
    bool: ['boolean'],
    time: ['datetime'],
    date: ['date'],
    string_array: ['array'],
    number_array: ['array'],
  },
  quote: identifier => `\`${identifier.replaceAll('`', '``')}\``,
  holds: isStorable,
  comparable,
  constant,
  equal(expression, value) {
    const { field, sql: column } = expression
    if (field.type === 'time') return inMilliseconds(expression, [value], true)
    if (!isText(field)) return sql`${comparable(expression)} = ${constant(field, value)}`
    // The first comparison can use an index of the column, the second one is exact.
    return sql`(${column} = ${bound(value)} AND ${comparable(expression)} = ${constant(field, value)})`
  },
  unequal(expression, value) {
    if (expression.field.type === 'time') return inMilliseconds(expression, [value], false)
    return sql`${comparable(expression)} <> ${constant(expression.field, value)}`
  },
  oneOf(expression, values) {
    if (expression.field.type === 'time') return inMilliseconds(expression, values, true)
    return sql`${comparable(expression)} IN ${list(expression.field, values)}`
  },
  noneOf(expression, values) {
    if (expression.field.type === 'time') return inMilliseconds(expression, values, false)
    return sql`${comparable(expression)} NOT IN ${list(expression.field, values)}`
  },
  contains: (expression, text) =>
    sql`LOCATE(${constant(expression.field, text)}, ${comparable(expression)}) > 0`,
  lacks: (expression, text) =>
    sql`LOCATE(${constant(expression.field, text)}, ${comparable(expression)}) = 0`,
  matches: (expression, glob) => sql`REGEXP_LIKE(${comparable(expression)}, ${pattern(glob)}, 'c')`,
  matchesNot: (expression, glob) => sql`NOT REGEXP_LIKE(${comparable(expression)}, ${pattern(glob)}, 'c')`,
  intersects: ({ field, sql: column }, values) =>
    sql`JSON_OVERLAPS(${column}, ${json(field, 'intersects', values)})`,
  disjoint({ field, sql: column }, values) {
    const tested = sql`NOT JSON_OVERLAPS(${column}, ${json(field, 'disjoint', values)})`
    if (field.type === 'string_array') return tested
    const inexact = elementCount(column, sql`NOT ${exactNumberSql(ELEMENT, field, null)}`)
    return sql`(${tested} AND ${inexact} = 0)`
  },
  subset: ({ field, sql: column }, values) => sql`JSON_CONTAINS(${json(field, 'subset', values)}, ${column})`,
  notSubset({ field, sql: column }, values) {
    const listed = json(field, 'nsubset', values)
    if (field.type === 'string_array') return sql`NOT JSON_CONTAINS(${listed}, ${column})`
    const isListed = sql`JSON_CONTAINS(${listed}, CAST(verdict_value AS JSON))`
    return sql`${elementCount(column, sql`${exactNumberSql(ELEMENT, field, null)} AND NOT ${isListed}`)} > 0`
  },
  length: ({ sql: column }) => sql`JSON_LENGTH(${column})`,
  guard(expression) {
    const { field } = expression
    return field.type === 'number' ? exactNumberSql(comparable(expression), field, null) : null
  },
}
