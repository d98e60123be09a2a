/**
 * Interface of ordered tables of bytes that change together, on which an embedded store is built. There are
 * three adapters: memory, lmdb, and a journal over lmdb. Keys are ordered by unsigned bytes. Reads are
 * synchronous; the receiver owns every `Uint8Array` that is passed in or out. After `close` has completed,
 * all calls throw `STORE_CLOSED`. Writes already throw this error once `close` has been called.
 */
import { assert } from '#model/assert.ts'

/**
 * Maximum length of a key in bytes: the limit of lmdb with pages of 4 KiB. A put of a longer key throws. The
 * minimum is 1.
 */
export const TABLE_KEY_BYTES_MAX = 1_978

export interface TableEntry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

export interface RangeOptions {
  /** First key, inclusive. */
  readonly start: Uint8Array
  /** Last key, exclusive; if absent, the end of the table. */
  readonly end?: Uint8Array
  /** Entries to skip from the start. Skipping ignores `end`: entries beyond it also cost time. */
  readonly offset?: number
}

export interface Table {
  get(key: Uint8Array): Uint8Array | undefined
  /**
   * Returns the entries in key order. The consumer can stop at any time; the iterator might or might not see
   * concurrent writes. The consumer must finish or stop the iterator. Otherwise, the iterator retains old
   * pages until `close`.
   */
  range(options: RangeOptions): Iterable<TableEntry>
  /** Puts an entry. Allowed only inside `Tables.write`. */
  put(key: Uint8Array, value: Uint8Array): void
  /**
   * Like `put`, for a key that is expected after all others: the tree is not searched, and its pages are
   * filled completely. Absent if that would not be faster.
   */
  putLast?(key: Uint8Array, value: Uint8Array): void
  /** Removes an entry, which can be absent. Allowed only inside `Tables.write`. */
  remove(key: Uint8Array): void
}

/** Puts an entry that is expected after all others, as fast as the table can. */
export function putLast(table: Table, key: Uint8Array, value: Uint8Array): void {
  if (table.putLast) table.putLast(key, value)
  else table.put(key, value)
}

/** Returns the table with this name. Only tables that existed when the snapshot was taken are available. */
export function tableOfSnapshot<Opened>(tables: ReadonlyMap<string, Opened>, name: string): Opened {
  const table = tables.get(name)
  assert(table, () => `the table ${name} was opened before the snapshot`)
  return table
}

/**
 * Contents of the tables at one moment, unaffected by later writes. Release it soon, because old pages are
 * kept for it.
 */
export interface TablesSnapshot {
  /** Read-only. */
  table(name: string): Table
  /**
   * Releases the snapshot. Reading it later throws an error, as does reading it after the tables were closed.
   * Idempotent.
   */
  release(): void
}

export interface Tables {
  /**
   * Directory that contains only these tables and is removed with them; null if they are not in a directory.
   */
  readonly directory: string | null
  /**
   * Returns the table with this name. Creates the table if it is missing. Returns the same object for the
   * same name. Must not be called inside `write`.
   */
  table(name: string): Table
  /**
   * Runs `action` as one atomic write. The action reads its own changes; no other reader sees them before the
   * action is complete. If the action throws, nothing is changed and the promise rejects. The promise
   * resolves when this write and every earlier one are durable.
   *
   * Actions run one after the other, and never before `write` has returned. An action must not be
   * asynchronous. When the promise has resolved, reads see the changes. Reads can already see the changes
   * while the write is in transit to the disk. `onApplied` is called once, when reads begin to see them.
   * Rejects with `STORE_UNAVAILABLE` if it is not yet known whether the write is on disk. In that case, the
   * changes might be visible, and might become durable later.
   */
  write<T>(action: () => T, onApplied?: () => void): Promise<T>
  /**
   * Runs an action that writes directly to the stored tables: an action with large writes, or one whose
   * writes are made by another thread that has opened the same directory. The action is queued among the
   * writes of this thread, and later writes wait until it is complete. It receives the tables to write to,
   * whose `write` obeys the same rules.
   */
  elsewhere<T>(action: (tables: Tables) => Promise<T>): Promise<T>
  /**
   * Makes the earlier writes of other threads to the same tables visible to all reads that begin after this
   * call.
   */
  refresh(): void
  /**
   * Takes a snapshot of every table. A table must have been opened before. Must not be called inside `write`.
   */
  snapshot(): TablesSnapshot
  /** Completes the writes in progress. */
  close(): Promise<void>
  /**
   * Writes a copy of all tables, as of one moment, to an existing empty directory. Writes continue in the
   * meantime. Absent if the tables are not on disk.
   */
  backUp?(directory: string): Promise<void>
}
