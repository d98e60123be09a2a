/**
 * Lists the documents that a user can read: the service makes a filter, and SQLite applies it.
 *
 *     VERDICT=http://localhost:3000 KEY=… node list-documents.mjs ann
 *
 * The packages `kysely` and `verdict-authz` are installed next to this file. The service stores which folder a
 * document is in (`folder:plans parent document:budget`), as the table does.
 */
import { DatabaseSync } from 'node:sqlite'
import { Kysely, SqliteDialect } from 'kysely'
import { planRequest, rowCheck, table } from 'verdict-authz/filter'
import { toKysely } from 'verdict-authz/filter/kysely'

const { VERDICT, KEY } = process.env
const [user = 'ann'] = process.argv.slice(2)

// 1. Describe the table once: which columns a check of a row would send.
const documents = table({
  type: 'document',
  key: { column: 'id' },
  tenant: { column: 'company' },
  attributes: {
    owner: { column: 'owner', type: 'string' },
    published: { column: 'published_at', type: 'time', as: 'text' },
  },
  relations: { parent: { column: 'folder' } },
})
const question = { user, action: 'read' }

// 2. Ask for the filter.
const plan = await ask('/allowed/plan', planRequest(documents, question))

// 3. Let the database filter, sort, count and page.
const db = new Kysely({ dialect: new SqliteDialect({ database: connection(exampleDatabase()) }) })
const allowed = db
  .selectFrom('documents')
  .where(toKysely(plan, documents, { dialect: 'sqlite', alias: 'documents' }))
const { count } = await allowed.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow()
process.stdout.write(`${user} can read ${count} documents\n`)
let last = null
for (;;) {
  // The next page begins after the last row of the previous one.
  const after = last === null ? allowed : allowed.where('id', '>', last)
  const page = await after.selectAll().orderBy('id').limit(2).execute()
  if (page.length === 0) break
  process.stdout.write(`${page.map(row => row.id).join(', ')}\n`)
  last = page.at(-1).id
  // 4. Before the user changes a row, the application checks this row.
  const { allow } = await ask('/allowed', rowCheck(documents, question, page[0]))
  if (!allow) throw new Error(`${page[0].id}: access changed`)
}
await db.destroy()

async function ask(path, body) {
  const response = await fetch(VERDICT + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.ok) return response.json()
  throw new Error(`${path}: ${response.status} ${await response.text()}`)
}

function exampleDatabase() {
  const database = new DatabaseSync(':memory:')
  database.exec(`
    CREATE TABLE documents (id TEXT PRIMARY KEY, company TEXT NOT NULL, owner TEXT, published_at TEXT, folder TEXT);
    INSERT INTO documents VALUES
      ('roadmap', 'acme', 'ann', '2026-03-01T09:00:00.000Z', 'plans'),
      ('budget', 'acme', 'bob', '2026-02-01T09:00:00.000Z', 'plans'),
      ('salaries', 'acme', 'bob', NULL, 'private'),
      ('offer', 'globex', 'ann', '2026-01-01T09:00:00.000Z', 'plans');
  `)
  return database
}

/** The part of the interface of better-sqlite3 that Kysely uses. */
function connection(database) {
  return {
    close: () => database.close(),
    prepare(text) {
      const statement = database.prepare(text)
      return {
        reader: /^\s*(select|with)/i.test(text),
        all: values => statement.all(...values),
        run: values => statement.run(...values),
        iterate: values => statement.iterate(...values),
      }
    },
  }
}
