/** Check of the data file of lmdb before the file is mapped into memory. */
import fs, { cpSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkDataFile } from '#store/lmdb/check-data-file.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { ownDirectory } from '../support/processes/temporary-directories.ts'

const PAGE = 4_096
const { readSync } = fs

const file = (path: string): string => join(path, 'data.mdb')
const sizeOf = (path: string): number => statSync(file(path)).size
const key = (number: number): Buffer => Buffer.from(`key-${number}`)

/** Copies the directory and truncates the data file in the copy. */
function cutAt(path: string, bytes: number): string {
  const copy = ownDirectory()
  cpSync(path, copy, { recursive: true })
  truncateSync(file(copy), bytes)
  return copy
}

/** Writes, overwrites and removes values of all sizes, in part within one write. */
async function writtenOver(path: string, turns: number): Promise<LmdbTables> {
  const tables = new LmdbTables(path)
  const table = tables.table('table')
  for (let turn = 0; turn < turns; turn += 1) {
    await tables.write(() => {
      for (let n = 0; n < 40; n += 1)
        table.put(key((turn * 50 + n * 37) % 900), Buffer.alloc(1 + ((turn * n) % 9_000), n))
      for (let n = 0; n < 25; n += 1) table.remove(key((turn * 77 + n * 13) % 900))
      for (let n = 0; n < 5; n += 1) table.put(key(10_000 + n), Buffer.alloc(50_000))
      for (let n = 0; n < 5; n += 1) table.remove(key(10_000 + n))
    })
    expect(() => checkDataFile(path)).not.toThrow()
  }
  return tables
}

/** Reads all rows. If the file lacks pages, this ends the process. */
async function readWhole(path: string): Promise<number> {
  const tables = new LmdbTables(path)
  const entries = [...tables.table('table').range({ start: Uint8Array.of(0) })]
  await tables.close()
  return entries.length
}

test('a data file in use is accepted after each write and after it is closed', async () => {
  const path = ownDirectory()
  const tables = await writtenOver(path, 60)
  await tables.close()
  expect(() => checkDataFile(path)).not.toThrow()
})

test('a data file that another thread extends during the check is accepted', async () => {
  const path = ownDirectory()
  const tables = new LmdbTables(path)
  const table = tables.table('table')
  await tables.write(() => table.put(key(0), Buffer.alloc(100)))
  const before = ownDirectory()
  cpSync(path, before, { recursive: true })
  await tables.write(() => {
    for (let n = 1; n < 200; n += 1) table.put(key(n), Buffer.alloc(3_000, n))
  })
  await tables.close()
  expect(sizeOf(path)).toBeGreaterThan(sizeOf(before))
  const written = readFileSync(file(path))
  let reads = 0
  const read = vi.spyOn(fs, 'readSync').mockImplementation((...args: unknown[]) => {
    reads += 1
    // Like the other thread, this overwrites the file in place.
    if (reads === 1) writeFileSync(file(before), written, { flag: 'r+' })
    return Reflect.apply(readSync, fs, args)
  })
  onTestFinished(() => {
    read.mockRestore()
    syncBuiltinESMExports()
  })
  syncBuiltinESMExports()
  expect(() => checkDataFile(before)).not.toThrow()
  expect(reads).toBeGreaterThan(1)
})

test('a missing or empty data file is accepted', () => {
  const path = ownDirectory()
  expect(() => checkDataFile(path)).not.toThrow()
  expect(() => checkDataFile(join(path, 'nowhere'))).not.toThrow()
})

test('a truncated data file is refused with its path and advice, wherever it ends', async () => {
  const path = ownDirectory()
  const tables = new LmdbTables(path)
  await tables.write(() => {
    for (let n = 0; n < 2_000; n += 1) tables.table('table').put(key(n), Buffer.alloc(700, n))
  })
  await tables.close()
  const size = sizeOf(path)
  const sizes = [
    size - 1,
    size - PAGE,
    size / 2,
    size / 2 + 7,
    3 * PAGE,
    2 * PAGE,
    2 * PAGE - 1,
    PAGE,
    100,
    1,
  ]
  for (const bytes of sizes) {
    const cut = cutAt(path, Math.floor(bytes))
    const refused = expect.objectContaining({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining(file(cut)),
    })
    expect(() => new LmdbTables(cut), `${bytes} bytes`).toThrow(refused)
  }
  expect(() => checkDataFile(cutAt(path, size / 2))).toThrow(
    /is truncated: .*; restore a backup of its directory/,
  )
})

test('a data file can lack only those of its last pages that are free', async () => {
  const path = ownDirectory()
  const tables = new LmdbTables(path)
  const table = tables.table('table')
  await tables.write(() => {
    for (let n = 0; n < 50; n += 1) table.put(key(n), Buffer.alloc(100, n))
  })
  await tables.write(() => {
    for (let n = 100; n < 1_500; n += 1) table.put(key(n), Buffer.alloc(3_000, n))
  })
  for (let n = 1_499; n >= 100; n -= 50) {
    await tables.write(() => {
      for (let each = n; each > n - 50; each -= 1) table.remove(key(each))
    })
  }
  await tables.close()
  const pages = sizeOf(path) / PAGE
  const shrinking = cutAt(path, pages * PAGE)
  const isTaken = (count: number): boolean => {
    truncateSync(file(shrinking), count * PAGE)
    try {
      checkDataFile(shrinking)
      return true
    } catch {
      return false
    }
  }
  let fewest = pages
  while (isTaken(fewest - 1)) fewest -= 1
  expect(pages - fewest).toBeGreaterThan(20)
  expect(await readWhole(cutAt(path, fewest * PAGE))).toBe(50)
  for (let count = fewest - 2; count > 1; count -= 1) expect([count, isTaken(count)]).toEqual([count, false])
})
