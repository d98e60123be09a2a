/**
 * A look into an lmdb store from beside the process that has it open, or after its death: at what its commits left. What is only
 * in the journal is not seen: beside a living process it comes within half a second, after a death `replay` brings it.
 */
import { join } from 'node:path'
import type { RecordKind } from '#model/records.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { listRule, lists } from '#store/keyspace/keyspace.ts'
import { applySegment, findJournal } from '#store/journal/replay.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { pause } from './pause.ts'

/** Brings tables that no process has open level with their journal. */
export async function replayJournal(tables: LmdbTables): Promise<void> {
  const { segments } = await findJournal(tables, tables.directory)
  for (const segment of segments) await applySegment(tables, tables.directory, segment)
}

export class StoreLook {
  readonly #tables: LmdbTables
  readonly #view: TableView

  /** `directory` is that of the store, which must hold the environment already. */
  constructor(directory: string, environmentId: string) {
    this.#tables = new LmdbTables(join(directory, environmentId))
    this.#view = new TableView(this.#tables, listRule)
  }

  /** Stored rows, those that await their purge included. */
  count(...kinds: readonly RecordKind[]): number {
    return kinds.reduce((sum, kind) => sum + this.#view.count(lists.all(kind)), 0)
  }

  /** Resolves when the store has come to be as `isSo` says: nobody tells this process of commits. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await pause()
  }

  /** After the death of the process: brings the tables level with its journal. */
  replay(): Promise<void> {
    return replayJournal(this.#tables)
  }

  close(): Promise<void> {
    return this.#tables.close()
  }
}
