/**
 * Tables in one lmdb environment, in a separate directory. Reads are synchronous and use lmdb's memory map.
 * lmdb's write thread determines the order of writes. The writes of one event-loop iteration share a
 * transaction and a flush.
 *
 * Invariants: a write that throws changes nothing, and a write is acknowledged only after it and all earlier
 * ones are on disk. Writes are *child* transactions, because a plain transaction would keep the changes made
 * before an error.
 *
 * These tables do not lock out other processes: `DirectoryLock` prevents a second process from opening them.
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
import { checkDataFile } from './check-data-file.ts'
import { cannotOpen, cannotWrite } from './disk-errors.ts'
import { openWrites } from './open-writes.ts'

type BytesDatabase = Database<Uint8Array, Uint8Array>
type EntryIterator = Iterator<TableEntry>

/** Maximum number of named tables per environment; each adds a small cost to every transaction. */
const TABLES_MAX = 16
/**
 * Maximum number of snapshots and cursors of all threads at one time. It is far above the number that the
 * permitted exports and the other readers need.
 */
const READERS_MAX = 1_024
const ENCODING = { encoding: 'binary', keyEncoding: 'binary' } as const
/**
 * Option for the mode of a new file. lmdb-js reads this option, but its TypeScript types do not contain it.
 * An existing file keeps its mode.
 */
const NEW_FILE = { permissionsMode: 0o600 } as const
const APPEND = { append: true } as const
/** Slightly more than the size of lmdb's lock file for `READERS_MAX` readers. */
const LOCK_FILE_BYTES = READERS_MAX * 64 + 4_096
/** Maximum number of entries to skip, because lmdb reads this number as 32 bits. */
const OFFSET_MAX = 0xffff_ffff

export class LmdbTables implements Tables {
  readonly directory: string
  readonly #root: RootDatabase<Uint8Array, Uint8Array>
  readonly #tables = new Map<string, LmdbTable>()
  readonly #access = new Access()
  /** Settles when every write so far is either durable or rejected. */
  #lastWrite: Promise<unknown> = Promise.resolve()
  #closed: Promise<void> | null = null

  /**
   * Opens the environment in `directory`, and creates both if they are missing. Throws `STORE_UNAVAILABLE` if
   * its file is not an lmdb file. `isFlushed: false` leaves flushing to the operating system: writes resolve
   * when they are made, and the caller must flush the files before they are used.
   */
  constructor(directory: string, { isFlushed = true }: { readonly isFlushed?: boolean } = {}) {
    this.directory = directory
    checkDataFile(directory)
    try {
      makeLockFile(directory)
      this.#root = open<Uint8Array, Uint8Array>({
        path: directory,
        // Without this option, lmdb-js would treat a directory whose name contains a dot as a file.
        noSubdir: false,
        maxDbs: TABLES_MAX,
        maxReaders: READERS_MAX,
        // With this option, lmdb-js would create an internal promise per event-loop iteration that callers
        // cannot handle: a failed commit (a full disk) would end the process with an unhandled rejection.
        // Writes share transactions even without this option.
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
    // `flushed` is read in the same event-loop iteration, so that it belongs to the transaction that contains
    // the action. If it were read later, it could belong to a later transaction, and under load each write
    // would wait for the next one. If the flush fails, `committed` fails before `flushed` does.
    const flushed = this.#root.flushed.then(ignore, ignore)
    const previous = this.#lastWrite
    // A transaction without changes is not flushed, but it might have read data that is not on disk yet. For
    // example, a repeated commit must not be acknowledged before the first one is durable. Therefore the
    // result waits for all earlier writes.
    const result = committed.then(async value => {
      onApplied?.()
      await flushed
      await previous
      return value
    })
    this.#lastWrite = result.catch(() => previous)
    return result.catch((error: unknown) => this.#handleFailure(error))
  }

  /** Runs the action on these tables: a lock of lmdb orders the writes of all threads. */
  elsewhere<T>(action: (tables: Tables) => Promise<T>): Promise<T> {
    return action(this)
  }

  refresh(): void {
    // Ends the current read transaction. Otherwise, lmdb-js would continue to read in it until the next timer
    // phase.
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

  /** Runs in a thread of lmdb, in one read transaction, and omits unused pages. */
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

  /** lmdb-js reports a failed commit (a full disk) in two steps: a separate promise contains the reason. */
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
    // lmdb-js waits for the last flush before it closes. After a failed commit, that flush never comes.
    // Therefore an empty transaction is committed first, whose flush always comes.
    await this.#root.childTransaction(ignore)
    await this.#root.close()
  }
}

class LmdbTable implements Table {
  readonly #database: BytesDatabase
  readonly #access: Access

  /** The snapshot that is read; null for the current state. */
  readonly #transaction: Transaction | null

  constructor(database: BytesDatabase, access: Access, transaction: Transaction | null = null) {
    this.#database = database
    this.#access = access
    this.#transaction = transaction
  }

  /** Returns the same table in the state that the transaction sees. */
  at(transaction: Transaction): LmdbTable {
    return new LmdbTable(this.#database, this.#access, transaction)
  }

  get(key: Uint8Array): Uint8Array | undefined {
    this.#access.assertOpen()
    // Outside a snapshot, lmdb uses the read transaction of this event-loop iteration. Passing a transaction
    // costs time.
    if (this.#transaction) return this.#database.get(key, { transaction: this.#transaction })
    return this.#database.getBinary(key)
  }

  *range(options: RangeOptions): Iterable<TableEntry> {
    const { start, end, offset = 0 } = options
    // lmdb would treat an empty end as no end.
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

  // Inside a transaction, lmdb writes immediately and copies the bytes. The promises that it returns have no
  // meaning then.
  put(key: Uint8Array, value: Uint8Array): void {
    this.#assertPut(key)
    void this.#database.put(key, value)
  }

  putLast(key: Uint8Array, value: Uint8Array): void {
    this.#assertPut(key)
    // With this option, lmdb rejects a key that is not the last one.
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

/**
 * Tracks whether the tables of one environment can be read or written at the moment, and which cursors are
 * open.
 */
class Access {
  readonly #cursors = new Set<EntryIterator>()
  readonly #snapshots = new Set<() => void>()
  #isWriting = false
  #isClosed = false

  assertOpen(): void {
    if (this.#isClosed) throw storeClosed()
  }

  /** Outside a write, lmdb would start its own transaction at some later time. */
  assertWriting(): void {
    assert(this.#isWriting, 'tables change only inside a write')
  }

  whileWriting<T>(action: () => T): T {
    this.#isWriting = true
    try {
      return action()
    } finally {
      this.#isWriting = false
    }
  }

  addCursor(cursor: EntryIterator): EntryIterator {
    this.#cursors.add(cursor)
    return cursor
  }

  closeCursor(cursor: EntryIterator): void {
    if (this.#cursors.delete(cursor)) cursor.return?.()
  }

  addSnapshot(end: () => void): void {
    this.#snapshots.add(end)
  }

  endSnapshot(end: () => void): void {
    if (this.#snapshots.delete(end)) end()
  }

  /** lmdb must not be closed while a cursor is open: its next step would read freed memory. */
  close(): void {
    this.#isClosed = true
    for (const cursor of this.#cursors) this.closeCursor(cursor)
    for (const end of this.#snapshots) this.endSnapshot(end)
  }
}

function ignore(): void {}

/**
 * Creates lmdb's lock file with its bytes written. lmdb would create the file with a hole, and would map and
 * write it later. If the disk were full at that time, a signal would end the process. Throws the errors of a
 * write to the directory.
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
