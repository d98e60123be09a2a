/**
 * Reads an lmdb store that another process has open, or that a dead process has left. It sees committed rows,
 * except rows that are only in the journal. A running process writes such rows to the tables within half a
 * second. After a crash, `replay` writes them.
 */
import { join } from 'node:path'
import type { RecordKind } from '#entities/records.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { listRule, lists } from '#store/keyspace/keyspace.ts'
import { applySegment, findJournal } from '#store/journal/replay.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { pause } from './pause.ts'

/** Applies the journal to the tables. No process may have them open. */
export async function replayJournal(tables: LmdbTables): Promise<void> {
  const { segments } = await findJournal(tables, tables.directory)
  for (const segment of segments) await applySegment(tables, tables.directory, segment)
}

export class StoreLook {
  readonly #tables: LmdbTables
  readonly #view: TableView

  /** `directory` is that of the store. The store must already contain the environment. */
  constructor(directory: string, environmentId: string) {
    this.#tables = new LmdbTables(join(directory, environmentId))
    this.#view = new TableView(this.#tables, listRule)
  }

  /** Returns the number of stored rows, including those that wait for their purge. */
  count(...kinds: readonly RecordKind[]): number {
    return kinds.reduce((sum, kind) => sum + this.#view.count(lists.all(kind)), 0)
  }

  /** Polls until `isSo` returns true. It polls because this process is not notified of commits. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await pause()
  }

  /** Applies the journal to the tables. The process that wrote it must have died. */
  replay(): Promise<void> {
    return replayJournal(this.#tables)
  }

  close(): Promise<void> {
    return this.#tables.close()
  }
}
