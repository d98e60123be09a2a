/**
 * The process that `crash.test.ts` kills. It opens the store at a URL, makes concurrent commits, and prints
 * each acknowledged sequence, or the error code if it cannot open the store. With many rows, another thread
 * makes the commits. Given a number of bytes, the process checkpoints the journal at that size. Commit n puts
 * rows with the number n, overwrites the counter row of its run, and deletes a row of an earlier commit.
 * Therefore a partial commit is noticed.
 */
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import type { AuthzError } from '#model/errors.ts'
import { EmbeddedLedger } from '#store/embedded/embedded-ledger.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { JournaledTables } from '#store/journal/journaled-tables.ts'
import type { Ledger } from '#store/ledger.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { openStore } from '#store/open/open-store.ts'
import { WriteThread } from '#store/large-writes/write-thread.ts'
import { commitOf, toyRule } from '../../store/toy-rows.ts'

/** Rows per commit, in addition to the counter. */
export const ROWS_PER_COMMIT = 20
const COMMITS_AT_ONCE = 4

// Bypasses the buffer of the stream: when the call returns, the line is written, like a response to a client.
const print = (line: string): number => writeSync(1, `${line}\n`)

/** Opens the ledger as the service does, except for the size of checkpoints. */
async function openLedger(url: string, checkpointBytes: number | null): Promise<Ledger> {
  const largeWrites = new WriteThread(new URL('../../store/toy-large-writes.ts', import.meta.url))
  if (checkpointBytes === null) {
    const store = await openStore(url, toyRule, { largeWrites })
    // The process keeps a reference to the store. Otherwise, the garbage collector could release its lock.
    process.once('exit', () => void store.close())
    return (await store.environment('default')).ledger
  }
  const stored = new LmdbTables(join(url.slice('lmdb:'.length), 'default'))
  const tables = await JournaledTables.open(stored, largeWrites, { checkpointBytes })
  return EmbeddedLedger.open({ tables, view: new TableView(tables, toyRule), largeWrites })
}

async function run(url: string, name: string, rows: number, checkpointBytes: number | null): Promise<void> {
  const ledger = await openLedger(url, checkpointBytes)
  let last = 0
  const write = async (): Promise<never> => {
    for (;;) {
      const number = ++last
      const put: Record<string, string> = {}
      for (let row = 0; row < rows; row++) put[`${name}/${number}/${row}`] = row % 2 ? 'ar' : 'bg'
      const isSecond = number % 2 === 0
      const deletes = isSecond ? [] : [`${name}/${number - 2}/0`]
      const { sequence } = await ledger.commit(commitOf({ put: { ...put, [name]: 'ar' }, delete: deletes }))
      print(`${sequence}`)
    }
  }
  await Promise.all(Array.from({ length: COMMITS_AT_ONCE }, write))
}

if (process.argv[1] === import.meta.filename) {
  const [url, name, rows, bytes] = process.argv.slice(2)
  await run(url!, name!, Number(rows), bytes === undefined ? null : Number(bytes)).catch((error: unknown) =>
    print((error as AuthzError).code),
  )
}
