/**
 * Tables in one lmdb environment, a directory of its own. Reads are synchronous, from lmdb's memory map; writes run
 * in lmdb's write thread order, those of one turn of the event loop share a transaction and one flush.
 *
 * Invariants: a write that throws leaves nothing behind (a *child* transaction: a plain one keeps what was written
 * before the throw), and a write is answered only after it and all before it are on disk.
 *
 * It does not keep other processes out: two of them may open one environment (`DirectoryLock` does that).
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open, type Database, type RootDatabase, type Transaction } from 'lmdb'
import { assert } from '#model/assert.ts'
import { storeClosed } from '#store/store-closed-error.ts'
import {
  TABLE_KEY_BYTES_MAX,
  tableOfSnapshot,
  type RangeOptions,
  type Table,
  type TableEntry,
  type Tables,
  type TablesSnapshot,
} from '#store/tables.ts'
import { checkDataFile } from './data-file.ts'
import { cannotOpen, cannotWrite } from './disk-errors.ts'
import { openWrites } from './open-writes.ts'

type Bytes = Database<Uint8Array, Uint8Array>
type Cursor = Iterator<TableEntry>

/** Named tables one environment may have; each costs a little in every transaction. */
const TABLES_MAX = 16
/** Snapshots and cursors of all threads at once: far more than the ceiling of exports and the other readers need. */
const READERS_MAX = 1_024
const ENCODING = { encoding: 'binary', keyEncoding: 'binary' } as const
/** lmdb-js reads this option; its types lack it. An existing file keeps its mode. */
const NEW_FILE = { permissionsMode: 0o600 } as const
const APPEND = { append: true } as const
/** A little more than lmdb's lock file takes for so many readers. */
const LOCK_FILE_BYTES = READERS_MAX * 64 + 4_096
/** lmdb reads the number of entries to skip as 32 bits. */
const OFFSET_MAX = 0xffff_ffff

export class LmdbTables implements Tables {
  readonly directory: string
  readonly #root: RootDatabase<Uint8Array, Uint8Array>
  readonly #tables = new Map<string, LmdbTable>()
  readonly #access = new Access()
  /** Settles when every write so far has settled: durable or refused. */
  #lastWrite: Promise<unknown> = Promise.resolve()
  #closed: Promise<void> | null = null

  /**
   * Opens the environment in `directory`, creating both when missing. Throws `STORE_UNAVAILABLE` when its file is none of
   * lmdb's. `isFlushed: false` leaves the disk to the operating system: writes resolve when they are made, and whoever fills
   * files that nobody reads yet sees to it that they are on disk at the end.
   */
  constructor(directory: string, { isFlushed = true }: { readonly isFlushed?: boolean } = {}) {
    this.directory = directory
    checkDataFile(directory)
    try {
      makeLockFile(directory)
      this.#root = open<Uint8Array, Uint8Array>({
        path: directory,
        // Without this, a dot in the directory's name would make lmdb-js take it for a file.
        noSubdir: false,
        maxDbs: TABLES_MAX,
        maxReaders: READERS_MAX,
        // With it, lmdb-js makes a promise of its own each turn that nobody can handle: a failed commit (a full disk) would
        // end the process as an unhandled rejection. Writes share transactions without it, too.
        eventTurnBatching: false,
        noSync: !isFlushed,
        ...NEW_FILE,
        ...ENCODING,
      })
    } catch (cause) {
      throw cannotOpen(directory, cause)
    }
  }

  table(name: string): Table {
    const existing = this.#tables.get(name)
    if (existing) return existing
    const table = new LmdbTable(this.#root.openDB(name, ENCODING), this.#access)
    this.#tables.set(name, table)
    return table
  }

  async write<T>(action: () => T, onApplied?: () => void): Promise<T> {
    if (this.#closed) throw storeClosed()
    openWrites.begin()
    try {
      return await this.#write(action, onApplied)
    } finally {
      openWrites.end()
    }
  }

  #write<T>(action: () => T, onApplied?: () => void): Promise<T> {
    const committed = this.#root.childTransaction(() => this.#access.whileWriting(action))
    // Taken in the same turn, so it is the flush of the transaction that the action is in. A later one would do, but under
    // load each write would wait for the one after it. Should the flush fail, `committed` has failed before.
    const flushed = this.#root.flushed.then(ignore, ignore)
    const previous = this.#lastWrite
    // A transaction that changed nothing has no flush of its own, but it may have read what is not on disk yet: a repeated
    // commit must not be answered before the first one is durable. So this waits for all earlier writes.
    const result = committed.then(async value => {
      onApplied?.()
      await flushed
      await previous
      return value
    })
    this.#lastWrite = result.catch(() => previous)
    return result.catch((error: unknown) => this.#handleFailure(error))
  }

  /** lmdb's lock orders the writes of all threads. */
  elsewhere<T>(action: (tables: Tables) => Promise<T>): Promise<T> {
    return action(this)
  }

  refresh(): void {
    // Otherwise lmdb-js reads on in one transaction until the next turn of timers.
    this.#root.resetReadTxn()
  }

  snapshot(): TablesSnapshot {
    this.#access.assertOpen()
    const transaction = this.#root.useReadTransaction()
    const end = () => transaction.done()
    this.#access.addSnapshot(end)
    let isReleased = false
    return {
      table: name => {
        assert(!isReleased, 'a snapshot is read before it is released')
        return tableOfSnapshot(this.#tables, name).at(transaction)
      },
      release: () => {
        isReleased = true
        this.#access.endSnapshot(end)
      },
    }
  }

  /** In a thread of lmdb's, in one read transaction, without the pages that nobody uses. */
  async backUp(directory: string): Promise<void> {
    if (this.#closed) throw storeClosed()
    try {
      await this.#root.backup(directory, true)
    } catch (cause) {
      throw cannotWrite(directory, cause)
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** lmdb-js reports a failed commit (a full disk) in two steps: the reason comes in a promise of its own. */
  async #handleFailure(error: unknown): Promise<never> {
    if (error instanceof Error && 'commitError' in error) {
      const cause = await Promise.resolve(error.commitError).catch((reason: unknown) => reason)
      throw cannotWrite(this.directory, cause)
    }
    throw error
  }

  async #close(): Promise<void> {
    await this.#lastWrite
    this.#access.close()
    // lmdb-js waits for the last flush before it closes. A failed commit never has one; an empty commit always does.
    await this.#root.childTransaction(ignore)
    await this.#root.close()
  }
}

class LmdbTable implements Table {
  readonly #database: Bytes
  readonly #access: Access

  /** The snapshot that is read; null: the present state. */
  readonly #transaction: Transaction | null

  constructor(database: Bytes, access: Access, transaction: Transaction | null = null) {
    this.#database = database
    this.#access = access
    this.#transaction = transaction
  }

  /** The same table as the transaction sees it. */
  at(transaction: Transaction): LmdbTable {
    return new LmdbTable(this.#database, this.#access, transaction)
  }

  get(key: Uint8Array): Uint8Array | undefined {
    this.#access.assertOpen()
    // Outside a snapshot lmdb uses the reader of this turn. Naming a transaction costs time.
    if (this.#transaction) return this.#database.get(key, { transaction: this.#transaction })
    return this.#database.getBinary(key)
  }

  *range(options: RangeOptions): Iterable<TableEntry> {
    const { start, end, offset = 0 } = options
    // lmdb would take an empty end for no end.
    if (end?.length === 0) return
    this.#access.assertOpen()
    const range = this.#database.getRange({
      start,
      offset: Math.min(offset, OFFSET_MAX),
      ...(end && { end }),
      ...(this.#transaction && { transaction: this.#transaction }),
    })
    const cursor = this.#access.addCursor(range[Symbol.iterator]())
    try {
      for (let step = cursor.next(); !step.done; step = cursor.next()) {
        yield step.value
        this.#access.assertOpen()
      }
    } finally {
      this.#access.closeCursor(cursor)
    }
  }

  // Inside a transaction lmdb writes at once and copies the bytes. The promises that it returns mean nothing then.
  put(key: Uint8Array, value: Uint8Array): void {
    this.#assertPut(key)
    void this.#database.put(key, value)
  }

  putLast(key: Uint8Array, value: Uint8Array): void {
    this.#assertPut(key)
    // lmdb refuses a key that has others behind it.
    const put = this.#database.put(key, value, APPEND as never) as Promise<boolean> & {
      readonly result: boolean
    }
    if (!put.result) void this.#database.put(key, value)
  }

  #assertPut(key: Uint8Array): void {
    this.#access.assertWriting()
    assert(key.length >= 1 && key.length <= TABLE_KEY_BYTES_MAX, () => `a key of ${key.length} bytes`)
  }

  remove(key: Uint8Array): void {
    this.#access.assertWriting()
    void this.#database.remove(key)
  }
}

/** Whether the tables of one environment may be read or written right now, and the cursors that are open on them. */
class Access {
  readonly #cursors = new Set<Cursor>()
  readonly #snapshots = new Set<() => void>()
  #isWriting = false
  #isClosed = false

  assertOpen(): void {
    if (this.#isClosed) throw storeClosed()
  }

  /** Outside a write lmdb would start a transaction of its own, some time later. */
  assertWriting(): void {
    assert(this.#isWriting, 'tables change inside a write only')
  }

  whileWriting<T>(action: () => T): T {
    this.#isWriting = true
    try {
      return action()
    } finally {
      this.#isWriting = false
    }
  }

  addCursor(cursor: Cursor): Cursor {
    this.#cursors.add(cursor)
    return cursor
  }

  closeCursor(cursor: Cursor): void {
    if (this.#cursors.delete(cursor)) cursor.return?.()
  }

  addSnapshot(end: () => void): void {
    this.#snapshots.add(end)
  }

  endSnapshot(end: () => void): void {
    if (this.#snapshots.delete(end)) end()
  }

  /** lmdb must not be closed under an open cursor: its next step would read freed memory. */
  close(): void {
    this.#isClosed = true
    for (const cursor of this.#cursors) this.closeCursor(cursor)
    for (const end of this.#snapshots) this.endSnapshot(end)
  }
}

function ignore(): void {}

/**
 * Makes lmdb's lock file with its bytes written. lmdb would make it as a hole that it maps and writes to later; on a disk
 * that is full by then, that ends the process by a signal. Throws what a write to the directory throws.
 */
function makeLockFile(directory: string): void {
  const file = join(directory, 'lock.mdb')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  try {
    writeFileSync(file, Buffer.alloc(LOCK_FILE_BYTES), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    rmSync(file, { force: true })
    throw error
  }
}
