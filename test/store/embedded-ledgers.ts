/** Embedded ledgers for the contracts: their tables, and how they are opened, reopened and deleted. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EmbeddedLedger } from '#store/embedded/embedded-ledger.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { JournaledTables } from '#store/journal/journaled-tables.ts'
import type { LargeWrites } from '#store/large-writes.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import type { Tables } from '#store/tables.ts'
import { describeLedger } from './contract.ts'
import type { LedgerUnderTest, OpenOptions } from './ledger-under-test.ts'
import { describeTables } from './tables-contract.ts'
import { toyRule } from './toy-rows.ts'

export interface TablesKind {
  readonly name: string
  /** Makes large commits and checkpoints. */
  readonly largeWrites?: LargeWrites
  openTables(directory: string): Tables | Promise<Tables>
}

export const onLmdb = (name: string, largeWrites?: LargeWrites): TablesKind => ({
  name,
  ...(largeWrites && { largeWrites }),
  openTables: directory => new LmdbTables(directory),
})

/** With `checkpointBytes` 1, each write is followed by a checkpoint. */
export const onJournal = (
  name: string,
  largeWrites: LargeWrites | null,
  checkpointBytes?: number,
): TablesKind => ({
  name,
  ...(largeWrites && { largeWrites }),
  openTables: directory =>
    JournaledTables.open(
      new LmdbTables(directory),
      largeWrites,
      checkpointBytes === undefined ? {} : { checkpointBytes },
    ),
})

export const makeDirectory = (): string => mkdtempSync(join(tmpdir(), 'verdict-ledger-'))

export async function openLedger(
  kind: TablesKind,
  options: OpenOptions = {},
  directory = makeDirectory(),
): Promise<LedgerUnderTest> {
  const { largeWrites = null } = kind
  const tables = await kind.openTables(directory)
  const view = new TableView(tables, toyRule)
  const ledger = await EmbeddedLedger.open({ tables, view, ...options, ...(largeWrites && { largeWrites }) })
  const close = async (): Promise<void> => {
    await ledger.close()
    await tables.close()
  }
  return {
    ledger,
    view: async () => view,
    reopen: async () => {
      await close()
      return openLedger(kind, options, directory)
    },
    dispose: async () => {
      await close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Runs the contracts of tables and of ledgers for this kind. */
export function describeKind(kind: TablesKind): void {
  describeTables(kind.name, async () => {
    const directory = makeDirectory()
    const tables = await kind.openTables(directory)
    const dispose = async (): Promise<void> => {
      await tables.close()
      rmSync(directory, { recursive: true, force: true })
    }
    return { tables, dispose }
  })
  describeLedger(kind.name, options => openLedger(kind, options))
}
