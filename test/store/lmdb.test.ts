/** The lmdb adapter against the contracts, on a real directory. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
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

// lmdb-js would end this process.
test.each([
  ['is cut off in its first head', (file: Buffer) => file.subarray(0, 40)],
  ['is cut off behind its first page', (file: Buffer) => file.subarray(0, 4_096)],
  ['is all zeros', (file: Buffer) => Buffer.alloc(file.length)],
  [
    'has another second head',
    (file: Buffer) => Buffer.concat([file.subarray(0, 4_096), Buffer.alloc(8_192, 1)]),
  ],
])('a file that %s is refused by name', async (_, damaged) => {
  const directory = makeDirectory()
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  await new LmdbTables(directory).close()
  const file = join(directory, 'data.mdb')
  writeFileSync(file, damaged(readFileSync(file)))
  expect(() => new LmdbTables(directory)).toThrow(
    expect.objectContaining({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining(file) as string }),
  )
})

test('an empty file, as a process leaves it that ended right after it made it, is begun anew', async () => {
  const directory = makeDirectory()
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, 'data.mdb'), '')
  const tables = new LmdbTables(directory)
  await tables.write(() => tables.table('rows').put(Uint8Array.of(1), Uint8Array.of(2)))
  expect([...tables.table('rows').get(Uint8Array.of(1))!]).toEqual([2])
  await tables.close()
})
