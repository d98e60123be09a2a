/** Replay of the journal that a process left when it died. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { expect, test } from 'vitest'
import { EmbeddedLedger } from '#store/embedded/embedded-ledger.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { readSegment } from '#store/journal/journal-format.ts'
import { JournaledTables } from '#store/journal/journaled-tables.ts'
import { segmentPaths } from '#store/journal/replay.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { openStore } from '#store/open/open-store.ts'
import {
  checkpoint,
  journalFiles,
  LetCheckpoints,
  openTables,
  put,
  refuse,
  remove,
  shown,
  shownLater,
  writeThread,
  leaveJournal,
  placesIn,
} from './journals.ts'
import { ownDirectory } from '../../support/processes/temporary-directories.ts'
import { bytes, commitOf, everyone, scannedKeys, text, toyRule } from '../toy-rows.ts'

const thread = writeThread()

/** Opens tables. After `die`, checkpoints are refused, so that the journal is left as after a crash. */
async function openUntilRefused(path: string) {
  const checkpoints = new LetCheckpoints(thread)
  return { tables: await openTables(path, checkpoints), die: () => (checkpoints.before = refuse) }
}

/** A directory with a journal of three records. The stored tables do not contain these records. */
async function threeRecords(): Promise<{ readonly path: string; readonly segment: string }> {
  const path = ownDirectory()
  await leaveJournal(path, async tables => {
    for (const key of ['a', 'b', 'c']) await put(tables, key, key.repeat(20))
  })
  return { path, segment: segmentPaths(path)[1] }
}

const keysIn = (segment: Buffer): string[] => [...(readSegment(segment)?.changes.get('one')?.keys() ?? [])]

test('checkpoints fill the pages of a table to which keys are added only at its end', async () => {
  const path = ownDirectory()
  const tables = await openTables(path)
  // Five of these entries fill a page of lmdb.
  const [perCheckpoint, value] = [100, bytes('v'.repeat(780))]
  for (let from = 1_000; from < 2_000; from += perCheckpoint) {
    await tables.write(() => {
      for (let key = from; key < from + perCheckpoint; key += 1)
        tables.table('one').put(bytes(`${key}`), value)
      // Like a log of limited length, the table loses its oldest entries.
      if (from > 1_500) tables.table('one').remove(bytes(`${from - 500}`))
    })
    await checkpoint(tables)
  }
  await tables.close()
  const root = open({ path, noSubdir: false, readOnly: true })
  const table = root.openDB({ name: 'one', encoding: 'binary', keyEncoding: 'binary' })
  const { treeLeafPageCount } = table.getStats() as { readonly treeLeafPageCount: number }
  await root.close()
  expect(treeLeafPageCount).toBe(1_000 / 5)
})

test('a segment that is truncated within its last record contains all earlier records', async () => {
  const { segment } = await threeRecords()
  const whole = readFileSync(segment)
  const [, , third, end] = placesIn(whole)
  for (let cut = third!; cut < end!; cut += 1) {
    expect(keysIn(whole.subarray(0, cut)), `cut at ${cut}`).toEqual(['a', 'b'])
    // The rest of the segment is filled with zeros.
    const zeroed = Buffer.from(whole).fill(0, cut)
    expect(keysIn(zeroed), `zeros from ${cut}`).toEqual(['a', 'b'])
  }
  expect(keysIn(whole)).toEqual(['a', 'b', 'c'])
})

test('a replay of a segment ends before a record in which a single bit has changed', async () => {
  const { segment } = await threeRecords()
  const whole = readFileSync(segment)
  const [, second, third] = placesIn(whole)
  for (let at = second! * 8; at < third! * 8; at += 1) {
    const flipped = Buffer.from(whole)
    flipped[at >> 3]! ^= 1 << (at & 7)
    expect(keysIn(flipped), `bit ${at}`).toEqual(['a'])
  }
})

test('files that are not valid segments are ignored', async () => {
  const { path } = await threeRecords()
  for (const content of [Buffer.alloc(0), Buffer.alloc(100_000), Buffer.from('VJNL')]) {
    const copy = ownDirectory()
    cpSync(path, copy, { recursive: true })
    writeFileSync(segmentPaths(copy)[1], content)
    expect(await shownLater(copy)).toEqual({})
  }
})

test('old records in a recycled segment are not replayed, even if they begin where the new records end', async () => {
  const path = ownDirectory()
  const { tables, die } = await openUntilRefused(path)
  // The third generation recycles the file of the first generation. All their records have the same length.
  for (const key of ['a', 'b', 'c']) await put(tables, key, 'first')
  await checkpoint(tables)
  for (const key of ['a', 'b', 'c']) await remove(tables, key)
  await checkpoint(tables)
  die()
  await put(tables, 'd', 'third')
  await tables.close()
  const segment = readFileSync(segmentPaths(path)[1])
  expect(segment.includes('first')).toBe(true)
  expect(await shownLater(path)).toEqual({ d: 'third' })
})

test('the journal of other tables is ignored, even if its generation is the next one', async () => {
  const { path, segment } = await threeRecords()
  const { segment: others } = await threeRecords()
  cpSync(others, segment)
  expect(await shownLater(path)).toEqual({})
  expect(journalFiles(path)).toEqual([])
})

test('the journal of an earlier run is ignored after a later run has written', async () => {
  const { path } = await threeRecords()
  const early = ownDirectory()
  cpSync(path, early, { recursive: true })
  const tables = await openTables(path)
  await remove(tables, 'a')
  await tables.close()
  for (const file of journalFiles(early)) cpSync(file, join(path, file.slice(early.length + 1)))
  expect(Object.keys(await shownLater(path))).toEqual(['b', 'c'])
})

test('tables older than the journal are opened if the journal has all later records, and refused otherwise', async () => {
  const path = ownDirectory()
  const { tables, die } = await openUntilRefused(path)
  /** Copies of the stored tables at each generation, without writes in progress. */
  const copies: string[] = []
  for (const generation of ['1', '2', '3']) {
    await put(tables, generation, 'x')
    await checkpoint(tables)
    const copy = ownDirectory()
    cpSync(join(path, 'data.mdb'), join(copy, 'data.mdb'))
    copies.push(copy)
  }
  die()
  await put(tables, '4', 'x')
  await tables.close()
  // The journal has the third generation, whose records are all checkpointed, and the fourth.
  for (const copy of copies)
    for (const file of journalFiles(path)) cpSync(file, join(copy, file.slice(path.length + 1)))
  const [first, second, third] = copies
  await expect(shownLater(first!)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  expect(Object.keys(await shownLater(second!))).toEqual(['1', '2', '3', '4'])
  expect(Object.keys(await shownLater(third!))).toEqual(['1', '2', '3', '4'])
})

test('replaying a journal twice changes nothing', async () => {
  const { path } = await threeRecords()
  const left = new Map(journalFiles(path).map(file => [file, readFileSync(file)]))
  const tables = await openTables(path)
  const before = shown(tables)
  await tables.close()
  // Restores the files, as if the process had died before it deleted them.
  for (const [file, content] of left) writeFileSync(file, content)
  expect(await shownLater(path)).toEqual(before)
})

test('a store of an earlier release is opened and converted to the current format', async () => {
  const path = ownDirectory()
  const own = join(path, 'default')
  const early = new LmdbTables(own)
  const ledger = await EmbeddedLedger.open({ tables: early, view: new TableView(early, toyRule) })
  await ledger.commit(commitOf({ put: { alice: 'ar' } }))
  const head = await ledger.head()
  await early.write(() => early.table('meta').put(bytes('format'), bytes('2')))
  await ledger.close()
  await early.close()
  const store = await openStore(`lmdb:${path}`, toyRule)
  const { ledger: later, view } = await store.environment('default')
  expect(await later.head()).toEqual(head)
  await later.commit(commitOf({ put: { bob: 'ar' } }))
  expect(scannedKeys(view, everyone)).toEqual(['alice', 'bob'])
  await store.close()
  const tables = new LmdbTables(own)
  expect(text(tables.table('meta').get(bytes('format'))!)).toBe('3')
  await tables.close()
})

test('a backup contains all acknowledged writes before it, and writes continue during the copy', async () => {
  const [path, copy] = [ownDirectory(), ownDirectory()]
  const { promise: mayCopy, resolve: goOn } = Promise.withResolvers<void>()
  class SlowCopies extends LmdbTables {
    override async backUp(to: string): Promise<void> {
      await mayCopy
      await super.backUp(to)
    }
  }
  const tables = await JournaledTables.open(new SlowCopies(path), thread)
  const keys = Array.from({ length: 100 }, (_, n) => `key ${n}`)
  for (const key of keys) await put(tables, key, 'x')
  const backup = tables.backUp(copy)
  await put(tables, 'meanwhile', 'x')
  goOn()
  await backup
  await tables.close()
  rmSync(join(copy, 'lock.mdb'), { force: true })
  expect(readdirSync(copy)).toEqual(['data.mdb'])
  expect(Object.keys(await shownLater(copy))).toEqual(expect.arrayContaining(keys))
})
