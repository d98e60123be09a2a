/**
 * Conditions of the adapters in a real MySQL, with its default collation. `VERDICT_TEST_MYSQL` is the URL of
 * a server, for example `mysql://root@127.0.0.1:3306`. The test creates a database there, and drops it.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test, type TestContext } from 'vitest'
import { toPredicate } from '#filter/predicate.ts'
import { valueIn } from '#filter/row-values.ts'
import { table } from '#filter/table.ts'
import { toSql } from '#filter/to-sql.ts'
import type { FilterNode, PlannedFilter } from '#filter/tree.ts'
import {
  asRead,
  filterTable,
  insertedRows,
  ROWS_STORED,
  tableStatements,
} from '#testing/filters/filter-columns.ts'
import { HOSTILE_CASES } from '#testing/filters/hostile-cases.ts'
import { randomFilters } from '#testing/filters/random-filters.ts'
import { unlessRefused } from '#testing/filters/refusals.ts'
import { howToRepeat, valuesUntilMet } from '../properties/seeded.ts'
import { keptFolder, reasonAgainst, run } from './published.ts'

const DRIVER = 'mysql2@3.24.6'

type Found = readonly [rows: readonly Record<string, unknown>[], fields: unknown]
interface Connection {
  execute(text: string, values?: readonly unknown[]): Promise<Found>
  query(text: string, values?: readonly unknown[]): Promise<Found>
  end(): Promise<void>
}
interface Driver {
  createConnection(options: Readonly<Record<string, unknown>>): Promise<Connection>
}

/** A connection to a new database with the rows. Skips the test if no server or no driver is available. */
async function connected(context: TestContext): Promise<Connection> {
  const uri = process.env['VERDICT_TEST_MYSQL']
  if (!uri) return context.skip('no MySQL: VERDICT_TEST_MYSQL is not set')
  const folder = keptFolder('mysql2')
  const install = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', DRIVER]
  const reason = await reasonAgainst(() => run('npm', [...install, '--prefer-offline']))
  if (reason !== null) return context.skip(`mysql2 is not available: ${reason}`)
  const driver = createRequire(join(folder, 'package.json'))('mysql2/promise') as Driver
  const connection = await driver.createConnection({ uri, timezone: 'Z', supportBigNumbers: true })
  const database = `verdict_filter_${process.pid}`
  await connection.query(`CREATE DATABASE ${database}`)
  context.onTestFinished(async () => {
    await connection.query(`DROP DATABASE ${database}`)
    await connection.end()
  })
  await connection.query(`USE ${database}`)
  for (const statement of tableStatements('mysql')) await connection.query(statement)
  for (const { into, values } of insertedRows('mysql')) {
    const parameters = values.map(() => '?').join(', ')
    await connection.execute(`INSERT INTO ${into} VALUES (${parameters})`, values.map(asParameter))
  }
  return connection
}

/** The driver binds integers beyond 2^53 only as texts. */
function asParameter(value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

test('a random filter selects the same rows in MySQL as in JavaScript', async context => {
  const connection = await connected(context)
  const described = filterTable('mysql')
  const met = { some: 0, none: 0, joined: 0 }
  const coverage = { met, least: { some: 40, none: 1, joined: 10 } }
  for (const filter of valuesUntilMet(randomFilters(described), 80_000, coverage)) {
    const plan: PlannedFilter = { kind: 'conditional', filter }
    const text = JSON.stringify(filter)
    const isJoined = text.includes('relations.team')
    const options = { dialect: 'mysql' as const, ...(isJoined && { alias: 'd' }) }
    const condition = unlessRefused(() => toSql(plan, described, options))
    if (condition === null) continue
    const selects = toPredicate(plan, described)
    const expected = ROWS_STORED.filter(row => selects(asRead(row))).map(({ id }) => id)
    met[expected.length === 0 ? 'none' : 'some'] += 1
    if (isJoined) met.joined += 1
    const statement = `SELECT id FROM documents d WHERE ${condition.text} ORDER BY at`
    for (const how of ['execute', 'query'] as const) {
      const [rows] = await connection[how](statement, condition.values)
      expect({ howToRepeat, how, text, ids: rows.map(({ id }) => id) }).toEqual({
        howToRepeat,
        how,
        text,
        ids: expected,
      })
    }
  }
})

test('the rows that the driver of MySQL reads have the values of the stored rows', async context => {
  const connection = await connected(context)
  const described = filterTable('mysql')
  // The option for big numbers changes numbers in JSON to texts.
  const [rows] = await connection.query(
    'SELECT *, CAST(numbers AS CHAR) AS numbers FROM documents ORDER BY at',
  )
  for (const [index, stored] of ROWS_STORED.entries()) {
    for (const field of described.fields.values()) {
      const read = valueIn({ ...rows[index], teams: stored['teams'] }, field)
      const expected = valueIn(asRead(stored), field)
      // The driver reads the year 1 as 2001, like PGlite.
      if (!String(expected).startsWith('0001-')) expect([field.name, read]).toEqual([field.name, expected])
    }
  }
})

test('MySQL selects only the right rows of hostile cases', async context => {
  const connection = await connected(context)
  for (const {
    name,
    column,
    types,
    test: [operator, value],
    selected,
    others,
  } of HOSTILE_CASES) {
    if (types.mysql === undefined) continue
    const described = table({
      type: 'document',
      key: { column: 'at' },
      attributes: { tested: { column: 'value', ...column } },
    })
    const filter = { type: 'field', operator, field: 'attributes.tested', value } as FilterNode
    const { text, values } = toSql({ kind: 'conditional', filter }, described, { dialect: 'mysql' })
    await connection.query('DROP TABLE IF EXISTS hostile')
    await connection.query(`CREATE TABLE hostile (at int, value ${types.mysql})`)
    for (const [at, stored] of [selected, ...others].entries()) {
      const parameter = column.as === 'double' && stored !== null ? Number(stored) : stored
      await connection.execute('INSERT INTO hostile VALUES (?, ?)', [at, parameter])
    }
    const [rows] = await connection.execute(`SELECT at FROM hostile WHERE ${text} ORDER BY at`, values)
    expect([name, rows]).toEqual([name, [{ at: 0 }]])
  }
})
