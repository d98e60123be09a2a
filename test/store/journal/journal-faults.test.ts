/** A journal on a disk that is full or fails, and checkpoints that are late, fail or lose their thread. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Change } from '#model/change.ts'
import { EmbeddedLedger } from '#store/embedded/embedded-ledger.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { readSegment, SEGMENT_HEAD_BYTES } from '#store/journal/journal-format.ts'
import { JournaledTables } from '#store/journal/journaled-tables.ts'
import { segmentPaths } from '#store/journal/replay.ts'
import { WriteThread } from '#store/large-writes/write-thread.ts'
import { type LargeWrites, ThreadLostError } from '#store/large-writes.ts'
import { cannotWrite } from '#store/lmdb/disk-errors.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { KeptLog } from '../../support/kept-log.ts'
import {
  checkpoint,
  type Disk,
  diskError,
  journalFiles,
  LetCheckpoints,
  on,
  openTables,
  put,
  refuse,
  remove,
  shown,
  shownLater,
  stored,
  writeThread,
  leaveJournal,
} from './journals.ts'
import { ownDirectory } from '../../support/processes/temporary-directories.ts'
import { bytes, commitOf, everyone, text, toyRule } from '../toy-rows.ts'

const thread = writeThread()

const LARGE = 'x'.repeat(400_000)
const full = () => {
  throw diskError('ENOSPC')
}
const failNextWrite = (disk: Disk): void => {
  disk.beforeWrite = () => {
    delete disk.beforeWrite
    throw diskError('EIO')
  }
}

test('a journal on a full disk refuses writes that need space and accepts others, until space is free again', async () => {
  const path = ownDirectory()
  const disk: Disk = {}
  const tables = await openTables(path, thread, on(disk))
  await put(tables, 'small', '1')
  disk.beforeRoom = full
  const message = expect.stringContaining('the change was not made') as string
  const refused = { code: 'STORE_REFUSED', message }
  const large = put(tables, 'large', LARGE)
  const behind = put(tables, 'behind', '2')
  await expect(large).rejects.toMatchObject(refused)
  await behind
  expect(shown(tables)).toEqual({ small: '1', behind: '2' })
  delete disk.beforeRoom
  await put(tables, 'large', LARGE)
  expect(Object.keys(shown(tables))).toEqual(['behind', 'large', 'small'])
  await tables.close()
  expect(await stored(path)).toEqual({ small: '1', behind: '2', large: LARGE })
})

test('while checkpoints are refused, reads and writes continue until the journal is full', async () => {
  const path = ownDirectory()
  const checkpoints = new LetCheckpoints(thread)
  checkpoints.before = refuse
  const tables = await openTables(path, checkpoints)
  const written: string[] = []
  let refused: unknown = null
  while (refused === null) {
    const key = `key ${String(written.length).padStart(2, '0')}`
    try {
      await put(tables, key, LARGE)
      written.push(key)
    } catch (error) {
      refused = error
    }
  }
  expect(refused).toMatchObject({ code: 'STORE_REFUSED', message: 'no checkpoint at present' })
  // The checkpoint began at 1 MiB. After that, the other segment takes 4 MiB.
  expect(written.length * LARGE.length).toBeGreaterThan(4_500_000)
  expect(written.length * LARGE.length).toBeLessThan(8_388_608)
  expect(Object.keys(shown(tables))).toEqual(written)
  await expect(checkpoint(tables)).rejects.toMatchObject({ message: 'no checkpoint at present' })
  await put(tables, 'small', '1')
  const begins = checkpoints.begins()
  checkpoints.before = () => {}
  // The checkpoint is retried without another write.
  await begins
  await checkpoint(tables)
  await put(tables, 'later', LARGE)
  expect(Object.keys(shown(tables))).toEqual([...written, 'later', 'small'])
  await tables.close()
  expect(Object.keys(await stored(path))).toEqual([...written, 'later', 'small'])
})

/** Tables on a disk that is full after `writesLeft` writes. */
class OnFullDisk extends LmdbTables {
  writesLeft = 0

  override write<T>(...write: Parameters<LmdbTables['write']>): Promise<T> {
    if (this.writesLeft === 0) return Promise.reject(cannotWrite(this.directory, diskError('ENOSPC')))
    this.writesLeft -= 1
    return super.write(...write) as Promise<T>
  }
}

/** A directory with a journal of two segments. The stored tables do not contain their records. */
async function leftJournal(): Promise<string> {
  const path = ownDirectory()
  await leaveJournal(path, async tables => {
    await put(tables, 'a', 'old')
    await put(tables, 'b', 'old')
    await expect(checkpoint(tables)).rejects.toMatchObject({ code: 'STORE_REFUSED' })
    await put(tables, 'b', 'new')
    await remove(tables, 'a')
    await put(tables, 'c', 'new')
  })
  return path
}

test.each([
  { writes: 0, level: {} },
  { writes: 1, level: { a: 'old', b: 'old' } },
])('a journal on a disk with space for $writes writes is opened read-only', async ({ writes, level }) => {
  const path = await leftJournal()
  const all = { b: 'new', c: 'new' }
  const open = async (writesLeft: number, log = new KeptLog()) => {
    const disk = new OnFullDisk(path)
    disk.writesLeft = writesLeft
    const tables = await JournaledTables.open(disk, null, { log })
    return { disk, tables, log }
  }
  const { tables: first } = await open(writes)
  expect(shown(first)).toEqual(all)
  const snapshot = first.snapshot()
  expect(text(snapshot.table('one').get(bytes('b'))!)).toBe('new')
  snapshot.release()
  const refused = { code: 'STORE_REFUSED', message: expect.stringContaining('not made') as string }
  await expect(put(first, 'd', '1')).rejects.toMatchObject(refused)
  await expect(checkpoint(first)).rejects.toMatchObject(refused)
  await expect(first.backUp(ownDirectory())).rejects.toMatchObject(refused)
  expect(shown(first)).toEqual(all)
  await first.close()
  expect(await stored(path)).toEqual(level)
  expect(journalFiles(path)).toHaveLength(2)

  const { disk, tables, log } = await open(0)
  expect(shown(tables)).toEqual(all)
  await expect(put(tables, 'd', '1')).rejects.toMatchObject(refused)
  disk.writesLeft = Number.POSITIVE_INFINITY
  // The replay is retried without reopening the tables.
  await log.has(({ level: severity }) => severity === 'info')
  await put(tables, 'd', '1')
  expect(shown(tables)).toEqual({ ...all, d: '1' })
  await tables.close()
  expect(journalFiles(path)).toEqual([])
  expect(await stored(path)).toEqual({ ...all, d: '1' })
})

test('a replay error that is not a disk error prevents the opening, and keeps the journal', async () => {
  const path = await leftJournal()
  class Broken extends LmdbTables {
    override write<T>(): Promise<T> {
      return Promise.reject(new TypeError('on purpose'))
    }
  }
  await expect(JournaledTables.open(new Broken(path), null)).rejects.toThrow('on purpose')
  expect(journalFiles(path)).toHaveLength(2)
  expect(await shownLater(path)).toEqual({ b: 'new', c: 'new' })
})

test('a write with an unknown outcome after a disk error is repeated in order before later writes', async () => {
  const path = ownDirectory()
  const checkpoints = new LetCheckpoints(thread)
  checkpoints.before = refuse
  const disk: Disk = {}
  const tables = await openTables(path, checkpoints, on(disk))
  await put(tables, 'a', '1')
  failNextWrite(disk)
  const unknown = { code: 'STORE_UNAVAILABLE' }
  const first = put(tables, 'a', '2')
  const second = first.catch(() => put(tables, 'b', 'refused during the repair'))
  await expect(first).rejects.toMatchObject(unknown)
  await expect(second).rejects.toMatchObject(unknown)
  const again = async (): Promise<void> =>
    put(tables, 'a', '3').catch(() => new Promise(setImmediate).then(again))
  await again()
  expect(shown(tables)).toEqual({ a: '3' })
  const changes = readSegment(readFileSync(journalFiles(path)[0]!))!
  const after = readSegment(readFileSync(segmentPaths(path)[0]))
  const newest = after ?? changes
  expect(Buffer.from(newest.changes.get('one')!.get('a')!).toString()).toBe('3')
  await tables.close()
  expect(await shownLater(path)).toEqual({ a: '3' })
})

test('a commit with an unknown outcome appears in the feed if it turns out to be written', async () => {
  const disk: Disk = {}
  const tables = await openTables(ownDirectory(), thread, on(disk))
  const view = new TableView(tables, toyRule)
  const ledger = await EmbeddedLedger.open({ tables, view })
  const start = await ledger.head()
  await ledger.commit(commitOf({ put: { alice: 'ar' } }))
  failNextWrite(disk)
  const feed = ledger.feed({ ...start, sequence: 1 })[Symbol.asyncIterator]()
  await expect(ledger.commit(commitOf({ put: { bob: 'ar' } }))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  })
  expect(view.count(everyone)).toBe(2)
  expect((await feed.next()).value?.revision.sequence).toBe(2)
  expect(await ledger.head()).toEqual({ ...start, sequence: 2 })
  await ledger.close()
})

test('the changes of a refused commit never appear in the feed, even if another commit takes its sequence', async () => {
  const disk: Disk = { beforeRoom: full }
  const path = ownDirectory()
  const tables = await openTables(path, thread, on(disk))
  const view = new TableView(tables, toyRule)
  // The thread exits after it has made the commit, so that the ledger finds the commit in the tables.
  const lostAfterwards: LargeWrites = {
    isLarge: ({ put: rows }) => rows.length > 1,
    apply: (...args) => thread.apply(...args),
    checkpoint: (...args) => thread.checkpoint(...args),
    commit: async (...args) => {
      await thread.commit(...args)
      throw new ThreadLostError('lost after the write')
    },
  }
  const ledger = await EmbeddedLedger.open({ tables, view, largeWrites: lostAfterwards })
  const start = await ledger.head()
  const told = (user: string): Change[] => [{ kind: 'user-removed', user }]
  const refused = ledger.commit(commitOf({ put: { alice: 'ar' }, changes: told('refused') }))
  await expect(refused).rejects.toMatchObject({ code: 'STORE_REFUSED' })
  const made = commitOf({ put: { bob: 'ar', carol: 'ar' }, changes: told('made') })
  expect((await ledger.commit(made)).sequence).toBe(1)
  const feed = ledger.feed(start)[Symbol.asyncIterator]()
  expect((await feed.next()).value?.changes).toEqual(told('made'))
  await ledger.close()
})

test('a checkpoint is not repeated if its thread exits after it has made the checkpoint', async () => {
  const path = ownDirectory()
  const lostAfterwards = {
    checkpoint: async (...args: Parameters<WriteThread['checkpoint']>) => {
      await thread.checkpoint(...args)
      throw new ThreadLostError('lost after the write')
    },
  }
  const tables = await openTables(path, lostAfterwards)
  await put(tables, 'a', '1')
  await checkpoint(tables)
  await put(tables, 'a', '2')
  await tables.close()
  expect(await stored(path)).toEqual({ a: '2' })
})

test('a checkpoint that begins while a write waits for space moves the write to the other segment', async () => {
  const path = ownDirectory()
  const checkpoints = new LetCheckpoints(thread)
  const disk: Disk = {}
  const tables = await openTables(path, checkpoints, on(disk))
  const begins = checkpoints.begins()
  await put(tables, 'a', '1')
  // The timer starts the checkpoint half a second after the first record.
  disk.beforeRoom = () => begins
  await put(tables, 'large', LARGE)
  expect(shown(tables)).toEqual({ a: '1', large: LARGE })
  await tables.close()
  expect(await stored(path)).toEqual({ a: '1', large: LARGE })
})

test('a write during a checkpoint is checkpointed afterwards without another write', async () => {
  const path = ownDirectory()
  const checkpoints = new LetCheckpoints(thread)
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
  checkpoints.before = () => mayGoOn
  const tables = await openTables(path, checkpoints, { checkpointBytes: 1 })
  const begins = checkpoints.begins()
  await put(tables, 'a', '1')
  await begins
  await put(tables, 'b', '2')
  const next = checkpoints.begins()
  goOn()
  await next
  await tables.close()
})

test('a checkpoint fails if a segment has wrong content, and the next checkpoint succeeds', async () => {
  const path = ownDirectory()
  const tables = await openTables(path, thread)
  for (const key of ['a', 'b', 'c']) await put(tables, key, '1')
  const file = openSync(segmentPaths(path)[1], 'r+')
  writeSync(file, Buffer.of(0xff), 0, 1, SEGMENT_HEAD_BYTES + 20)
  closeSync(file)
  await expect(checkpoint(tables)).rejects.toMatchObject({
    code: 'STORE_REFUSED',
    message: expect.stringContaining(
      'the journal does not contain all records that were written to it',
    ) as string,
  })
  expect(shown(tables)).toEqual({ a: '1', b: '1', c: '1' })
  // The next checkpoint repairs the segment from memory.
  await checkpoint(tables)
  expect(shown(tables)).toEqual({ a: '1', b: '1', c: '1' })
  await tables.close()
  expect(await stored(path)).toEqual({ a: '1', b: '1', c: '1' })
})

test('a large write waits for the writes before it, and a later small write waits only for the large write', async () => {
  const tables = await openTables(ownDirectory(), thread)
  const order: string[] = []
  const large = (name: string) => tables.elsewhere(async () => void order.push(name))
  const small = (name: string) => tables.write(() => void order.push(name))
  await Promise.all([small('1'), large('2'), small('3'), large('4'), large('5'), small('6')])
  expect(order).toEqual(['1', '2', '3', '4', '5', '6'])
})
