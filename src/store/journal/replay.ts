/**
 * Writes the segments of a journal to its tables: for a checkpoint while the store is open, and for crash
 * recovery.
 *
 * Recovery first determines which records of the journal were acknowledged. If one of them is damaged or
 * missing, nothing is applied.
 *
 *     journal  'level'  →  [lineage, 16 bytes][generation u48]: the last segment that the tables contain
 *
 * A segment is applied as a whole. The same write updates the entry `level`, so a segment is never applied
 * twice.
 */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeUint48, encodeUint48 } from '#store/keyspace/row-codec.ts'
import { bytesOf } from '#model/text/byte-text.ts'
import type { SegmentEnd } from '#store/large-writes.ts'
import { notWritten } from '#store/not-written-error.ts'
import { putLast, type Table, type Tables } from '#store/tables.ts'
import {
  batchStartsIn,
  LINEAGE_BYTES,
  readSegment,
  type ReadSegment,
  SEGMENT_HEAD_BYTES,
} from './journal-format.ts'

const TABLE = 'journal'
const MARK = new TextEncoder().encode('level')
const NAMES = ['journal-0', 'journal-1'] as const

/** The last segment that the tables contain. */
interface Level {
  readonly lineage: Uint8Array
  readonly generation: number
}

/**
 * Returns the paths of the two segments of the tables in a directory. The first is for even generations, and
 * the second for odd ones.
 */
export function segmentPaths(directory: string): readonly [string, string] {
  return [join(directory, NAMES[0]), join(directory, NAMES[1])]
}

/**
 * Writes a mark into the tables: a new journal with this lineage begins, and none of its segments has been
 * applied yet. Must not be called inside a write.
 */
export async function beginLineage(tables: Tables, lineage: Uint8Array): Promise<void> {
  const table = tables.table(TABLE)
  await tables.write(() => putMark(table, lineage, 0))
}

/** Returns the last segment that the tables contain, or null if the tables never had a journal. */
export function levelOf(tables: Tables): Level | null {
  const mark = tables.table(TABLE).get(MARK)
  if (mark === undefined) return null
  return { lineage: mark.subarray(0, LINEAGE_BYTES), generation: decodeUint48(mark, LINEAGE_BYTES) }
}

export interface FoundJournal {
  /** Segments that the tables lack, up to the first damaged record, oldest first. */
  readonly segments: readonly ReadSegment[]
  /**
   * Describes the position after `segments` at which acknowledged records are damaged or missing, and the
   * later record that proves this. Null if no acknowledged records are missing.
   */
  readonly gap: string | null
  /** Number of intact records after a damaged one that was not acknowledged. */
  readonly recordsBeyond: number
}

/**
 * Finds the segments in the directory that the tables lack. Ignores segments of another lineage. O(bytes of
 * the segments).
 */
export async function findJournal(tables: Tables, directory: string): Promise<FoundJournal> {
  const level = levelOf(tables)
  if (level === null) return { segments: [], gap: null, recordsBeyond: 0 }
  const [own, starts]: [ReadSegment[], JournalPosition[]] = [[], []]
  for (const path of segmentPaths(directory)) {
    const bytes = await bytesAt(path)
    if (bytes === null) continue
    starts.push(...batchStartsIn(bytes, level.lineage))
    const segment = readSegment(bytes)
    if (segment && isSame(segment.lineage, level.lineage) && segment.generation > level.generation)
      own.push(segment)
  }
  const segments: ReadSegment[] = []
  for (const segment of own.toSorted((one, other) => one.generation - other.generation)) {
    if (segment.generation !== level.generation + segments.length + 1) break
    const before = segments.at(-1)
    if (before && !isFollowedBy(before, segment)) break
    segments.push(segment)
  }
  const last = segments.at(-1)
  const end: JournalPosition = last
    ? { generation: last.generation, at: last.endBytes }
    : { generation: level.generation + 1, at: SEGMENT_HEAD_BYTES }
  // Older releases wrote no batch notes. If a segment cannot be applied although it has intact records, these
  // records prove that earlier records are missing.
  const unreached = own.filter(each => !segments.includes(each) && each.endBytes > SEGMENT_HEAD_BYTES)
  starts.push(...unreached.map(({ generation }) => ({ generation, at: SEGMENT_HEAD_BYTES })))
  const later = starts.find(start => isAtOrAfter(start, end))
  const gap = later
    ? `segment ${end.generation} of its journal is damaged or missing from byte ${end.at}. Segment ${later.generation} has a record at byte ${later.at} that was written later`
    : null
  return { segments, gap, recordsBeyond: last?.recordsBeyond ?? 0 }
}

/** A position in a journal. */
interface JournalPosition {
  readonly generation: number
  readonly at: number
}

function isAtOrAfter(one: JournalPosition, other: JournalPosition): boolean {
  return one.generation === other.generation ? one.at >= other.at : one.generation > other.generation
}

/** Whether the intact records of a segment are all records that it contained when the next segment began. */
function isFollowedBy({ endBytes, recordsBeyond }: ReadSegment, { previousEndBytes }: ReadSegment): boolean {
  return previousEndBytes === null ? recordsBeyond === 0 : previousEndBytes === endBytes
}

/**
 * Applies one segment, unless the tables already contain it. Resolves when it is on disk. Throws
 * `STORE_REFUSED` if the segment differs from what was written to it, or does not follow the last segment in
 * the tables. Otherwise the missing changes would be lost.
 */
export async function applySegment(
  tables: Tables,
  directory: string,
  { generation, endBytes }: SegmentEnd,
): Promise<void> {
  const path = segmentPaths(directory)[generation % 2]!
  const bytes = await bytesAt(path)
  const segment = bytes && readSegment(bytes)
  const isWhole = segment?.generation === generation && segment.endBytes === endBytes
  if (!isWhole) throw notWritten('the journal does not contain all records that were written to it', path)
  if (isNext(tables, segment)) return apply(tables, segment)
  const level = levelOf(tables)
  if (level?.generation === generation && isSame(level.lineage, segment.lineage)) return
  throw notWritten('the journal belongs to other tables than those in the data directory', path)
}

/** Removes segments whose content is no longer needed. */
export async function removeSegments(directory: string): Promise<void> {
  for (const path of segmentPaths(directory)) await rm(path, { force: true })
}

async function bytesAt(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Whether the segment follows the last segment in the tables. */
function isNext(tables: Tables, { generation, lineage }: ReadSegment): boolean {
  const level = levelOf(tables)
  return level !== null && isSame(level.lineage, lineage) && level.generation + 1 === generation
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0
}

async function apply(tables: Tables, { generation, lineage, changes }: ReadSegment): Promise<void> {
  // A tree accepts entries most efficiently in the order of their keys. Tables are opened here, because they
  // must not be opened inside the write.
  const sorted = [...changes].map(([name, entries]) => {
    const table = tables.table(name)
    const inOrder = [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1))
    // The log grows at its end. With this hint, pages are filled completely.
    const isAtEnd = isBehindAll(table, inOrder.find(([, value]) => value !== null)?.[0])
    return { table, entries: inOrder, isAtEnd }
  })
  const mark = tables.table(TABLE)
  await tables.write(() => {
    for (const { table, entries, isAtEnd } of sorted) {
      for (const [key, value] of entries) {
        if (value === null) table.remove(bytesOf(key))
        else if (isAtEnd) putLast(table, bytesOf(key), value)
        else table.put(bytesOf(key), value)
      }
    }
    putMark(mark, lineage, generation)
  })
}

/** Whether the table has no entry at or after the key. A wrong result would only cost time. */
function isBehindAll(table: Table, key: string | undefined): boolean {
  if (key === undefined) return false
  const [next] = table.range({ start: bytesOf(key) })
  return next === undefined
}

function putMark(table: Table, lineage: Uint8Array, generation: number): void {
  const mark = new Uint8Array(LINEAGE_BYTES + 6)
  mark.set(lineage)
  mark.set(encodeUint48(generation), LINEAGE_BYTES)
  table.put(MARK, mark)
}
