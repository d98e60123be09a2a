/**
 * The law of plans (filter.md P19) from request to row: for every row, the predicate and the conditions in
 * SQLite and PostgreSQL select exactly the rows that `/allowed/bulk` allows. Requests and checks are those of
 * the adapters.
 */
import { PGlite } from '@electric-sql/pglite'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DialectName } from '#filter/dialect.ts'
import { toPredicate } from '#filter/predicate.ts'
import { rowCheck, type TableRow } from '#filter/row-values.ts'
import {
  type AttributeDescription,
  type ColumnDescription,
  type FilterTable,
  planRequest,
  type PlanQuestion,
  table,
} from '#filter/table.ts'
import { toSql } from '#filter/to-sql.ts'
import type { AccessPlan } from '#filter/tree.ts'
import { askRoutes } from '#testing/engines/ask-routes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { unlessRefused } from '#testing/filters/refusals.ts'
import { CurrentFacts } from '#testing/oracle/current-facts.ts'
import { storedRow } from '#testing/oracle/planned-rows.ts'
import { plans, type PlanWords, type RandomPlan, type RowWords } from '#testing/oracle/random-plans.ts'
import { holdsForAsync } from './seeded.ts'

const AS_OF = Date.UTC(2026, 10, 26)
/** `VERDICT_RUNS=4` makes more than 1,000,000 comparisons of a row with a check (CONTRIBUTING.md). */
const RUNS = 1_600
type Dialect = Exclude<DialectName, 'mysql'>

/** Columns of the attributes of random plans. Collations, kinds and types differ between the databases. */
const ATTRIBUTES: Readonly<
  Record<string, Record<Dialect, readonly [type: string, more: Partial<ColumnDescription>]>>
> = {
  s: {
    postgresql: ['text COLLATE ignore_case', { collation: 'nondeterministic' }],
    sqlite: ['TEXT COLLATE NOCASE', {}],
  },
  owner: { postgresql: ['text', {}], sqlite: ['TEXT', {}] },
  n: { postgresql: ['double precision', { as: 'double' }], sqlite: ['REAL', { as: 'double' }] },
  m: { postgresql: ['numeric', { as: 'numeric' }], sqlite: ['NUMERIC', { as: 'numeric' }] },
  b: { postgresql: ['boolean', {}], sqlite: ['INTEGER', {}] },
  t: { postgresql: ['timestamptz', { as: 'timestamptz' }], sqlite: ['TEXT', { as: 'text' }] },
  u: { postgresql: ['timestamp', { as: 'timestamp' }], sqlite: ['INTEGER', { as: 'milliseconds' }] },
  d: { postgresql: ['date', {}], sqlite: ['TEXT', { as: 'text' }] },
  ss: { postgresql: ['text[]', {}], sqlite: ['TEXT', {}] },
  ns: { postgresql: ['double precision[]', {}], sqlite: ['TEXT', {}] },
}
/** Columns of relations. The other database has them in another table. */
const RELATIONS = ['r0', 'r1', 'r2']
const COLUMNS = ['id', 'tenant', ...Object.keys(ATTRIBUTES).map(name => `a_${name}`), ...RELATIONS]
const TEXT = { postgresql: 'text', sqlite: 'TEXT COLLATE NOCASE' }

let postgresql: PGlite
let sqlite: DatabaseSync
let insertRow: StatementSync
let insertSubject: StatementSync

beforeAll(async () => {
  postgresql = new PGlite()
  const collation = `provider = icu, locale = '@colStrength=secondary', deterministic = false`
  await postgresql.exec(`CREATE COLLATION ignore_case (${collation}); CREATE TYPE row_of_table AS (
    at integer, ${definitions('postgresql')})`)
  sqlite = new DatabaseSync(':memory:')
  sqlite.exec(`CREATE TABLE documents (at INTEGER, ${definitions('sqlite')});
    CREATE TABLE subjects (relation TEXT, document TEXT COLLATE NOCASE, subject TEXT COLLATE NOCASE)`)
  for (const name of RELATIONS) {
    sqlite.exec(`CREATE VIEW of_${name} AS SELECT * FROM subjects WHERE relation = '${name}'`)
  }
  insertRow = sqlite.prepare(`INSERT INTO documents VALUES (?, ${COLUMNS.map(() => '?').join(', ')})`)
  insertSubject = sqlite.prepare('INSERT INTO subjects VALUES (?, ?, ?)')
})

afterAll(async () => {
  await postgresql.close()
  sqlite.close()
})

function definitions(dialect: Dialect): string {
  const types = Object.entries(ATTRIBUTES).map(([name, of]) => `a_${name} ${of[dialect][0]}`)
  const texts = ['id', 'tenant', ...RELATIONS].map(name => `${name} ${TEXT[dialect]}`)
  return [...texts.slice(0, 2), ...types, ...texts.slice(2)].join(', ')
}

/** In SQLite, the subjects of relations are in another table. */
function tableFor(dialect: Dialect, words: PlanWords): FilterTable {
  const attributes = words.attributes.map(({ name, type, nulls }): [string, AttributeDescription] => {
    return [name, { column: `a_${name}`, type, nulls, ...ATTRIBUTES[name]![dialect][1] }]
  })
  const relations = words.relations.map(({ relation }, index) => {
    const column = RELATIONS[index]!
    const other = {
      table: `of_${column}`,
      foreignKey: 'document',
      subject: 'subject',
      property: `of_${column}`,
    }
    return [relation, dialect === 'sqlite' ? other : { column }] as const
  })
  return table({
    type: words.type,
    key: { column: 'id' },
    ...(words.hasTenantColumn && { tenant: { column: 'tenant' } }),
    attributes: Object.fromEntries(attributes),
    relations: Object.fromEntries(relations),
    tenantsAgree: words.tenantsAgree,
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

/** The keys and tenants of the random rows, each with the values of every random row, and of two of them. */
function rowsOf({ question, rows, changes }: RandomPlan): TableRow[] {
  const facts = new CurrentFacts()
  for (const change of changes) facts.apply(change)
  const places = rows.flatMap(words => {
    const isStored = facts.instance({ type: question.type, key: words.key }) !== undefined
    const row = storedRow(question, isStored ? words : { ...words, subjects: {} }, facts)
    return row === null || /\0/u.test(JSON.stringify([row.key, row.tenant, row.subjects])) ? [] : [row]
  })
  const mixed = rows.map(({ values }, index) => {
    const next = Object.entries(rows[(index + 1) % rows.length]!.values)
    return { ...values, ...Object.fromEntries(next.filter((_, column) => column % 2 === 0)) }
  })
  const cells = [...rows.map(({ values }) => values), ...mixed]
  return places.flatMap(place => cells.map(values => rowWith(question, { ...place, values })))
}

function rowWith({ relations }: PlanWords, { key, tenant, values, subjects }: RowWords): TableRow {
  const ofRelations = RELATIONS.flatMap((name, index) => {
    const relation = relations[index]?.relation ?? ''
    const subject = Object.hasOwn(subjects, relation) ? subjects[relation]! : null
    return [
      [name, subject],
      [`of_${name}`, subject === null ? [] : [subject]],
    ]
  })
  const ofAttributes = Object.keys(ATTRIBUTES).map(name => [`a_${name}`, values[name] ?? null])
  return { id: key, tenant, ...Object.fromEntries([...ofAttributes, ...ofRelations]) }
}

async function selectedIn(
  dialect: Dialect,
  { text, values }: ReturnType<typeof toSql>,
  rows: readonly TableRow[],
): Promise<readonly number[]> {
  if (dialect === 'postgresql') {
    const all = JSON.stringify(rows.map((row, at) => ({ at, ...row })))
    const from = `json_populate_recordset(null::row_of_table, $${values.length + 1})`
    const { rows: found } = await postgresql.query<{ at: number }>(
      `SELECT at FROM ${from} d WHERE ${text} ORDER BY at`,
      [...values, all],
    )
    return found.map(({ at }) => at)
  }
  const found = sqlite.prepare(`SELECT at FROM documents d WHERE ${text} ORDER BY at`)
  return found.all(...(values as string[])).map(({ at }) => at as number)
}

function storeInSqlite(rows: readonly TableRow[]): void {
  sqlite.exec('DELETE FROM documents; DELETE FROM subjects; BEGIN')
  for (const [at, row] of rows.entries()) {
    const values = COLUMNS.map(name => storedValue(row[name], name))
    insertRow.run(at, ...(values as string[]))
  }
  const subjects = new Set(rows.map(row => JSON.stringify([row['id'], ...RELATIONS.map(name => row[name])])))
  for (const text of subjects) {
    const [id, ...of] = JSON.parse(text) as string[]
    for (const [index, subject] of of.entries()) {
      if (subject !== null) insertSubject.run(RELATIONS[index]!, id!, subject)
    }
  }
  sqlite.exec('COMMIT')
}

function storedValue(value: unknown, name: string): unknown {
  if (value === null) return null
  if (name === 'a_u') return Date.parse(value as string)
  if (typeof value === 'boolean') return value ? 1 : 0
  return Array.isArray(value) ? JSON.stringify(value) : value
}

async function planOf(ask: ReturnType<typeof askRoutes>, body: object): Promise<AccessPlan | null> {
  try {
    return await ask<AccessPlan>('planAccess', JSON.stringify(body))
  } catch (error) {
    if (/^(FILTER_|UNKNOWN_RELATION$)/u.test((error as { code?: string }).code ?? '')) return null
    throw error
  }
}

test('conditions in databases select exactly the rows that checks allow', async () => {
  let engine = new SharedEngine()
  const ask = askRoutes(() => engine, AS_OF)
  const met = { allowed: 0, denied: 0, conditional: 0, refused: 0, inSqlite: 0, inPostgresql: 0 }
  const least = { allowed: 200, denied: 200, conditional: 20, refused: 1, inSqlite: 500, inPostgresql: 500 }
  await holdsForAsync(plans({ rows: 6 }), { runs: RUNS, met, least }, async random => {
    engine = SharedEngine.with(random.changes)
    const { question: words } = random
    const question = questionOf(words)
    const described = { postgresql: tableFor('postgresql', words), sqlite: tableFor('sqlite', words) }
    const body = planRequest(described.postgresql, question)
    const plan = await planOf(ask, body)
    if (plan === null) {
      met.refused += 1
      return
    }
    const rows = rowsOf(random)
    if (rows.length === 0) return
    if (plan.kind === 'conditional') met.conditional += 1
    const checks = rows.map(row => rowCheck(described.postgresql, question, row))
    const bulk = await ask<{ allow: { allow: boolean }[] }>('isAllowedBulk', JSON.stringify(checks))
    const allowed = bulk.allow.flatMap(({ allow }, at) => {
      const isInTenant =
        words.tenant === null || !words.hasTenantColumn || rows[at]!['tenant'] === words.tenant
      return allow && isInTenant ? [at] : []
    })
    met.allowed += allowed.length
    met.denied += rows.length - allowed.length
    const because = JSON.stringify({ body, plan })
    const selects = toPredicate(plan, described.postgresql)
    const byPredicate = rows.flatMap((row, at) => (selects(row) ? [at] : []))
    expect([because, byPredicate]).toEqual([because, allowed])
    storeInSqlite(rows)
    for (const dialect of ['postgresql', 'sqlite'] as const) {
      const condition = unlessRefused(() => toSql(plan, described[dialect], { dialect, alias: 'd' }))
      if (condition === null) continue
      expect([because, dialect, await selectedIn(dialect, condition, rows)]).toEqual([
        because,
        dialect,
        allowed,
      ])
      met[dialect === 'sqlite' ? 'inSqlite' : 'inPostgresql'] += rows.length
    }
  })
})
