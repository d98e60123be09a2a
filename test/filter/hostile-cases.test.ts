/** Hostile values in real databases: for each case, a row that is selected and rows that are not. */
import { PGlite } from '@electric-sql/pglite'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { toPredicate } from '#filter/predicate.ts'
import { table } from '#filter/table.ts'
import { toSql } from '#filter/to-sql.ts'
import type { FilterNode } from '#filter/tree.ts'
import { HOSTILE_CASES, type HostileCase } from '#testing/filters/hostile-cases.ts'

const postgresql = new PGlite()
await postgresql.exec(
  `CREATE COLLATION ignore_case (provider = icu, locale = '@colStrength=primary', deterministic = false)`,
)
const sqlite = new DatabaseSync(':memory:')
afterAll(async () => {
  await postgresql.close()
  sqlite.close()
})

function planOf({ column, test: [operator, value] }: HostileCase) {
  const described = table({
    type: 'document',
    key: { column: 'at' },
    attributes: { tested: { column: 'value', ...column } },
  })
  const filter = { type: 'field', operator, field: 'attributes.tested', value } as FilterNode
  return { plan: { kind: 'conditional', filter } as const, described }
}

function conditionOf(each: HostileCase, dialect: 'postgresql' | 'sqlite') {
  const { plan, described } = planOf(each)
  return toSql(plan, described, { dialect, alias: 'd' })
}

const IN_DATABASES = HOSTILE_CASES.flatMap(each =>
  (['postgresql', 'sqlite'] as const).flatMap(dialect => {
    const type = each.types[dialect]
    return type === undefined ? [] : [{ ...each, dialect, type }]
  }),
)

test.each(IN_DATABASES)('$dialect selects only the right rows of $name', async each => {
  const { dialect, type, column, selected, others } = each
  const { text, values } = conditionOf(each, dialect)
  const statement = `SELECT at FROM hostile d WHERE ${text} ORDER BY at`
  const rows = [selected, ...others]
  if (dialect === 'sqlite') {
    sqlite.exec(`DROP TABLE IF EXISTS hostile; CREATE TABLE hostile (at INTEGER, value ${type})`)
    const insert = sqlite.prepare('INSERT INTO hostile VALUES (?, ?)')
    // SQLite rounds numbers that it reads from texts.
    const isDouble = column.as === 'double'
    for (const [at, value] of rows.entries())
      insert.run(at, isDouble && value !== null ? Number(value) : value)
    expect(sqlite.prepare(statement).all(...(values as string[]))).toEqual([{ at: 0 }])
    return
  }
  await postgresql.exec(
    `SET TIME ZONE 'Asia/Kolkata'; DROP TABLE IF EXISTS hostile; CREATE TABLE hostile (at integer, value ${type})`,
  )
  const isList = column.type.endsWith('_array')
  for (const [at, value] of rows.entries()) {
    const isZoned = type === 'timestamptz' && value !== null && !value.endsWith('infinity')
    const stored =
      isList && value !== null ? (JSON.parse(value) as unknown[]) : isZoned ? `${value} UTC` : value
    const parameter = isList ? '$2' : `$2::text::${type.split(' COLLATE')[0]}`
    await postgresql.query(`INSERT INTO hostile VALUES ($1, ${parameter})`, [at, stored])
  }
  expect((await postgresql.query(statement, [...values])).rows).toEqual([{ at: 0 }])
})

const TESTS_OF_NUMBERS = [
  ['eq', 7],
  ['in', [7, 8]],
  ['ne', 5],
  ['nin', [5, 6]],
  ['gt', 5],
  ['lte', 7],
  ['eq', { field: 'attributes.tested' }],
] as const

test.each(['integer', 'double'] as const)('SQLite selects no text in a column of the kind %s', as => {
  sqlite.exec(`
    DROP TABLE IF EXISTS mixed; CREATE TABLE mixed (at INTEGER, value); DROP TABLE IF EXISTS texts;
    CREATE TABLE texts (value TEXT); INSERT INTO mixed VALUES (0, 7), (1, '7'), (2, '30'), (3, x'37');
    INSERT INTO texts VALUES ('7'), ('30'), ('7.0')
  `)
  for (const tested of TESTS_OF_NUMBERS) {
    const { plan, described } = planOf({
      column: { type: 'number', as },
      test: tested,
    } as unknown as HostileCase)
    const { text, values } = toSql(plan, described, { dialect: 'sqlite' })
    const found = (from: string) => sqlite.prepare(`${from} WHERE ${text}`).all(...(values as number[]))
    expect([tested, found('SELECT at FROM mixed'), found('SELECT value FROM texts')]).toEqual([
      tested,
      [{ at: 0 }],
      [],
    ])
  }
})

test('SQLite runs a filter with thousands of parts', () => {
  sqlite.exec(
    `DROP TABLE IF EXISTS many; CREATE TABLE many (at TEXT, value TEXT); INSERT INTO many VALUES ('k0', '["v"]')`,
  )
  const { described } = planOf({
    column: { type: 'string_array' },
    test: ['exists', true],
  } as unknown as HostileCase)
  const leaf = (field: string, operator: string, value: unknown) => ({
    type: 'field',
    operator,
    field,
    value,
  })
  for (const operator of ['and', 'or']) {
    const value = Array.from({ length: 5000 }, (_, index) =>
      operator === 'or'
        ? leaf('key', 'eq', `k${4999 - index}`)
        : leaf('attributes.tested', 'intersects', ['v', `v${index}`]),
    )
    const plan = { kind: 'conditional', filter: { type: 'compound', operator, value } } as never
    const { text, values } = toSql(plan, described, { dialect: 'sqlite', alias: 'd' })
    expect(sqlite.prepare(`SELECT at FROM many d WHERE ${text}`).all(...(values as string[]))).toHaveLength(1)
  }
})

const OF_NUMBERS = HOSTILE_CASES.filter(({ column }) => column.type.startsWith('number'))

test.each(OF_NUMBERS)('a predicate selects only the right rows of $name', each => {
  const { plan, described } = planOf(each)
  const selects = toPredicate(plan, described)
  const isRead = (text: string | null): boolean => text === null || !/NaN|Infinity/u.test(text)
  const selected = [each.selected, ...each.others.filter(isRead)].map(value => selects({ value }))
  expect(selected).toEqual([true, ...selected.slice(1).map(() => false)])
})
