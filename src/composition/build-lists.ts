/**
 * Builds keys and lists of a local copy whose rows have just been loaded. The main thread goes on logging commits in the
 * same tables meanwhile; it takes the tables over when the build has ended.
 */
import { buildKeysAndLists } from '#store/bulk-load/list-build.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'

/** `signal` ends the build early, without an error. */
export async function buildLists(directory: string, signal: AbortSignal): Promise<void> {
  const tables = new LmdbTables(directory)
  try {
    await buildKeysAndLists(tables, new TableView(tables, listRule), listRule, signal)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await tables.close()
  }
}
