/** What the next opening makes of the journal that a dead process left: all whole records that go on from the stored tables. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { afterAll, expect, test } from 'vitest'
import { EmbeddedLedger } from '#store/embedded/embedded-ledger.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { readSegment, RECORD_HEAD_BYTES, SEGMENT_HEAD_BYTES } from '#store/journal/journal-format.ts'
import { segmentPaths } from '#store/journal/replay.ts'
import { WriteThread } from '#store/large-writes/write-thread.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { openStore } from '#store/open-store.ts'
import {
  checkpoint,
  directory,
  journalFiles,
  LetCheckpoints,
  openTables,
  put,
  refuse,
  remove,
  shown,
  shownLater,
  stored,
} from './journals.ts'
import { bytes, commitOf, everyone, scannedKeys, text, toyRule } from './toy-rows.ts'

const thread = new WriteThread(new URL('./toy-large-writes.ts', import.meta.url))
afterAll(() => thread.close())

/** Tables whose checkpoints are made until they are refused: then a close leaves the journal, as a death does. */
async function openUntilRefused(path: string) {
  const checkpoints = new LetCheckpoints(thread)
  return { tables: await openTables(path, checkpoints), die: () => (checkpoints.before = refuse) }
}

/** A directory whose stored tables have nothing of the three records in its journal. */
async function threeRecords(): Promise<{ readonly path: string; readonly segment: string }> {
  const path = directory()
  const { tables, die } = await openUntilRefused(path)
  die()
  for (const key of ['a', 'b', 'c']) await put(tables, key, key.repeat(20))
  await tables.close()
  return { path, segment: segmentPaths(path)[1] }
}

/** Where each record of a segment begins, and where the last one ends. */
function places(segment: Buffer): number[] {
  const found = [SEGMENT_HEAD_BYTES]
  while (found.at(-1)! < readSegment(segment)!.endBytes) {
    found.push(found.at(-1)! + RECORD_HEAD_BYTES + segment.readUInt32BE(found.at(-1)!))
  }
  return found
}

const keysIn = (segment: Buffer): string[] => [...(readSegment(segment)?.changes.get('one')?.keys() ?? [])]

test('what only the journal has is there after the next opening, in the stored tables, and the journal is gone', async () => {
  const { path } = await threeRecords()
  expect(await stored(path)).toEqual({})
  const tables = await openTables(path)
  expect(shown(tables)).toEqual({ a: 'a'.repeat(20), b: 'b'.repeat(20), c: 'c'.repeat(20) })
  expect(journalFiles(path)).toEqual([])
  await tables.close()
  expect(Object.keys(await stored(path))).toEqual(['a', 'b', 'c'])
})

test('of two segments both are replayed, the older one first', async () => {
  const path = directory()
  const { tables, die } = await openUntilRefused(path)
  await put(tables, 'level', '1')
  await checkpoint(tables)
  die()
  await put(tables, 'a', 'old')
  await put(tables, 'b', 'old')
  await expect(checkpoint(tables)).rejects.toMatchObject({ code: 'STORE_REFUSED' })
  await put(tables, 'a', 'new')
  await remove(tables, 'b')
  await tables.close()
  expect(journalFiles(path)).toHaveLength(2)
  expect(await stored(path)).toEqual({ level: '1' })
  expect(await shownLater(path)).toEqual({ level: '1', a: 'new' })
})

test('checkpoints fill up the pages of a table that grows at its end, as a log does', async () => {
  const path = directory()
  const tables = await openTables(path)
  // Five of these entries have room in a page of lmdb's.
  const [perCheckpoint, value] = [100, bytes('v'.repeat(780))]
  for (let from = 1_000; from < 2_000; from += perCheckpoint) {
    await tables.write(() => {
      for (let key = from; key < from + perCheckpoint; key += 1)
        tables.table('one').put(bytes(`${key}`), value)
      // What a log of a certain length drops.
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

test('a segment that ends anywhere in its last record gives all before it', async () => {
  const { segment } = await threeRecords()
  const whole = readFileSync(segment)
  const [, , third, end] = places(whole)
  for (let cut = third!; cut < end!; cut += 1) {
    expect(keysIn(whole.subarray(0, cut)), `cut at ${cut}`).toEqual(['a', 'b'])
    // The room behind it is zeros.
    const zeroed = Buffer.from(whole).fill(0, cut)
    expect(keysIn(zeroed), `zeros from ${cut}`).toEqual(['a', 'b'])
  }
  expect(keysIn(whole)).toEqual(['a', 'b', 'c'])
})

test('a record with a bit that has changed ends the segment, wherever the bit is', async () => {
  const { segment } = await threeRecords()
  const whole = readFileSync(segment)
  const [, second, third] = places(whole)
  for (let at = second! * 8; at < third! * 8; at += 1) {
    const flipped = Buffer.from(whole)
    flipped[at >> 3]! ^= 1 << (at & 7)
    expect(keysIn(flipped), `bit ${at}`).toEqual(['a'])
  }
})

test('a store goes on from the records before a torn one, which was answered to nobody', async () => {
  const { path, segment } = await threeRecords()
  const whole = readFileSync(segment)
  writeFileSync(segment, whole.subarray(0, places(whole)[3]! - 1))
  expect(Object.keys(await shownLater(path))).toEqual(['a', 'b'])
})

test('files that are no segments are no journal', async () => {
  const { path } = await threeRecords()
  for (const content of [Buffer.alloc(0), Buffer.alloc(100_000), Buffer.from('VJNL')]) {
    const copy = directory()
    cpSync(path, copy, { recursive: true })
    writeFileSync(segmentPaths(copy)[1], content)
    expect(await shownLater(copy)).toEqual({})
  }
})

test('of a segment that is used again only the new records are replayed, though the old ones go on where they end', async () => {
  const path = directory()
  const { tables, die } = await openUntilRefused(path)
  // The third generation uses the file of the first one. All records are of one length.
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

test('the journal of other tables changes nothing, however well its place in their history fits', async () => {
  const { path, segment } = await threeRecords()
  const { segment: others } = await threeRecords()
  cpSync(others, segment)
  expect(await shownLater(path)).toEqual({})
  expect(journalFiles(path)).toEqual([])
})

test('the journal that an earlier run left changes nothing once a later run has written', async () => {
  const { path } = await threeRecords()
  const early = directory()
  cpSync(path, early, { recursive: true })
  const tables = await openTables(path)
  await remove(tables, 'a')
  await tables.close()
  for (const file of journalFiles(early)) cpSync(file, join(path, file.slice(early.length + 1)))
  expect(Object.keys(await shownLater(path))).toEqual(['b', 'c'])
})

test('a store whose tables are older than its journal gets what follows them, and stays closed if that is not all', async () => {
  const path = directory()
  const { tables, die } = await openUntilRefused(path)
  /** Copies of the stored tables as they were at each generation, with nothing under way. */
  const copies: string[] = []
  for (const generation of ['1', '2', '3']) {
    await put(tables, generation, 'x')
    await checkpoint(tables)
    const copy = directory()
    cpSync(join(path, 'data.mdb'), join(copy, 'data.mdb'))
    copies.push(copy)
  }
  die()
  await put(tables, '4', 'x')
  await tables.close()
  // The journal has the third generation, of which nothing is needed any more, and the fourth one.
  for (const copy of copies)
    for (const file of journalFiles(path)) cpSync(file, join(copy, file.slice(path.length + 1)))
  const [first, second, third] = copies
  await expect(shownLater(first!)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  expect(Object.keys(await shownLater(second!))).toEqual(['1', '2', '3', '4'])
  expect(Object.keys(await shownLater(third!))).toEqual(['1', '2', '3', '4'])
})

test('what was replayed once is replayed again without harm', async () => {
  const { path } = await threeRecords()
  const left = new Map(journalFiles(path).map(file => [file, readFileSync(file)]))
  const tables = await openTables(path)
  const before = shown(tables)
  await tables.close()
  // As if the process had died before it removed them.
  for (const [file, content] of left) writeFileSync(file, content)
  expect(await shownLater(path)).toEqual(before)
})

test('closing leaves no file of the journal', async () => {
  const path = directory()
  const tables = await openTables(path)
  await put(tables, 'a', '1')
  expect(journalFiles(path)).toHaveLength(1)
  await tables.close()
  expect(readdirSync(path).toSorted()).toEqual(['data.mdb', 'lock.mdb'])
  expect(await stored(path)).toEqual({ a: '1' })
})

test('a store that an earlier release wrote is opened, and has the present form from then on', async () => {
  const path = directory()
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

test('a backup has all that was acknowledged before it began', async () => {
  const [path, copy] = [directory(), directory()]
  const tables = await openTables(path, thread)
  for (let n = 0; n < 100; n += 1) await put(tables, `key ${n}`, 'x')
  const backup = tables.backUp(copy)
  await put(tables, 'meanwhile', 'x')
  await backup
  rmSync(join(copy, 'lock.mdb'), { force: true })
  expect(readdirSync(copy)).toEqual(['data.mdb'])
  expect(Object.keys(await shownLater(copy))).toEqual(
    expect.arrayContaining(Array.from({ length: 100 }, (_, n) => `key ${n}`)),
  )
})
