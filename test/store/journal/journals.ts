/** Journaled tables for tests that control their disk and their checkpoints, and inspect their files. */
import { existsSync } from 'node:fs'
import { afterAll, onTestFinished } from 'vitest'
import { AuthzError } from '#model/errors.ts'
import { JournaledTables, type JournalOptions } from '#store/journal/journaled-tables.ts'
import { RECORD_HEAD_BYTES, SEGMENT_HEAD_BYTES } from '#store/journal/journal-format.ts'
import { segmentPaths } from '#store/journal/replay.ts'
import { SegmentFile } from '#store/journal/segment-file.ts'
import { WriteThread } from '#store/large-writes/write-thread.ts'
import type { LargeWrites, SegmentEnd } from '#store/large-writes.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import type { Tables } from '#store/tables.ts'
import { bytes, text } from '../toy-rows.ts'

export type MakesCheckpoints = Pick<LargeWrites, 'checkpoint'>

/** A thread for large writes and checkpoints. A write with `largeRows` rows or more is large. */
export function writeThread(largeRows?: number): WriteThread {
  const thread = new WriteThread(new URL('../toy-large-writes.ts', import.meta.url), largeRows)
  afterAll(() => thread.close())
  return thread
}

/** Tables that are closed after the test. Without `largeWrites`, they make their checkpoints themselves. */
export async function openTables(
  path: string,
  largeWrites: MakesCheckpoints | null = null,
  options: JournalOptions = {},
): Promise<JournaledTables> {
  const tables = await JournaledTables.open(new LmdbTables(path), largeWrites, options)
  onTestFinished(() => tables.close())
  return tables
}

export const put = (tables: Tables, key: string, value: string): Promise<void> =>
  tables.write(() => tables.table('one').put(bytes(key), bytes(value)))

export const remove = (tables: Tables, key: string): Promise<void> =>
  tables.write(() => tables.table('one').remove(bytes(key)))

/** Content of the table `one`. */
export const shown = (tables: Tables): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...tables.table('one').range({ start: new Uint8Array(0) })].map(({ key, value }) => [
      text(key),
      text(value),
    ]),
  )

/** Opens the tables again, and returns the content of the table `one`. */
export async function shownLater(path: string): Promise<Readonly<Record<string, string>>> {
  const tables = await openTables(path)
  const found = shown(tables)
  await tables.close()
  return found
}

/** Content of the table `one` in the stored tables, without the journal. */
export async function stored(path: string): Promise<Readonly<Record<string, string>>> {
  const tables = new LmdbTables(path)
  const found = shown(tables)
  await tables.close()
  return found
}

export const journalFiles = (path: string): string[] => segmentPaths(path).filter(file => existsSync(file))

export const checkpoint = (tables: Tables): Promise<void> => tables.elsewhere(async () => undefined)

/** Makes checkpoints through `inner` after `before` resolves. */
export class LetCheckpoints implements MakesCheckpoints {
  /** Awaited before each checkpoint. An error prevents the checkpoint. */
  before: () => Promise<void> | void = () => {}
  readonly #inner: MakesCheckpoints
  readonly #begun: (() => void)[] = []

  constructor(inner: MakesCheckpoints) {
    this.#inner = inner
  }

  async checkpoint(path: string, segment: SegmentEnd): Promise<void> {
    for (const tell of this.#begun.splice(0)) tell()
    await this.before()
    await this.#inner.checkpoint(path, segment)
  }

  /** Resolves when the next checkpoint begins. */
  begins(): Promise<void> {
    return new Promise(resolve => this.#begun.push(resolve))
  }
}

export const refusal = () => new AuthzError('STORE_REFUSED', 'no checkpoint at present')

export const refuse = (): never => {
  throw refusal()
}

/** Writes to tables and closes them while checkpoints are refused, which leaves a journal like a crash. */
export async function leaveJournal(
  path: string,
  write: (tables: JournaledTables) => Promise<void>,
): Promise<void> {
  const tables = await openTables(path, { checkpoint: refuse })
  await write(tables)
  await tables.close()
}

/** Offsets at which the records of a segment begin, and the end of the last one. */
export function placesIn(segment: Buffer): number[] {
  const found = [SEGMENT_HEAD_BYTES]
  const lengthAt = (place: number): number => (place + 4 <= segment.length ? segment.readUInt32BE(place) : 0)
  for (let length = lengthAt(found[0]!); length > 0; length = lengthAt(found.at(-1)!)) {
    found.push(found.at(-1)! + RECORD_HEAD_BYTES + length)
  }
  return found
}

/** Functions that run before a segment uses its disk. They can wait, or throw a disk error. */
export interface Disk {
  beforeRoom?: (bytes: number) => Promise<void> | void
  beforeWrite?: () => Promise<void> | void
}

class FileOn extends SegmentFile {
  readonly #disk: Disk

  constructor(path: string, disk: Disk) {
    super(path)
    this.#disk = disk
  }

  override async makeRoom(size: number): Promise<void> {
    await this.#disk.beforeRoom?.(size)
    await super.makeRoom(size)
  }

  override async write(content: Uint8Array, position: number): Promise<void> {
    await this.#disk.beforeWrite?.()
    await super.write(content, position)
  }
}

export const on = (disk: Disk): JournalOptions => ({ segmentFile: path => new FileOn(path, disk) })

export const diskError = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code })
