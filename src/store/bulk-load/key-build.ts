/**
 * Builds the table of keys for rows that were loaded without it. It sorts the entries in batches that fit
 * into memory. Each step blocks its thread for long: run it in a dedicated thread.
 */
import { writeInOrder } from '#store/embedded/ordered-write.ts'
import type { TableView } from '#store/embedded/table-view.ts'
import { PackedItems } from '#store/keyspace/packed-items.ts'
import { encodeCreated } from '#store/keyspace/row-codec.ts'
import type { Tables } from '#store/tables.ts'

/** Number of entries that are sorted at a time. They take about 100 MB. */
const ORDERED_ENTRIES = 1_000_000

/**
 * Builds the table of keys. Idempotent. The view must not change until the build is complete. Throws the
 * reason of the signal if it is aborted.
 */
export async function buildKeys(tables: Tables, view: TableView, signal: AbortSignal): Promise<void> {
  let items = new PackedItems()
  const flush = async (): Promise<void> => {
    const ordered = items
    items = new PackedItems()
    const keys = tables.table('keys')
    const put = (index: number) => keys.put(ordered.key(index), encodeCreated(ordered.rank(index)))
    await writeInOrder(tables, ordered.byKey(), put, signal)
  }
  for (const rows of view.batches()) {
    for (const { key, created } of rows) {
      items.add({ bytes: key, keyStart: 0, keyEnd: key.length, rank: created })
    }
    if (items.count >= ORDERED_ENTRIES) await flush()
  }
  await flush()
}
