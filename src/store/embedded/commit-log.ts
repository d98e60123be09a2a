/**
 * The commit log of an embedded ledger: the newest commits in order, and their ids.
 *
 *     log      sequence u48  →  the entry (entry-codec.ts)
 *     commits  commit id     →  sequence u48
 *
 * Invariant: the sequences in the log are consecutive, and `commits` contains exactly the ids of the entries
 * in it. The commit log does not track durability and readers, because the ledger and `LogFeed` do.
 */
import { decodeUint48, encodeUint48 } from '#store/keyspace/row-codec.ts'
import type { LogEntry } from '#store/ledger.ts'
import type { Table, Tables } from '#store/tables.ts'
import { encodeEntry, entryId } from './entry-codec.ts'

/** Default number of log entries that are kept. A node that lags by more entries must load all rows again. */
export const LOG_ENTRIES_MAX_DEFAULT = 100_000
/**
 * Maximum number of old entries that a commit drops. It is greater than 1, so that a lowered retention takes
 * effect gradually, without one long write.
 */
const TRIM_ENTRIES_MAX = 64
/** Maximum number of entries in one read, and the maximum size of the entries except the first one. */
const READ_ENTRIES_MAX = 256
const READ_BYTES_MAX = 1024 * 1024

/** An entry in its stored form. */
export interface LoggedEntry {
  readonly sequence: number
  readonly bytes: Uint8Array
}

export class CommitLog {
  readonly #log: Table
  readonly #commits: Table
  readonly #entriesMax: number

  /** Keeps the newest `entriesMax` entries, at least 1. */
  constructor(tables: Tables, entriesMax: number) {
    this.#log = tables.table('log')
    this.#commits = tables.table('commits')
    this.#entriesMax = entriesMax
  }

  /**
   * Returns the sequence of the commit with this id. Returns undefined if the log does not contain the commit
   * or no longer contains it.
   */
  sequenceOf(id: Uint8Array): number | undefined {
    const stored = this.#commits.get(id)
    return stored && decodeUint48(stored)
  }

  /**
   * Appends the entry. Drops old entries that exceed the retention, unless `keepsAll` is true. Must be called
   * inside `Tables.write`.
   */
  append(entry: LogEntry, { keepsAll = false } = {}): void {
    const sequence = encodeUint48(entry.revision.sequence)
    this.#log.put(sequence, encodeEntry(entry))
    this.#commits.put(entry.id, sequence)
    if (!keepsAll) this.#trim(entry.revision.sequence - this.#entriesMax)
  }

  /**
   * Returns entries from `first` to `last`, both inclusive. If not all of them fit into one read, returns the
   * first ones that fit, at least one.
   */
  read(first: number, last: number, bytesMax = READ_BYTES_MAX): LoggedEntry[] {
    const entries: LoggedEntry[] = []
    let sizeBytes = 0
    for (const { key, value } of this.#log.range({
      start: encodeUint48(first),
      end: encodeUint48(last + 1),
    })) {
      sizeBytes += value.length
      if (entries.length > 0 && sizeBytes > bytesMax) break
      entries.push({ sequence: decodeUint48(key), bytes: value })
      if (entries.length === READ_ENTRIES_MAX || sizeBytes >= bytesMax) break
    }
    return entries
  }

  #trim(last: number): void {
    if (last < 1) return
    const old: LoggedEntry[] = []
    for (const { key, value } of this.#log.range({ start: encodeUint48(0), end: encodeUint48(last + 1) })) {
      old.push({ sequence: decodeUint48(key), bytes: value })
      if (old.length === TRIM_ENTRIES_MAX) break
    }
    for (const { sequence, bytes } of old) {
      this.#commits.remove(entryId(bytes))
      this.#log.remove(encodeUint48(sequence))
    }
  }
}
