/** Journaled tables against the contracts of tables and ledgers, with checkpoints at their usual size and after every write. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { EmbeddedLedger } from '#store/embedded/embedded-ledger.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { JournaledTables } from '#store/journal/journaled-tables.ts'
import { WriteThread } from '#store/large-writes/write-thread.ts'
import type { LargeWrites } from '#store/large-writes.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { describeLedger } from './contract.ts'
import type { LedgerUnderTest, OpenOptions } from './ledger-under-test.ts'
import { describeTables } from './tables-contract.ts'
import { toyRule } from './toy-rows.ts'

const makeDirectory = (): string => mkdtempSync(join(tmpdir(), 'verdict-journal-'))
const thread = new WriteThread(new URL('./toy-large-writes.ts', import.meta.url))
afterAll(() => thread.close())

interface Kind {
  readonly name: string
  readonly largeWrites: LargeWrites | null
  readonly checkpointBytes?: number
}
const KINDS: readonly Kind[] = [
  { name: 'journal, checkpoints by another thread', largeWrites: thread },
  { name: 'journal, a checkpoint after every write', largeWrites: thread, checkpointBytes: 1 },
  {
    name: 'journal, a checkpoint by its own thread after every write',
    largeWrites: null,
    checkpointBytes: 1,
  },
]

const sizes = (checkpointBytes?: number) => (checkpointBytes === undefined ? {} : { checkpointBytes })

async function openIn(directory: string, kind: Kind, options: OpenOptions = {}): Promise<LedgerUnderTest> {
  const { largeWrites, checkpointBytes } = kind
  const tables = await JournaledTables.open(new LmdbTables(directory), largeWrites, sizes(checkpointBytes))
  const view = new TableView(tables, toyRule)
  const ledger = await EmbeddedLedger.open({ tables, view, ...options, largeWrites })
  const close = async (): Promise<void> => {
    await ledger.close()
    await tables.close()
  }
  return {
    ledger,
    view: async () => view,
    reopen: async () => {
      await close()
      return openIn(directory, kind, options)
    },
    dispose: async () => {
      await close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

for (const kind of KINDS) {
  describeTables(kind.name, async () => {
    const directory = makeDirectory()
    const tables = await JournaledTables.open(
      new LmdbTables(directory),
      kind.largeWrites,
      sizes(kind.checkpointBytes),
    )
    const dispose = async (): Promise<void> => {
      await tables.close()
      rmSync(directory, { recursive: true, force: true })
    }
    return { tables, dispose }
  })
  describeLedger(kind.name, options => openIn(makeDirectory(), kind, options))
}
