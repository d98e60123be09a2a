/**
 * Builds the table of keys for rows that were loaded without it. It orders as many entries at a time as fit its memory. Its
 * steps are long: run it in a thread that has nothing else to do.
 */
import { writeInOrder } from '#store/embedded/ordered-write.ts'
import type { TableView } from '#store/embedded/table-view.ts'
import { PackedItems } from '#store/keyspace/packed-items.ts'
import { encodeCreated } from '#store/keyspace/row-codec.ts'
import type { Tables } from '#store/tables.ts'

/** Entries ordered at a time: some 100 MB of them. */
const ORDERED_ENTRIES = 1_000_000

/** Safe to repeat. The view must not change until it is done. Throws the signal's reason when the signal is given. */
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
