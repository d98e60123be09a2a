/**
 * A table with columns of every kind in several databases, and values that stress comparisons: texts that
 * collations confuse, times around the epoch and the bounds of the years, numbers that JSON parsers round.
 */
import { type AttributeDescription, type FilterTable, table } from '#filter/table.ts'
import type { DialectName } from '#filter/dialect.ts'

export type StoredValue = string | number | boolean | null | readonly (string | number)[]
export type StoredRow = Readonly<Record<string, StoredValue>>

interface TestColumn {
  readonly attribute: Omit<AttributeDescription, 'column'>
  /** Type of the column in each database that can have it. */
  readonly types: Partial<Record<DialectName, string>>
  readonly values: readonly Exclude<StoredValue, null>[]
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
  'a\u00ad',
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
/** Times with a higher precision than those of a check. */
const FINE_TIMES = [...TIMES, '2026-01-01T00:00:00.000999Z', '1969-12-31T23:59:59.999999Z']
const DATES = ['2026-01-01', '2026-01-02', '0001-01-01', '9999-12-31']
const NUMBERS = [0, 1, -1, 0.1, 1.5, 1e21, -1e300, 2 ** 53, 99_744_606_032_043_540, 4.20563085221982e-253]
/** SQLite reads the text of the last number above as this number. */
const NEAR_NUMBER = 4.2056308522198194e-253

const every = (type: string) => ({ postgresql: type, mysql: type, sqlite: type })

export const COLUMNS: Readonly<Record<string, TestColumn>> = {
  text: {
    attribute: { type: 'string' },
    types: { postgresql: 'text', mysql: 'varchar(40)', sqlite: 'TEXT' },
    values: TEXTS,
  },
  nocase: {
    attribute: { type: 'string', collation: 'nondeterministic' },
    types: {
      postgresql: 'text COLLATE ignore_case',
      mysql: 'varchar(40) COLLATE utf8mb4_general_ci',
      sqlite: 'TEXT COLLATE NOCASE',
    },
    values: TEXTS,
  },
  uuid: {
    attribute: { type: 'string', as: 'uuid' },
    types: { postgresql: 'uuid' },
    values: ['5c0f8e2a-0000-4000-8000-00000000000a', '5c0f8e2a-0000-4000-8000-00000000000b'],
  },
  number_key: {
    attribute: { type: 'string', as: 'bigint' },
    types: { ...every('bigint'), sqlite: 'INTEGER' },
    values: ['7', '-7', '0', '9007199254740993'],
  },
  whole: {
    attribute: { type: 'number', as: 'integer' },
    types: { ...every('bigint'), sqlite: 'INTEGER' },
    values: [0, 1, -1, 5, 2 ** 53 - 1, -(2 ** 53 - 1)],
  },
  double: {
    attribute: { type: 'number', as: 'double' },
    types: { postgresql: 'double precision', mysql: 'double', sqlite: 'REAL' },
    values: [...NUMBERS, NEAR_NUMBER],
  },
  numeric: {
    attribute: { type: 'number', as: 'numeric' },
    types: { postgresql: 'numeric', sqlite: 'NUMERIC' },
    values: NUMBERS,
  },
  decimal: {
    attribute: { type: 'number', as: 'numeric' },
    types: every('decimal(20, 4)'),
    values: [0, 1, -1, 0.1, 1.5, 123_456_789.25],
  },
  flag: {
    attribute: { type: 'bool' },
    types: { ...every('boolean'), sqlite: 'INTEGER' },
    values: [true, false],
  },
  instant: {
    attribute: { type: 'time', as: 'timestamptz' },
    types: { postgresql: 'timestamptz' },
    values: FINE_TIMES,
  },
  utc: {
    attribute: { type: 'time', as: 'timestamp' },
    types: { postgresql: 'timestamp' },
    values: FINE_TIMES,
  },
  moment: {
    attribute: { type: 'time', as: 'datetime' },
    types: { mysql: 'datetime(6)' },
    values: FINE_TIMES,
  },
  coarse: { attribute: { type: 'time', as: 'datetime' }, types: { mysql: 'datetime(3)' }, values: TIMES },
  time_text: { attribute: { type: 'time', as: 'text' }, types: { sqlite: 'TEXT' }, values: TIMES },
  time_ms: { attribute: { type: 'time', as: 'milliseconds' }, types: { sqlite: 'INTEGER' }, values: TIMES },
  day: { attribute: { type: 'date' }, types: { postgresql: 'date', mysql: 'date' }, values: DATES },
  day_text: { attribute: { type: 'date', as: 'text' }, types: { sqlite: 'TEXT' }, values: DATES },
  words: {
    attribute: { type: 'string_array', collation: 'nondeterministic' },
    types: { postgresql: 'text[] COLLATE ignore_case', mysql: 'json', sqlite: 'TEXT' },
    values: [[], ['a'], ['a', 'A'], ['b', 'b', "o'x"], ['ä', 'a ']],
  },
  numbers: {
    attribute: { type: 'number_array' },
    types: { postgresql: 'double precision[]', mysql: 'json', sqlite: 'TEXT' },
    values: [[], [1], [0.1, 1e21], [1, 1, 2], [NEAR_NUMBER, 99_744_606_032_043_540]],
  },
}

const ROWS = 120
const TEAMS = ['red', 'Red', 'blue']

/** Rows with each value of each column, and `NULL`. `teams` is a relation in another table. */
export const ROWS_STORED: readonly StoredRow[] = Array.from({ length: ROWS }, (_, row) => {
  const values = Object.entries(COLUMNS).map(([name, { values: all }], column) => {
    const at = (row * 7 + column * 3 + (row >> 3)) % (all.length + 1)
    return [name, at === all.length ? null : all[at]!] as const
  })
  // Pairs of keys that differ only in case.
  const id = `${row % 2 === 0 ? 'r' : 'R'}ow ${row >> 1}`
  return { id, ...Object.fromEntries(values), teams: TEAMS.filter((_team, at) => (row >> at) % 2 === 1) }
})

/** The columns that a database can have. */
export function columnNames(dialect: DialectName): readonly string[] {
  return Object.keys(COLUMNS).filter(name => COLUMNS[name]!.types[dialect] !== undefined)
}

/** The collation of keys ignores case, except if they are exact. */
interface Keys {
  readonly areExact: boolean
}

export function filterTable(dialect: DialectName, { areExact }: Keys = { areExact: false }): FilterTable {
  const collation = areExact ? {} : ({ collation: 'nondeterministic' } as const)
  const attributes = columnNames(dialect).map(
    name => [name, { ...COLUMNS[name]!.attribute, column: name }] as const,
  )
  return table({
    type: 'document',
    key: { column: 'id', ...collation },
    attributes: Object.fromEntries(attributes),
    relations: {
      team: {
        table: 'members',
        foreignKey: 'document',
        subject: 'team',
        ...collation,
        property: 'teams',
      },
    },
  })
}

/** The row as an application reads it: times are cut to milliseconds. */
export function asRead(row: StoredRow): Record<string, unknown> {
  const entries = Object.entries(row).map(([name, value]) => {
    const isTime = COLUMNS[name]?.attribute.type === 'time' && typeof value === 'string'
    return [name, isTime ? new Date(Date.parse(value)) : value] as const
  })
  return Object.fromEntries(entries)
}

/** Statements that create the tables, with the types of the database. */
export function tableStatements(
  dialect: DialectName,
  { areExact }: Keys = { areExact: false },
): readonly string[] {
  const quoted = (name: string) => (dialect === 'mysql' ? `\`${name}\`` : `"${name}"`)
  const key = COLUMNS[areExact ? 'text' : 'nocase']!.types[dialect]!
  const columns = columnNames(dialect).map(name => `${quoted(name)} ${COLUMNS[name]!.types[dialect]}`)
  return [
    // `at` is the order of the rows.
    `CREATE TABLE documents (at integer, id ${key}, ${columns.join(', ')})`,
    `CREATE TABLE members (document ${key}, team ${key})`,
  ]
}

/** All rows to insert, with values in the form that drivers of the database bind. */
export function insertedRows(
  dialect: DialectName,
): readonly { readonly into: string; readonly values: readonly unknown[] }[] {
  return ROWS_STORED.flatMap((row, at) => [
    {
      into: 'documents',
      values: [at, row['id'], ...columnNames(dialect).map(name => boundValue(row[name]!, name, dialect))],
    },
    ...(row['teams'] as string[]).map(team => ({ into: 'members', values: [row['id'], team] })),
  ])
}

function boundValue(value: StoredValue, name: string, dialect: DialectName): unknown {
  if (dialect === 'postgresql' || value === null) return value
  const { as } = COLUMNS[name]!.attribute
  if (Array.isArray(value)) return JSON.stringify(value)
  if (typeof value === 'boolean') return value ? 1 : 0
  if (as === 'milliseconds') return Date.parse(value as string)
  if (as === 'datetime') return (value as string).replace('T', ' ').replace('Z', '')
  return as === 'bigint' ? BigInt(value as string) : value
}
