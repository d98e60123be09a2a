/** PostgreSQL: arrays as parameters, `COLLATE "C"`, and guards for `NaN` and infinite times. */
import { expressionOf, readGlob } from './glob.ts'
import type { SqlDialect, Expression } from './dialect.ts'
import { exactNumberSql } from './exact-numbers.ts'
import { bound, type Fragment, raw, sql } from './fragment.ts'
import { isStorable } from './column-texts.ts'
import { TIME_MAX } from './row-values.ts'
import type { Field } from './table.ts'
import type { ScalarValue } from './tree.ts'

/** Type of the parameters that are compared with a column. */
function typeOf({ type, as }: Field): string {
  if (as === 'uuid') return 'uuid'
  if (type === 'string_array') return 'text'
  if (type === 'number_array') return 'double precision'
  switch (type) {
    case 'string':
      return as === 'text' ? 'text' : 'bigint'
    case 'number':
      return as === 'integer' ? 'bigint' : 'double precision'
    case 'bool':
      return 'boolean'
    case 'time':
      return 'timestamptz'
    case 'date':
      return 'date'
  }
}

const isText = ({ type, as }: Field): boolean => type === 'string' && as === 'text'

/** The text in a collation that compares bytes. Substring functions reject nondeterministic collations. */
function bytewise({ field, sql: column }: Expression): Fragment {
  return field.collation === 'nondeterministic' ? sql`${column} COLLATE "C"` : column
}

const milliseconds = (time: string): number => Date.parse(time)
const instant = (ms: number): string => new Date(ms).toISOString()

function list(field: Field, values: readonly ScalarValue[]): Fragment {
  return sql`${bound([...values])}::${raw(typeOf(field))}[]`
}

function constant(field: Field, value: ScalarValue, isBound = false): Fragment {
  const typed = sql`${bound(value)}::${raw(typeOf(field))}`
  return field.as === 'timestamp' && isBound ? sql`(${typed} AT TIME ZONE 'UTC')` : typed
}

function comparable(expression: Expression): Fragment {
  const { field, sql: column } = expression
  if (isText(field)) return bytewise(expression)
  if (field.type === 'number' && field.as !== 'integer') return sql`${column}::double precision`
  if (field.type !== 'time') return column
  const utc = field.as === 'timestamp' ? sql`${column} AT TIME ZONE 'UTC'` : column
  return sql`date_trunc('milliseconds', ${utc})`
}

/** Times within one millisecond are one time of a check. */
function bounds(field: Field, value: ScalarValue): readonly [Fragment, Fragment] {
  const at = milliseconds(value as string)
  return [constant(field, instant(at), true), constant(field, instant(at + 1), true)]
}

function pattern(glob: string): Fragment {
  const escaped = (character: string): string => (/[\w\s]/.test(character) ? character : `\\${character}`)
  const literal = (character: string): string => (isAscii(character) ? escaped(character) : character)
  const body = expressionOf(readGlob(glob), { any: '.', literal, inClass: literal })
  // The director `***:` selects regular expressions whose dot also matches line ends.
  return sql`${bound(`***:^(?:${body})$`)}::text`
}

function isAscii(character: string): boolean {
  return character.codePointAt(0)! < 0x80
}

/** The column as an array of the type of the elements. */
function array({ field, sql: column }: Expression): Fragment {
  const isExact = field.collation !== 'nondeterministic'
  return sql`${column}::${raw(typeOf(field))}[]${raw(isExact ? '' : ' COLLATE "C"')}`
}

const INFINITY = `double precision 'Infinity'`
const ELEMENT = raw('verdict_value')

/** Whether an array of numbers has an element with a property. */
function hasElement(expression: Expression, is: Fragment): Fragment {
  return sql`EXISTS (SELECT 1 FROM unnest(${array(expression)}) verdict_list (verdict_value) WHERE ${is})`
}

export const POSTGRESQL: SqlDialect = {
  name: 'postgresql',
  valuesMax: 65_535,
  kinds: {
    string: ['text', 'uuid', 'integer', 'bigint'],
    number: ['integer', 'bigint', 'numeric', 'double'],
    bool: ['boolean'],
    time: ['timestamptz', 'timestamp'],
    date: ['date'],
    string_array: ['array'],
    number_array: ['array'],
  },
  quote: identifier => `"${identifier.replaceAll('"', '""')}"`,
  holds: isStorable,
  comparable,
  constant,
  equal(expression, value) {
    const { field, sql: column } = expression
    if (field.type === 'time') {
      const [from, to] = bounds(field, value)
      if (value === TIME_MAX) return sql`(${column} >= ${from} AND isfinite(${column}))`
      return sql`(${column} >= ${from} AND ${column} < ${to})`
    }
    return sql`${comparable(expression)} = ${constant(field, value)}`
  },
  unequal(expression, value) {
    const { field, sql: column } = expression
    if (field.type === 'time') {
      const [from, to] = bounds(field, value)
      if (value === TIME_MAX) return sql`${column} < ${from}`
      return sql`(${column} < ${from} OR ${column} >= ${to})`
    }
    return sql`${comparable(expression)} <> ${constant(field, value)}`
  },
  oneOf: (expression, values) => sql`${comparable(expression)} = ANY(${list(expression.field, values)})`,
  noneOf: (expression, values) => sql`${comparable(expression)} <> ALL(${list(expression.field, values)})`,
  contains: (expression, text) => sql`strpos(${bytewise(expression)}, ${bound(text)}::text) > 0`,
  lacks: (expression, text) => sql`strpos(${bytewise(expression)}, ${bound(text)}::text) = 0`,
  matches: ({ sql: column }, glob) => sql`${column} COLLATE "C" ~ ${pattern(glob)}`,
  matchesNot: ({ sql: column }, glob) => sql`${column} COLLATE "C" !~ ${pattern(glob)}`,
  intersects: (expression, values) => sql`${array(expression)} && ${list(expression.field, values)}`,
  disjoint(expression, values) {
    const { field } = expression
    const tested = sql`NOT (${array(expression)} && ${list(field, values)})`
    if (field.type === 'string_array') return tested
    const isInexact = sql`NOT ${exactNumberSql(ELEMENT, field, INFINITY)}`
    return sql`(${tested} AND NOT ${hasElement(expression, isInexact)})`
  },
  subset: (expression, values) => sql`${array(expression)} <@ ${list(expression.field, values)}`,
  notSubset(expression, values) {
    const { field } = expression
    const listed = list(field, values)
    if (field.type === 'string_array') return sql`NOT (${array(expression)} <@ ${listed})`
    const isExact = exactNumberSql(ELEMENT, field, INFINITY)
    return hasElement(expression, sql`${isExact} AND ${ELEMENT} <> ALL(${listed})`)
  },
  length: ({ sql: column }) => sql`cardinality(${column})`,
  guard({ field, sql: column }) {
    if (field.type === 'time' || field.type === 'date') return sql`isfinite(${column})`
    if (field.type !== 'number') return null
    const value = field.as === 'double' || field.as === 'integer' ? column : sql`${column}::double precision`
    return exactNumberSql(value, field, INFINITY)
  },
}
