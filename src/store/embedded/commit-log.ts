/**
 * The log of an embedded ledger: the newest commits in order, and which commit ids they had.
 *
 *     log      sequence u48  →  the entry (entry-codec.ts)
 *     commits  commit id     →  sequence u48
 *
 * Invariant: the sequences in the log are consecutive, and `commits` holds exactly the ids of the entries in it.
 * It does not know what is durable, nor who reads: that is `LogFeed` and the ledger.
 */
import { decodeUint48, encodeUint48 } from '#store/keyspace/row-codec.ts'
import type { Entry } from '#store/ledger.ts'
import type { Table, Tables } from '#store/tables.ts'
import { encodeEntry, entryId } from './entry-codec.ts'

/** Log entries kept by default. A node that falls further behind has to load all rows again. */
export const LOG_ENTRIES_MAX_DEFAULT = 100_000
/** Entries dropped per commit: more than one, so that a lowered retention is reached without one long write. */
const TRIM_ENTRIES_MAX = 64
/** Ceiling of what one read holds in memory, apart from its first entry. */
const READ_ENTRIES_MAX = 256
const READ_BYTES_MAX = 1024 * 1024

/** An entry as stored. */
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

  /** The sequence of the commit with that id, as long as the log holds it. */
  sequenceOf(id: Uint8Array): number | undefined {
    const stored = this.#commits.get(id)
    return stored && decodeUint48(stored)
  }

  /** Adds the entry and drops entries that are too old, unless `keepsAll`. Only inside `Tables.write`. */
  append(entry: Entry, { keepsAll = false } = {}): void {
    const sequence = encodeUint48(entry.revision.sequence)
    this.#log.put(sequence, encodeEntry(entry))
    this.#commits.put(entry.id, sequence)
    if (!keepsAll) this.#trim(entry.revision.sequence - this.#entriesMax)
  }

  /** Entries from `first` to `last`, both included. Returns as many of the first ones as fit one read of that size, at least one. */
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
