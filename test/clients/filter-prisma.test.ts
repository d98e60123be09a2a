/** Conditions of the adapter for Prisma, in a real Prisma client on PostgreSQL (PGlite). */
import type { PGlite } from '@electric-sql/pglite'
import { createRequire } from 'node:module'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test, type TestContext } from 'vitest'
import { toPredicate } from '#filter/predicate.ts'
import { toPrisma } from '#filter/prisma.ts'
import type { FilterNode, PlannedFilter } from '#filter/tree.ts'
import {
  asRead,
  columnNames,
  filterTable,
  insertedRows,
  ROWS_STORED,
  tableStatements,
} from '#testing/filters/filter-columns.ts'
import { randomFilters } from '#testing/filters/random-filters.ts'
import { unlessRefused } from '#testing/filters/refusals.ts'
import { howToRepeat, valuesUntilMet } from '../properties/seeded.ts'
import { keptFolder, reasonAgainst, run } from './published.ts'

const PACKAGES = [
  'prisma@7.10.1',
  '@prisma/client@7.10.0',
  'pglite-prisma-adapter@0.7.2',
  '@electric-sql/pglite@0.5.17',
]
const EXACT = { areExact: true }

/** Types of the columns in the schema of Prisma. All other columns are texts. */
const TYPES: Readonly<Record<string, string>> = {
  uuid: 'String? @db.Uuid',
  number_key: 'BigInt?',
  whole: 'BigInt?',
  double: 'Float?',
  numeric: 'Decimal? @db.Decimal',
  decimal: 'Decimal? @db.Decimal(20, 4)',
  flag: 'Boolean?',
  instant: 'DateTime? @db.Timestamptz(6)',
  utc: 'DateTime? @db.Timestamp(6)',
  day: 'DateTime? @db.Date',
  words: 'String[]',
  numbers: 'Float[]',
}

const SCHEMA = `
generator client {
  provider            = "prisma-client"
  output              = "./generated"
  importFileExtension = "ts"
}
datasource db {
  provider = "postgresql"
}
model documents {
  at Int?
  id String @id
  ${columnNames('postgresql')
    .map(name => `${name} ${TYPES[name] ?? 'String?'}`)
    .join('\n  ')}
  teams members[]
}
model members {
  document String
  team String
  of documents @relation(fields: [document], references: [id])
  @@id([document, team])
}
`

interface Client {
  readonly documents: { findMany(query: object): Promise<readonly { readonly id: string }[]> }
  $disconnect(): Promise<void>
}

/** A generated client of a database with the rows. Skips the test if a package is not available. */
async function connected(context: TestContext): Promise<Client> {
  const folder = keptFolder('prisma')
  writeFileSync(join(folder, 'schema.prisma'), SCHEMA)
  const options = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--prefer-offline']
  const reason = await reasonAgainst(async () => {
    await run('npm', ['install', '--prefix', folder, ...options, ...PACKAGES])
    // The client does not need the engine that the command line would download.
    const env = { PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' }
    const command = [
      join(folder, 'node_modules/prisma/build/index.js'),
      'generate',
      '--schema',
      'schema.prisma',
    ]
    await run(process.execPath, command, { in: folder, env })
  })
  if (reason !== null) return context.skip(`Prisma is not available: ${reason}`)
  const load = async (path: string) => (await import(pathToFileURL(join(folder, path)).href)) as never
  const require = createRequire(join(folder, 'package.json'))
  const { PGlite: Database } = require('@electric-sql/pglite') as { PGlite: typeof PGlite }
  const { PrismaPGlite } = require('pglite-prisma-adapter') as { PrismaPGlite: new (of: PGlite) => object }
  const { PrismaClient } = (await load('generated/client.ts')) as {
    PrismaClient: new (options: object) => Client
  }
  const database = new Database()
  const collation = `provider = icu, locale = '@colStrength=secondary', deterministic = false`
  await database.exec(`CREATE COLLATION ignore_case (${collation})`)
  for (const statement of tableStatements('postgresql', EXACT)) await database.exec(statement)
  for (const { into, values } of insertedRows('postgresql')) {
    const parameters = values.map((_, index) => `$${index + 1}`).join(', ')
    await database.query(`INSERT INTO ${into} VALUES (${parameters})`, [...values])
  }
  const client = new PrismaClient({ adapter: new PrismaPGlite(database) })
  context.onTestFinished(async () => {
    await client.$disconnect()
    await database.close()
  })
  return client
}

/** The tests of a filter, and its compounds. */
function partsOf(node: FilterNode): FilterNode[] {
  return node.type === 'field' ? [node] : [node, ...node.value.flatMap(partsOf)]
}

test('a random filter selects the same rows with Prisma as in JavaScript', async context => {
  const client = await connected(context)
  const described = filterTable('postgresql', EXACT)
  const met = { some: 0, none: 0, joined: 0, compound: 0 }
  const coverage = { met, least: { some: 40, none: 1, joined: 10, compound: 10 } }
  for (const filter of valuesUntilMet(randomFilters(described), 40_000, coverage)) {
    for (const part of partsOf(filter)) {
      const plan: PlannedFilter = { kind: 'conditional', filter: part }
      const where = unlessRefused(() => toPrisma(plan, described, { dialect: 'postgresql' }))
      if (where === null) continue
      const text = JSON.stringify(part)
      const selects = toPredicate(plan, described)
      const expected = ROWS_STORED.filter(row => selects(asRead(row))).map(({ id }) => id)
      met[expected.length === 0 ? 'none' : 'some'] += 1
      if (text.includes('relations.team')) met.joined += 1
      if (part.type === 'compound') met.compound += 1
      const found = await client.documents.findMany({ where, select: { id: true }, orderBy: { at: 'asc' } })
      expect({ howToRepeat, text, ids: found.map(({ id }) => id) }).toEqual({
        howToRepeat,
        text,
        ids: expected,
      })
    }
  }
})
