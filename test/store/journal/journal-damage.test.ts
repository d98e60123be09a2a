/** A damaged record closes the tables if it was acknowledged. Otherwise, it is skipped and reported. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { encodeSegmentHead, RECORD_HEAD_BYTES, SEGMENT_HEAD_BYTES } from '#store/journal/journal-format.ts'
import { JournaledTables } from '#store/journal/journaled-tables.ts'
import { levelOf, segmentPaths } from '#store/journal/replay.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { openStore } from '#store/open/open-store.ts'
import { KeptLog } from '../../support/kept-log.ts'
import {
  checkpoint,
  type Disk,
  LetCheckpoints,
  on,
  openTables,
  put,
  refuse,
  shown,
  shownLater,
  writeThread,
  leaveJournal,
  placesIn,
} from './journals.ts'
import { ownDirectory } from '../../support/processes/temporary-directories.ts'
import { commitOf, everyone, scannedKeys, toyRule } from '../toy-rows.ts'

const thread = writeThread()

const damaged = (path: string) => ({
  code: 'STORE_DAMAGED',
  message: expect.stringMatching(
    new RegExp(
      `^acknowledged changes in ${path} are lost: segment \\d of its journal is damaged or missing from byte \\d+\\..+ delete journal-0 and journal-1`,
    ),
  ) as string,
})

/** A directory with two segments of three records each. The stored tables contain no record. */
async function twoSegments(): Promise<{
  readonly path: string
  readonly older: string
  readonly newer: string
}> {
  const path = ownDirectory()
  await leaveJournal(path, async tables => {
    for (const key of ['a', 'b', 'c']) await put(tables, key, key.repeat(20))
    await expect(checkpoint(tables)).rejects.toMatchObject({ code: 'STORE_REFUSED' })
    for (const key of ['d', 'e', 'f']) await put(tables, key, key.repeat(20))
  })
  const [newer, older] = segmentPaths(path)
  return { path, older, newer }
}

/** Flips the lowest bit of a byte of the file. */
function flip(file: string, at: number): void {
  const bytes = readFileSync(file)
  bytes[at]! ^= 1
  writeFileSync(file, bytes)
}

/** Opens a copy of the directory, and returns the keys in it. */
async function shownIn(path: string): Promise<string[]> {
  const copy = ownDirectory()
  cpSync(path, copy, { recursive: true })
  return Object.keys(
    await shownLater(copy).catch((error: Error) => {
      error.message = error.message.replaceAll(copy, path)
      throw error
    }),
  )
}

test('any damaged record of the older segment closes the tables and leaves all files unchanged', async () => {
  const { path, older, newer } = await twoSegments()
  const whole = readFileSync(older)
  for (const [index, place] of placesIn(whole).slice(0, 3).entries()) {
    // The offsets are in the length, in the checksum and in the content of the record.
    for (const offset of [3, 5, RECORD_HEAD_BYTES + 30]) {
      writeFileSync(older, whole)
      flip(older, place + offset)
      const before = [readFileSync(older), readFileSync(newer)]
      await expect(shownLater(path), `record ${index}`).rejects.toMatchObject(damaged(path))
      expect([readFileSync(older), readFileSync(newer)]).toEqual(before)
    }
  }
  writeFileSync(older, whole)
  expect(Object.keys(await shownLater(path))).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
})

test('a missing, empty or truncated older segment closes the tables', async () => {
  const { path, older } = await twoSegments()
  const whole = readFileSync(older)
  rmSync(older)
  await expect(shownIn(path)).rejects.toMatchObject(damaged(path))
  for (const content of [Buffer.alloc(0), Buffer.alloc(100_000), whole.subarray(0, placesIn(whole)[2])]) {
    writeFileSync(older, content)
    await expect(shownIn(path)).rejects.toMatchObject(damaged(path))
  }
})

test('a damaged record of the newest segment closes the tables if a later write proves that it was acknowledged', async () => {
  const { path, newer } = await twoSegments()
  const whole = readFileSync(newer)
  const [first, second, third] = placesIn(whole)
  for (const place of [first!, second!]) {
    for (const offset of [3, 5, RECORD_HEAD_BYTES + 30]) {
      writeFileSync(newer, whole)
      flip(newer, place + offset)
      await expect(shownIn(path)).rejects.toMatchObject(damaged(path))
    }
  }
  writeFileSync(newer, whole)
  flip(newer, third! + 5)
  expect(await shownIn(path)).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('two damaged segments close the tables, even if both heads are damaged', async () => {
  const { path, older, newer } = await twoSegments()
  for (const file of [older, newer]) flip(file, SEGMENT_HEAD_BYTES + 5)
  await expect(shownIn(path)).rejects.toMatchObject(damaged(path))
  for (const file of [older, newer]) flip(file, 20)
  await expect(shownIn(path)).rejects.toMatchObject(damaged(path))
})

test('no data is lost if a single bit in the head of a segment has changed', async () => {
  const { path, older, newer } = await twoSegments()
  for (const file of [older, newer]) {
    for (let at = 0; at < SEGMENT_HEAD_BYTES; at += 1) {
      flip(file, at)
      expect(await shownIn(path), `byte ${at}`).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
      flip(file, at)
    }
  }
})

test('a torn batch, which was never acknowledged, is skipped, and its intact records are reported', async () => {
  const path = ownDirectory()
  const checkpoints = new LetCheckpoints(thread)
  checkpoints.before = refuse
  const disk: Disk = {}
  const tables = await openTables(path, checkpoints, on(disk))
  await put(tables, 'a', '1')
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  disk.beforeWrite = () => {
    begun.resolve()
    return gate.promise
  }
  const writes = [put(tables, 'b', '2')]
  await begun.promise
  // Writes that arrive during a write to the disk are combined into one batch.
  writes.push(put(tables, 'c', '3'), put(tables, 'd', '4'))
  while (Object.keys(shown(tables)).length < 4) await new Promise(setImmediate)
  gate.resolve()
  await Promise.all(writes)
  await tables.close()
  const file = segmentPaths(path)[1]
  flip(file, placesIn(readFileSync(file))[2]! + 5)
  const log = new KeptLog()
  const later = await JournaledTables.open(new LmdbTables(path), null, { log })
  expect(shown(later)).toEqual({ a: '1', b: '2' })
  const message = 'the journal contains records after a damaged one; these records are ignored'
  expect(log.lines).toEqual([
    { level: 'warn', message, fields: { directory: path, gap: null, recordsBeyond: 1 } },
  ])
  await later.close()
})

test('a local replica keeps the records before the damage, and reports the damage', async () => {
  const { path, older } = await twoSegments()
  flip(older, placesIn(readFileSync(older))[1]! + 5)
  const log = new KeptLog()
  const tables = await JournaledTables.open(new LmdbTables(path), null, { isFlushed: false, log })
  expect(Object.keys(shown(tables))).toEqual(['a'])
  expect(log.lines).toMatchObject([
    { level: 'warn', fields: { gap: expect.stringContaining('segment 1') as string } },
  ])
  await tables.close()
})

test('a damaged journal closes only its own environment, which opens again without the journal', async () => {
  const path = ownDirectory()
  const largeWrites = new LetCheckpoints(thread)
  largeWrites.before = refuse
  const never = { isLarge: () => false, commit: refuse, apply: refuse }
  const store = await openStore(`lmdb:${path}`, toyRule, {
    largeWrites: { ...never, checkpoint: (...args) => largeWrites.checkpoint(...args) },
  })
  for (const id of ['one', 'two']) {
    const { ledger } = await store.environment(id)
    for (const user of ['alice', 'bob', 'carol']) await ledger.commit(commitOf({ put: { [user]: 'ar' } }))
  }
  await store.close()
  flip(segmentPaths(join(path, 'one'))[1], SEGMENT_HEAD_BYTES + 5)
  const later = await openStore(`lmdb:${path}`, toyRule)
  await expect(later.environment('one')).rejects.toMatchObject(damaged(join(path, 'one')))
  const { view } = await later.environment('two')
  expect(scannedKeys(view, everyone)).toEqual(['alice', 'bob', 'carol'])
  for (const file of segmentPaths(join(path, 'one'))) rmSync(file, { force: true })
  expect((await later.environment('one')).view.count(everyone)).toBe(0)
  await later.close()
})

/** Writes a segment in the format of earlier releases, which did not mark batches. */
function earlierSegment(
  path: string,
  generation: number,
  keys: readonly string[],
  lineage: Uint8Array,
): Buffer {
  const records = keys.map((key, index) => {
    const gen = Buffer.alloc(6)
    gen.writeUIntBE(generation, 0, 6)
    const name = index === 0 ? Buffer.from('\xff\x00\x03one', 'latin1') : Buffer.alloc(0)
    const change = Buffer.from([0, 0, key.length, 0, 0, 0, 1, ...Buffer.from(key), 0x31])
    const payload = Buffer.concat([gen, name, change])
    const head = Buffer.alloc(RECORD_HEAD_BYTES)
    head.writeUInt32BE(payload.length)
    head.writeUInt32BE(crc32(payload), 4)
    return Buffer.concat([head, payload])
  })
  const segment = Buffer.concat([encodeSegmentHead(generation, lineage), ...records, Buffer.alloc(1_000)])
  writeFileSync(segmentPaths(path)[generation % 2]!, segment)
  return segment
}

test('the journal of an earlier release is read, and detectable gaps in it close the tables', async () => {
  const { path } = await twoSegments()
  const stored = new LmdbTables(path)
  const { lineage } = levelOf(stored)!
  await stored.close()
  const older = earlierSegment(path, 1, ['a', 'b', 'c'], lineage)
  earlierSegment(path, 2, ['d', 'e'], lineage)
  expect(await shownIn(path)).toEqual(['a', 'b', 'c', 'd', 'e'])
  flip(segmentPaths(path)[1], placesIn(older)[1]! + 5)
  await expect(shownIn(path)).rejects.toMatchObject(damaged(path))
  rmSync(segmentPaths(path)[1])
  await expect(shownIn(path)).rejects.toMatchObject(damaged(path))
  // Damage of only the newest segment is not detectable: the record might not have been acknowledged.
  earlierSegment(path, 1, ['a', 'b', 'c'], lineage)
  rmSync(segmentPaths(path)[0])
  flip(segmentPaths(path)[1], placesIn(older)[1]! + 5)
  expect(await shownIn(path)).toEqual(['a'])
})
