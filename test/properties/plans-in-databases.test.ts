/**
 * The filters of random plans, in JavaScript and in real databases, select exactly the rows that
 * `/allowed/bulk` allows (filter.md P19).
 */
import { PGlite } from '@electric-sql/pglite'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FilterError } from '#filter/filter-error.ts'
import { toPredicate } from '#filter/predicate.ts'
import { rowCheck, type TableRow } from '#filter/row-values.ts'
import { type ColumnKind, type FilterTable, planRequest, type PlanQuestion, table } from '#filter/table.ts'
import { toSql } from '#filter/to-sql.ts'
import type { AccessPlan, ColumnType } from '#filter/tree.ts'
import { askRoutes } from '#testing/engines/ask-routes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { CurrentFacts } from '#testing/oracle/current-facts.ts'
import { storedRow } from '#testing/oracle/planned-rows.ts'
import { COLUMN_POOL } from '#testing/oracle/random-columns.ts'
import { plans, type PlanWords, type RandomPlan, type RowWords } from '#testing/oracle/random-plans.ts'
import { holdsForAsync } from './seeded.ts'

const READ_AT = Date.UTC(2026, 10, 26)
const ROWS = 14
const RELATIONS_MAX = 8
type DatabaseName = 'sqlite' | 'postgresql'

const TYPES: Readonly<Record<DatabaseName, Readonly<Record<ColumnType, string>>>> = {
  sqlite: {
    string: 'TEXT',
    number: 'REAL',
    bool: 'INTEGER',
    time: 'TEXT',
    date: 'TEXT',
    string_array: 'TEXT',
    number_array: 'TEXT',
  },
  postgresql: {
    string: 'text',
    number: 'double precision',
    bool: 'boolean',
    time: 'timestamptz',
    date: 'date',
    string_array: 'text[]',
    number_array: 'double precision[]',
  },
}
const KINDS: Readonly<Record<DatabaseName, Partial<Record<ColumnType, ColumnKind>>>> = {
  sqlite: { number: 'double', time: 'text', date: 'text' },
  postgresql: { number: 'double', time: 'timestamptz' },
}
const COLUMNS: readonly (readonly [name: string, type: ColumnType])[] = [
  ['key', 'string'],
  ['tenant', 'string'],
  ...COLUMN_POOL.map(([name, type]) => [`c_${name}`, type] as const),
  ...Array.from({ length: RELATIONS_MAX }, (_, index) => [`r_${index}`, 'string'] as const),
]

let postgresql: PGlite
let sqlite: DatabaseSync

beforeAll(async () => {
  postgresql = new PGlite()
  sqlite = new DatabaseSync(':memory:')
  const create = (types: Readonly<Record<ColumnType, string>>) =>
    `CREATE TABLE rows (number integer, ${COLUMNS.map(([name, type]) => `"${name}" ${types[type]}`).join()})`
  sqlite.exec(create(TYPES.sqlite))
  await postgresql.exec(create(TYPES.postgresql))
})

afterAll(async () => {
  await postgresql.close()
  sqlite.close()
})

function tableOf(question: PlanWords, database: DatabaseName): FilterTable {
  const { type, hasTenantColumn, attributes, relations, tenantsAgree } = question
  return table({
    type,
    key: { column: 'key' },
    ...(hasTenantColumn && { tenant: { column: 'tenant' } }),
    attributes: Object.fromEntries(
      attributes.map(({ name, type: ofColumn, nulls }) => {
        const as = KINDS[database][ofColumn]
        return [name, { type: ofColumn, nulls, column: `c_${name}`, ...(as && { as }) }]
      }),
    ),
    relations: Object.fromEntries(
      relations.map(({ relation }, index) => [relation, { column: `r_${index}` }]),
    ),
    tenantsAgree,
  })
}

function questionOf({ user, action, tenant, sent, idsMax }: PlanWords): PlanQuestion {
  return {
    user: { key: user, ...(sent.user && { attributes: sent.user }) },
    action,
    ...(tenant !== null && { tenant }),
    ...(sent.resource && { attributes: sent.resource }),
    ...(sent.context && { context: sent.context }),
    maxIds: idsMax,
  }
}

/** The row as an application reads it. Columns that the question does not declare are `NULL`. */
function tableRowOf(
  { attributes, relations }: PlanWords,
  { key, tenant, values, subjects }: RowWords,
): TableRow {
  return {
    key,
    tenant,
    ...Object.fromEntries(attributes.map(({ name }) => [`c_${name}`, values[name]])),
    ...Object.fromEntries(relations.map(({ relation }, index) => [`r_${index}`, subjects[relation] ?? null])),
  }
}

function storeInSqlite(rows: readonly TableRow[]): void {
  sqlite.exec('DELETE FROM rows')
  const insert = sqlite.prepare(`INSERT INTO rows VALUES (?, ${COLUMNS.map(() => '?').join()})`)
  for (const [number, row] of rows.entries()) {
    const values = COLUMNS.map(([name]) => {
      const value = row[name] ?? null
      if (typeof value === 'boolean') return Number(value)
      return Array.isArray(value) ? JSON.stringify(value) : (value as string | number | null)
    })
    insert.run(number, ...values)
  }
}

async function storeInPostgresql(rows: readonly TableRow[]): Promise<void> {
  const json = JSON.stringify(rows.map((row, number) => ({ number, ...row })))
  await postgresql.query(
    'WITH former AS (DELETE FROM rows) INSERT INTO rows SELECT * FROM json_populate_recordset(NULL::rows, $1)',
    [json],
  )
}

/** Returns the numbers of the selected rows, or null if the adapter cannot express the filter. */
async function selected(
  plan: AccessPlan,
  words: PlanWords,
  database: DatabaseName,
): Promise<number[] | null> {
  let condition
  try {
    condition = toSql(plan, tableOf(words, database), { dialect: database })
  } catch (error) {
    if (error instanceof FilterError && error.code === 'NOT_EXPRESSIBLE') return null
    throw error
  }
  const statement = `SELECT number FROM rows WHERE ${condition.text} ORDER BY number`
  const found =
    database === 'sqlite'
      ? sqlite.prepare(statement).all(...(condition.values as string[]))
      : (await postgresql.query(statement, [...condition.values])).rows
  return found.map(row => Number((row as { number: number }).number))
}

interface Bulk {
  readonly allow: readonly { readonly allow: boolean }[]
}

/** With many runs, the parts together make more than 1,000,000 comparisons. */
const PARTS = import.meta.url.includes('many-runs') ? [0, 1, 2, 3, 4, 5, 6] : [0]

test.each(PARTS)(
  'a filter selects the rows that /allowed/bulk allows, in each adapter, part %i',
  async part => {
    let engine = new SharedEngine()
    const ask = askRoutes(() => engine, READ_AT)
    const met = { allowed: 0, denied: 0, refused: 0, inexpressible: 0, comparisons: 0 }
    const least = { allowed: 40, denied: 40, refused: 3, comparisons: 1_000 }
    await holdsForAsync(
      plans({ rows: ROWS }),
      { runs: 4_000, met, least, part },
      async ({ changes, question, rows }) => {
        engine = SharedEngine.with(changes)
        const asked = questionOf(question)
        const described = tableOf(question, 'sqlite')
        const plan = await planOrNull(ask, JSON.stringify(planRequest(described, asked)))
        if (plan === null) {
          met.refused += 1
          return
        }
        const kept = keptRows({ changes, question, rows })
        const checks = kept.map(row => rowCheck(described, asked, row))
        const { allow } = await ask<Bulk>('isAllowedBulk', JSON.stringify(checks))
        const isOther = (row: TableRow) =>
          question.tenant !== null && question.hasTenantColumn && row['tenant'] !== question.tenant
        const allowed = [...kept.keys()].filter(index => allow[index]!.allow && !isOther(kept[index]!))
        met.allowed += allowed.length
        met.denied += kept.length - allowed.length
        const because = `${JSON.stringify({ plan, kept })}`
        const selects = toPredicate(plan, described)
        expect(
          [...kept.keys()].filter(index => selects(kept[index]!)),
          because,
        ).toEqual(allowed)
        met.comparisons += kept.length
        storeInSqlite(kept)
        await storeInPostgresql(kept)
        for (const database of ['sqlite', 'postgresql'] as const) {
          const found = await selected(plan, question, database)
          if (found === null) met.inexpressible += 1
          else {
            expect(found, `${database}, ${because}`).toEqual(allowed)
            met.comparisons += kept.length
          }
        }
      },
    )
  },
)

/** Rows that meet the premises. The relation columns of a row that is not stored are `NULL`. */
function keptRows({ changes, question, rows }: RandomPlan): TableRow[] {
  const facts = new CurrentFacts()
  for (const change of changes) facts.apply(change)
  const subjects = Object.fromEntries(question.relations.map(({ relation }) => [relation, null]))
  return rows.flatMap(words => {
    const row = storedRow(question, { ...words, subjects }, facts)
    return row === null ? [] : [tableRowOf(question, row)]
  })
}

async function planOrNull(ask: ReturnType<typeof askRoutes>, body: string): Promise<AccessPlan | null> {
  try {
    return await ask<AccessPlan>('planAccess', body)
  } catch (error) {
    if (/^FILTER_|^UNKNOWN_RELATION$/u.test((error as { code?: string }).code ?? '')) return null
    throw error
  }
}
