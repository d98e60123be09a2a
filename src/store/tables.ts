/**
 * What an embedded store is made of: ordered tables of bytes that change together. Three adapters: memory, lmdb, and a journal
 * over lmdb. Keys order by unsigned bytes. Reads are synchronous; a `Uint8Array` handed in or out belongs to the receiver.
 * After `close`, and for writes from the moment it is called, everything throws `STORE_CLOSED`.
 */
import { assert } from '#model/assert.ts'

/** Bytes in a key, at least 1: what lmdb takes in pages of 4 KiB. A put beyond it throws. */
export const TABLE_KEY_BYTES_MAX = 1_978

export interface TableEntry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

export interface RangeOptions {
  /** First key, inclusive. */
  readonly start: Uint8Array
  /** Last key, exclusive; absent: to the end of the table. */
  readonly end?: Uint8Array
  /** Entries to skip from the start. Skipping ignores `end`: entries beyond it cost time, too. */
  readonly offset?: number
}

export interface Table {
  get(key: Uint8Array): Uint8Array | undefined
  /**
   * Entries in key order. The consumer may stop at any time; a writer in between may or may not be seen. To be
   * finished or stopped: an iterator left hanging holds on to old pages until `close`.
   */
  range(options: RangeOptions): Iterable<TableEntry>
  /** Only inside `Tables.write`. */
  put(key: Uint8Array, value: Uint8Array): void
  /**
   * As `put`, for a key that is expected behind all others: the tree is not searched, and its pages are filled up. Absent where that
   * would be no quicker.
   */
  putLast?(key: Uint8Array, value: Uint8Array): void
  /** Only inside `Tables.write`. Removing an absent key is no error. */
  remove(key: Uint8Array): void
}

/** Puts an entry that is expected behind all others, as quickly as the table can. */
export function putLast(table: Table, key: Uint8Array, value: Uint8Array): void {
  if (table.putLast) table.putLast(key, value)
  else table.put(key, value)
}

/** The table of that name among those that there were when a snapshot was taken. */
export function tableOfSnapshot<Opened>(tables: ReadonlyMap<string, Opened>, name: string): Opened {
  const table = tables.get(name)
  assert(table, () => `the table ${name} was opened before the snapshot`)
  return table
}

/** What tables hold at one moment, whatever is written later. Release it soon: old pages are kept for it. */
export interface TablesSnapshot {
  /** Read-only. */
  table(name: string): Table
  /** Afterwards, and after the tables were closed, reading throws. Safe to repeat. */
  release(): void
}

export interface Tables {
  /** The directory of these tables, which holds nothing else and is removed with them; null when they are in none. */
  readonly directory: string | null
  /** The table of that name, created when missing. Always the same object for one name. Not inside `write`. */
  table(name: string): Table
  /**
   * Runs `action` as one atomic write: it reads its own writes, nobody else sees them before it is done, and a throw
   * leaves nothing behind and rejects. Resolves when it and every write before it are durable. Actions run one after
   * the other, never before `write` has returned, and must not be asynchronous. From the moment it resolves, reads
   * see it; they may see it already while it is still on its way to the disk. `onApplied` is called once when they do. Rejects with
   * `STORE_UNAVAILABLE` when it is not known yet whether it is on disk: it may be seen then, and be durable later.
   */
  write<T>(action: () => T, onApplied?: () => void): Promise<T>
  /**
   * Runs `action`, which writes straight into the stored tables: much at once, or through another thread that has opened the same
   * directory. It has its turn among the writes of this thread, and those behind it wait until it is done. It gets the tables to
   * write into, whose `write` obeys the same rules.
   */
  elsewhere<T>(action: (tables: Tables) => Promise<T>): Promise<T>
  /** Reads that begin from now on see what another thread has written into the same tables so far. */
  refresh(): void
  /** What every table holds now. A table must have been opened before. Not inside `write`. */
  snapshot(): TablesSnapshot
  /** Finishes the writes under way. */
  close(): Promise<void>
  /**
   * Writes a copy of all tables, as of one moment, into a directory that is there and empty. Writes go on meanwhile. Absent where the
   * tables are on no disk.
   */
  backUp?(directory: string): Promise<void>
}
