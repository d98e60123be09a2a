/** Damages rows in the tables of an environment, as a failing disk would. */
import { decodeRow, encodeRow } from '#store/keyspace/row-codec.ts'
import type { Row } from '#store/ledger.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'

/**
 * Replaces the rows for which `damaged` returns a row. `emptyJournal` must checkpoint the journal into the
 * tables, because a start would otherwise repair the rows from the journal.
 */
export async function damageRows(
  directory: string,
  emptyJournal: (tables: LmdbTables) => Promise<void>,
  damaged: (row: Row) => Row | null,
): Promise<void> {
  const tables = new LmdbTables(directory)
  await emptyJournal(tables)
  const rows = tables.table('rows')
  await tables.write(() => {
    for (const { key: created, value } of rows.range({ start: Uint8Array.of(0) })) {
      const row = damaged(decodeRow(0, value))
      if (row !== null) rows.put(created, encodeRow(row))
    }
  })
  await tables.close()
}
