/**
 * Builds the keys and secondary indexes of a local replica whose rows were just loaded. In the meantime, the
 * main thread logs commits to the same tables. It takes over the tables when the build is complete.
 * `store/redis/followed-environment.ts` decides when a build starts. A replica of at most
 * `LISTED_AT_ONCE_MAX` rows (`store/open/open-store.ts`) has its lists before the first read, without this
 * build.
 */
import { buildKeysAndLists } from '#store/bulk-load/list-build.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'

/** If `signal` is aborted, the build stops early without an error. */
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
