/**
 * Builds keys and lists of a local copy whose rows have just been loaded. The main thread goes on logging commits in the same
 * tables meanwhile; it takes them over when this thread has ended. `stop` ends it before its time.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '#model/assert.ts'
import { buildKeysAndLists } from '#store/bulk-load/list-build.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'

assert(parentPort, 'this thread is started by the main thread')
const { directory } = workerData as { readonly directory: string }
const stop = new AbortController()
parentPort.once('message', () => stop.abort())

const tables = new LmdbTables(directory)
try {
  await buildKeysAndLists(tables, new TableView(tables, listRule), listRule, stop.signal)
} catch (error) {
  if (!stop.signal.aborted) throw error
} finally {
  await tables.close()
  parentPort.close()
}
