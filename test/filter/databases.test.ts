/**
 * The SQL of the adapters selects the same rows as the predicate in JavaScript, in real databases with their
 * default collations: random filters over columns of every kind, with every operator.
 */
import { PGlite } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
import { sql as drizzleSql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DialectName } from '#filter/dialect.ts'
import { toDrizzle } from '#filter/drizzle.ts'
import { FilterError } from '#filter/filter-error.ts'
import { toPredicate } from '#filter/predicate.ts'
import { type AttributeDescription, table, type FilterTable } from '#filter/table.ts'
import { toSql } from '#filter/to-sql.ts'
import type { ColumnType, FilterNode, FieldOperator, PlannedFilter } from '#filter/tree.ts'
import { howToRepeat, valuesUntilMet } from '../properties/seeded.ts'

type Stored = string | number | bigint | boolean | null | readonly unknown[]

/** A column of the test table: its type in each database, and values that stress comparisons. */
interface TestColumn {
  readonly attribute: Omit<AttributeDescription, 'column'>
  readonly postgresql: string | null
  readonly sqlite: string | null
  readonly values: readonly Stored[]
}

const TEXTS = [
  '',
  'a',
  'A',
  'ä',
  'a ',
  'ab',
  'a.b',
  'a%',
  'a_b',
  'a\\b',
  'é',
  'e\u0301',
  'Ωx',
  '😀',
  "o'x",
  'a\nb',
  '10',
]
const TIMES = [
  '2026-01-01T00:00:00.000Z',
  '2026-01-01T00:00:00.001Z',
  '1969-12-31T23:59:59.999Z',
  '0001-01-01T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
]
const DATES = ['2026-01-01', '2026-01-02', '0001-01-01', '9999-12-31']
const NUMBERS = [0, 1, -1, 0.1, 1.5, 1e21, -1e300, 2 ** 53, 5e-324]
const WHOLE = [0, 1, -1, 5, 2 ** 53 - 1, -(2 ** 53 - 1)]

const COLUMNS: Readonly<Record<string, TestColumn>> = {
  text: { attribute: { type: 'string' }, postgresql: 'text', sqlite: 'TEXT', values: TEXTS },
  nocase: {
    attribute: { type: 'string', collation: 'nondeterministic' },
    postgresql: 'text COLLATE ignore_case',
    sqlite: 'TEXT COLLATE NOCASE',
    values: TEXTS,
  },
  uuid: {
    attribute: { type: 'string', as: 'uuid' },
    postgresql: 'uuid',
    sqlite: null,
    values: ['5c0f8e2a-0000-4000-8000-00000000000a', '5c0f8e2a-0000-4000-8000-00000000000b'],
  },
  number_key: {
    attribute: { type: 'string', as: 'bigint' },
    postgresql: 'bigint',
    sqlite: 'INTEGER',
    values: ['7', '-7', '0', '9007199254740991'],
  },
  whole: {
    attribute: { type: 'number', as: 'integer' },
    postgresql: 'bigint',
    sqlite: 'INTEGER',
    values: WHOLE,
  },
  double: {
    attribute: { type: 'number', as: 'double' },
    postgresql: 'double precision',
    sqlite: 'REAL',
    values: NUMBERS,
  },
  numeric: {
    attribute: { type: 'number', as: 'numeric' },
    postgresql: 'numeric',
    sqlite: 'NUMERIC',
    values: NUMBERS,
  },
  flag: { attribute: { type: 'bool' }, postgresql: 'boolean', sqlite: 'INTEGER', values: [true, false] },
  instant: {
    attribute: { type: 'time', as: 'timestamptz' },
    postgresql: 'timestamptz',
    sqlite: null,
    values: [...TIMES, '2026-01-01T00:00:00.000999Z', '1969-12-31T23:59:59.999999Z'],
  },
  utc: { attribute: { type: 'time', as: 'timestamp' }, postgresql: 'timestamp', sqlite: null, values: TIMES },
  time_text: { attribute: { type: 'time', as: 'text' }, postgresql: null, sqlite: 'TEXT', values: TIMES },
  time_ms: {
    attribute: { type: 'time', as: 'milliseconds' },
    postgresql: null,
    sqlite: 'INTEGER',
    values: TIMES,
  },
  day: { attribute: { type: 'date' }, postgresql: 'date', sqlite: null, values: DATES },
  day_text: { attribute: { type: 'date', as: 'text' }, postgresql: null, sqlite: 'TEXT', values: DATES },
  words: {
    attribute: { type: 'string_array' },
    postgresql: 'text[]',
    sqlite: 'TEXT',
    values: [[], ['a'], ['a', 'A'], ['b', 'b', "o'x"], ['ä', 'a ']],
  },
  numbers: {
    attribute: { type: 'number_array' },
    postgresql: 'double precision[]',
    sqlite: 'TEXT',
    values: [[], [1], [0.1, 1e21], [1, 1, 2]],
  },
}

const ROWS = 120

/** Rows with all columns: each value, and NULL. */
const rows = Array.from({ length: ROWS }, (_, row): Record<string, Stored> => {
  const values = Object.entries(COLUMNS).map(([name, { values: all }], column) => {
    const at = (row * 7 + column * 3 + (row >> 3)) % (all.length + 1)
    return [name, at === all.length ? null : all[at]!] as const
  })
  return { id: `row ${row}`, ...Object.fromEntries(values) }
})

/** The row as an application reads it: times cut to milliseconds. */
function asRead(row: Record<string, Stored>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const isTime = COLUMNS[name]?.attribute.type === 'time' && typeof value === 'string'
      return [name, isTime ? new Date(Math.floor(Number(Date.parse(value)))) : value]
    }),
  )
}

function tableFor(dialect: DialectName): FilterTable {
  const attributes = Object.entries(COLUMNS).flatMap(([name, column]) => {
    const isThere = dialect === 'postgresql' ? column.postgresql !== null : column.sqlite !== null
    return isThere ? [[name, { ...column.attribute, column: name }] as const] : []
  })
  return table({ type: 'document', key: { column: 'id' }, attributes: Object.fromEntries(attributes) })
}

const ELEMENT: Partial<Record<ColumnType, readonly (string | number)[]>> = {
  string_array: ['a', 'A', 'b', 'ä', "o'x", 'zz'],
  number_array: [0.1, 1, 2, 1e21, 7],
}
const GLOBS = [
  'a**',
  '**b',
  '**a**',
  'a*',
  '*',
  'a?',
  '[a-b]**',
  '[!a]',
  '{a,A}',
  'a\\*',
  '**.b',
  'a%**',
  '?',
  '**\n**',
]

/** Constants of tests: values of the column, and values that no row has. */
function constantsOf(name: string): readonly (string | number | boolean)[] {
  const { attribute, values } = COLUMNS[name]!
  switch (attribute.type) {
    case 'string':
      return [
        ...(values as string[]).filter(text => text !== ''),
        'none',
        '007',
        '1e3',
        '\ud800',
        'a\0',
        values[0] as string,
      ]
    case 'number':
      return [...(values as number[]), 0.5, 2 ** 60, -(2 ** 60), 1e308]
    case 'time':
      return [...TIMES, '2026-06-30T12:00:00.500Z']
    case 'date':
      return [...DATES, '2026-06-30']
    default:
      return values as boolean[]
  }
}

function nodes(described: FilterTable): fc.Arbitrary<FilterNode> {
  const names = [...described.fields.keys()].filter(name => name.startsWith('attributes.'))
  const leaf = fc.constantFrom(...names).chain((field): fc.Arbitrary<FilterNode> => {
    const name = field.slice('attributes.'.length)
    const { type } = COLUMNS[name]!.attribute
    const node = (operator: FieldOperator, value: fc.Arbitrary<FilterNode['value']>) =>
      value.map(chosen => ({ type: 'field', operator, field, value: chosen }) as FilterNode)
    const exists = node('exists', fc.boolean() as never)
    const element = ELEMENT[type]
    if (element) {
      const list = fc.uniqueArray(fc.constantFrom(...element), { minLength: 1, maxLength: 4 })
      const set = fc.constantFrom<FieldOperator>('intersects', 'disjoint', 'subset', 'nsubset')
      const length = fc.constantFrom<FieldOperator>('len_eq', 'len_ne', 'len_lt', 'len_gt')
      return fc.oneof(
        exists,
        set.chain(operator => node(operator, list as never)),
        length.chain(operator => node(operator, fc.integer({ min: 0, max: 4 }) as never)),
      )
    }
    const constant = fc.constantFrom(...constantsOf(name))
    if (type === 'bool') return fc.oneof(exists, node('eq', constant as never))
    const list = fc.uniqueArray(constant, { minLength: 2, maxLength: 5 })
    const orderings: FieldOperator[] = type === 'number' ? ['lt', 'lte', 'gt', 'gte'] : ['lt', 'gte']
    const choices = [
      exists,
      fc.constantFrom<FieldOperator>('eq', 'ne').chain(operator => node(operator, constant as never)),
      fc.constantFrom<FieldOperator>('in', 'nin').chain(operator => node(operator, list as never)),
    ]
    if (type !== 'string') {
      choices.push(fc.constantFrom(...orderings).chain(operator => node(operator, constant as never)))
      const others = names.filter(
        other => COLUMNS[other.slice('attributes.'.length)]!.attribute.type === type,
      )
      const comparison = fc.constantFrom<FieldOperator>('eq', 'ne', 'lt', 'lte', 'gt', 'gte')
      const reference = fc.constantFrom(...others).map(other => ({ field: other }))
      choices.push(comparison.chain(operator => node(operator, reference as never)))
    } else if (COLUMNS[name]!.attribute.as === undefined) {
      const texts = fc.constantFrom('a', 'A', '%', '_', '\\', 'ä', '\n', "'", 'e')
      choices.push(
        fc.constantFrom<FieldOperator>('contains', 'ncontains').chain(op => node(op, texts as never)),
      )
      choices.push(
        fc
          .constantFrom<FieldOperator>('match', 'nmatch')
          .chain(op => node(op, fc.constantFrom(...GLOBS) as never)),
      )
    }
    return fc.oneof(...choices)
  })
  return fc.letrec<{ node: FilterNode }>(tie => ({
    node: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.record({
        type: fc.constant('compound' as const),
        operator: fc.constantFrom('and' as const, 'or' as const),
        value: fc.array(tie('node'), { minLength: 2, maxLength: 3 }),
      }),
    ),
  })).node
}

let postgresql: PGlite
let sqlite: DatabaseSync

beforeAll(async () => {
  postgresql = new PGlite()
  sqlite = new DatabaseSync(':memory:')
  await postgresql.exec(
    `CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
  )
  const columnsOf = (dialect: 'postgresql' | 'sqlite') =>
    Object.entries(COLUMNS).flatMap(([name, column]) =>
      column[dialect] === null ? [] : [[name, column[dialect]]],
    )
  for (const dialect of ['postgresql', 'sqlite'] as const) {
    const columns = columnsOf(dialect)
    const create = `CREATE TABLE rows (id text, ${columns.map(([name, type]) => `"${name}" ${type}`).join(', ')})`
    const names = ['id', ...columns.map(([name]) => name!)]
    if (dialect === 'sqlite') sqlite.exec(create)
    else await postgresql.exec(create)
    for (const row of rows) {
      const values = names.map(name => stored(row[name]!, name, dialect))
      if (dialect === 'sqlite') {
        sqlite
          .prepare(`INSERT INTO rows VALUES (${names.map(() => '?').join(', ')})`)
          .run(...(values as string[]))
      } else {
        await postgresql.query(
          `INSERT INTO rows VALUES (${names.map((_, at) => `$${at + 1}`).join(', ')})`,
          values,
        )
      }
    }
  }
})

afterAll(async () => {
  await postgresql.close()
  sqlite.close()
})

function stored(value: Stored, name: string, dialect: 'postgresql' | 'sqlite'): unknown {
  if (dialect === 'postgresql' || value === null) return value
  if (Array.isArray(value)) return JSON.stringify(value)
  if (typeof value === 'boolean') return value ? 1 : 0
  if (COLUMNS[name]?.attribute.as === 'milliseconds') return Date.parse(value as string)
  return COLUMNS[name]?.attribute.as === 'bigint' ? BigInt(value as string) : value
}

test.each(['postgresql', 'sqlite'] as const)(
  'a random filter selects the same rows in %s as in JavaScript',
  async dialect => {
    const described = tableFor(dialect)
    const met = { refused: 0, some: 0, none: 0 }
    const coverage = { met, least: { refused: 1, some: 20, none: 1 } }
    for (const filter of valuesUntilMet(nodes(described), 16_000, coverage)) {
      const plan: PlannedFilter = { kind: 'conditional', filter }
      const selects = toPredicate(plan, described)
      const expected = rows.filter(row => selects(asRead(row))).map(({ id }) => id)
      let condition
      try {
        condition = toSql(plan, described, { dialect, alias: 'r' })
      } catch (error) {
        if (!(error instanceof FilterError) || error.code !== 'NOT_EXPRESSIBLE') throw error
        met.refused += 1
        continue
      }
      met[expected.length === 0 ? 'none' : 'some'] += 1
      const statement = `SELECT id FROM rows r WHERE ${condition.text} ORDER BY rowid`
      const found =
        dialect === 'sqlite'
          ? sqlite.prepare(statement).all(...(condition.values as string[]))
          : (await postgresql.query(statement.replace('rowid', 'ctid'), [...condition.values])).rows
      const because = `${howToRepeat}: ${JSON.stringify(filter)}`
      expect(
        found.map(row => (row as { id: string }).id),
        because,
      ).toEqual(expected)
      if (dialect !== 'postgresql') continue
      const query = drizzleSql`SELECT id FROM rows r WHERE ${toDrizzle(plan, described, { dialect, alias: 'r' })} ORDER BY ctid`
      const same = await drizzle(postgresql).execute(query)
      expect(
        same.rows.map(row => row['id']),
        because,
      ).toEqual(expected)
    }
  },
)
