/** The lmdb adapter against the contracts, on a real directory. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EmbeddedLedger } from '#store/embedded-ledger.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { TableView } from '#store/table-view.ts'
import { describeLedger } from './contract.ts'
import type { LedgerUnderTest, OpenOptions } from './ledger-under-test.ts'
import { describeTables } from './tables-contract.ts'
import { toyRule } from './toy-rows.ts'

const makeDirectory = (): string => mkdtempSync(join(tmpdir(), 'verdict-lmdb-'))

async function openIn(directory: string, options: OpenOptions): Promise<LedgerUnderTest> {
  const tables = new LmdbTables(directory)
  const view = new TableView(tables, toyRule)
  const ledger = await EmbeddedLedger.open({ tables, view, ...options })
  const close = async (): Promise<void> => {
    ledger.close()
    await tables.close()
  }
  return {
    ledger,
    view: async () => view,
    reopen: async () => {
      await close()
      return openIn(directory, options)
    },
    dispose: async () => {
      await close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

describeTables('lmdb', () => {
  const directory = makeDirectory()
  const tables = new LmdbTables(directory)
  const dispose = async (): Promise<void> => {
    await tables.close()
    rmSync(directory, { recursive: true, force: true })
  }
  return { tables, dispose }
})
describeLedger('lmdb', options => openIn(makeDirectory(), options ?? {}))
