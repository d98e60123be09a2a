/**
 * Conditions of the adapters select the same rows as the predicate in JavaScript, in real databases with
 * their default collations: random filters over columns of every kind, with every operator.
 */
import { PGlite } from '@electric-sql/pglite'
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/pglite'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toDrizzle } from '#filter/drizzle.ts'
import { toPredicate } from '#filter/predicate.ts'
import { valueIn } from '#filter/row-values.ts'
import { toSql } from '#filter/to-sql.ts'
import type { PlannedFilter } from '#filter/tree.ts'
import {
  asRead,
  filterTable,
  insertedRows,
  ROWS_STORED,
  tableStatements,
} from '#testing/filters/filter-columns.ts'
import { unlessRefused } from '#testing/filters/refusals.ts'
import { randomFilters } from '#testing/filters/random-filters.ts'
import { howToRepeat, valuesUntilMet } from '../properties/seeded.ts'

let postgresql: PGlite
let sqlite: DatabaseSync

beforeAll(async () => {
  postgresql = new PGlite()
  sqlite = new DatabaseSync(':memory:')
  const collation = `provider = icu, locale = '@colStrength=secondary', deterministic = false`
  await postgresql.exec(`CREATE COLLATION ignore_case (${collation})`)
  for (const statement of tableStatements('postgresql')) await postgresql.exec(statement)
  for (const statement of tableStatements('sqlite')) sqlite.exec(statement)
  for (const { into, values } of insertedRows('postgresql')) {
    const parameters = values.map((_, index) => `$${index + 1}`).join(', ')
    await postgresql.query(`INSERT INTO ${into} VALUES (${parameters})`, [...values])
  }
  for (const { into, values } of insertedRows('sqlite')) {
    const parameters = values.map(() => '?').join(', ')
    sqlite.prepare(`INSERT INTO ${into} VALUES (${parameters})`).run(...(values as string[]))
  }
})

afterAll(async () => {
  await postgresql.close()
  sqlite.close()
})

async function rowsOf(
  dialect: 'postgresql' | 'sqlite',
  statement: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  if (dialect === 'postgresql') {
    const { rows } = await postgresql.query(statement, [...values])
    return rows as Record<string, unknown>[]
  }
  const prepared = sqlite.prepare(statement)
  prepared.setReadBigInts(/number_key/.test(statement))
  return prepared.all(...(values as string[]))
}

test.each(['postgresql', 'sqlite'] as const)(
  'a random filter selects the same rows in %s as in JavaScript',
  async dialect => {
    const described = filterTable(dialect)
    const met = { refused: 0, some: 0, none: 0, joined: 0 }
    const coverage = { met, least: { refused: 1, some: 40, none: 1, joined: 10 } }
    for (const filter of valuesUntilMet(randomFilters(described), 16_000, coverage)) {
      const plan: PlannedFilter = { kind: 'conditional', filter }
      const text = JSON.stringify(filter)
      const isJoined = text.includes('relations.team')
      const options = { dialect, ...(isJoined && { alias: 'd' }) }
      const condition = unlessRefused(() => toSql(plan, described, options))
      if (condition === null) {
        met.refused += 1
        continue
      }
      const selects = toPredicate(plan, described)
      const expected = ROWS_STORED.filter(row => selects(asRead(row))).map(({ id }) => id)
      met[expected.length === 0 ? 'none' : 'some'] += 1
      if (isJoined) met.joined += 1
      const statement = `SELECT id FROM documents d WHERE ${condition.text} ORDER BY at`
      const found = await rowsOf(dialect, statement, condition.values)
      expect({ text, howToRepeat, ids: found.map(({ id }) => id) }).toEqual({
        text,
        howToRepeat,
        ids: expected,
      })
      if (dialect === 'sqlite') continue
      const query = drizzleSql`SELECT id FROM documents d WHERE ${toDrizzle(plan, described, options)} ORDER BY at`
      const same = await drizzle(postgresql).execute(query)
      expect(same.rows.map(({ id }) => id)).toEqual(expected)
    }
  },
)

test.each(['postgresql', 'sqlite'] as const)(
  'the rows that a driver of %s reads have the values of the stored rows',
  async dialect => {
    const described = filterTable(dialect)
    const rows = await rowsOf(dialect, `SELECT *, number_key FROM documents ORDER BY at`)
    for (const [index, stored] of ROWS_STORED.entries()) {
      for (const field of described.fields.values()) {
        const read = valueIn({ ...rows[index], teams: stored['teams'] }, field)
        const expected = valueIn(asRead(stored), field)
        // PGlite reads the year 1 as 2001.
        const isMisread = dialect === 'postgresql' && String(expected).startsWith('0001-')
        if (!isMisread) expect([field.name, read]).toEqual([field.name, expected])
      }
    }
  },
)
