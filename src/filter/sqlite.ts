/** SQLite: lists as JSON, times as text or milliseconds, globs only as prefix, suffix or substring. */
import type { SqlDialect, Expression } from './dialect.ts'
import { isStorable, notExpressible } from './condition-sql.ts'
import { bound, type Fragment, sql } from './fragment.ts'
import { simpleGlob } from './glob.ts'
import type { Field } from './table.ts'
import type { ScalarValue } from './tree.ts'

const isKeyNumber = ({ type, as }: Field): boolean => type === 'string' && as !== 'text'

function comparable({ field, sql: column }: Expression): Fragment {
  const { type, as } = field
  if (type === 'string' && as === 'text') return sql`${column} COLLATE BINARY`
  if (type === 'number' && as !== 'integer' && as !== 'double') return sql`CAST(${column} AS REAL)`
  return (type === 'time' || type === 'date') && as === 'text' ? sql`${column} COLLATE BINARY` : column
}

function plain(field: Field, value: ScalarValue): ScalarValue {
  if (field.type === 'bool') return value === true ? 1 : 0
  return field.type === 'time' && field.as === 'milliseconds' ? Date.parse(value as string) : value
}

function constant(field: Field, value: ScalarValue): Fragment {
  return isKeyNumber(field) ? sql`CAST(${bound(value)} AS INTEGER)` : bound(plain(field, value))
}

function list(field: Field, values: readonly ScalarValue[]): Fragment {
  const json = bound(JSON.stringify(values.map(value => plain(field, value))))
  const value = isKeyNumber(field) ? sql`CAST(value AS INTEGER)` : sql`value`
  return sql`(SELECT ${value} FROM json_each(${json}))`
}

/** Counts the elements of the column that are in the list, or that are not. */
function elements({ sql: column }: Expression, values: readonly ScalarValue[], isIn: boolean): Fragment {
  const among = isIn ? sql`IN` : sql`NOT IN`
  return sql`EXISTS (SELECT 1 FROM json_each(${column}) element WHERE element.value ${among} (SELECT value FROM json_each(${bound(JSON.stringify(values))})))`
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
  // A negative start beyond the beginning of a short text would return the whole text.
  const end = sql`substr(${column}, max(1, length(${column}) - length(${value}) + 1))`
  return sql`${end} COLLATE BINARY ${equals} ${value}`
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
  quote: identifier => `"${identifier.replaceAll('"', '""')}"`,
  holds: isStorable,
  comparable,
  constant,
  equal: (expression, value) => sql`${comparable(expression)} = ${constant(expression.field, value)}`,
  unequal: (expression, value) => sql`${comparable(expression)} <> ${constant(expression.field, value)}`,
  oneOf: (expression, values) => sql`${comparable(expression)} IN ${list(expression.field, values)}`,
  noneOf: (expression, values) => sql`${comparable(expression)} NOT IN ${list(expression.field, values)}`,
  contains: ({ sql: column }, text) => sql`instr(${column}, ${bound(text)}) > 0`,
  lacks: ({ sql: column }, text) => sql`instr(${column}, ${bound(text)}) = 0`,
  matches: (expression, source) => glob(expression, source, 'match'),
  matchesNot: (expression, source) => glob(expression, source, 'nmatch'),
  intersects: (expression, values) => elements(expression, values, true),
  disjoint: (expression, values) =>
    sql`(${expression.sql} IS NOT NULL AND NOT ${elements(expression, values, true)})`,
  subset: (expression, values) =>
    sql`(${expression.sql} IS NOT NULL AND NOT ${elements(expression, values, false)})`,
  notSubset: (expression, values) => elements(expression, values, false),
  length: ({ sql: column }) => sql`json_array_length(${column})`,
  guard: () => null,
}
