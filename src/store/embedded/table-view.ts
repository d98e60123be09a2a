/**
 * The view over tables: the rows of an environment by key and in creation order, its lists (secondary
 * indexes) and their counts.
 *
 *     rows     created u64             →  the row (row-codec.ts)
 *     keys     primary key             →  created u64
 *     lists    list name, created u64  →  nothing
 *     counts   list name               →  rows in the list u48; absent if there are none
 *     meta     'sequence'              →  sequence of the newest commit applied u48
 *
 * Invariant: `lists` and `counts` contain exactly the data that the list rule derives from `rows`. A commit
 * changes them by the difference between the stored row and the new one, so applying a commit again changes
 * nothing.
 *
 * The view opens no writes: `apply` runs inside the caller's `Tables.write`, together with everything that
 * must change in the same write. The rule is not stored: a release that changes it must rebuild the lists.
 */
import { assert } from '#model/assert.ts'
import { COMMIT_ROWS_MAX } from '#model/limits.ts'
import { textOf } from '#model/text/byte-text.ts'
import {
  CREATED_BYTES,
  decodeCreated,
  decodeRow,
  decodeUint48,
  encodeCreated,
  encodeRow,
  encodeUint48,
  writeCreated,
} from '#store/keyspace/row-codec.ts'
import type { LogEntry, Row } from '#store/ledger.ts'
import type { Table, Tables } from '#store/tables.ts'
import type { ListEntry, ListName, ListRule, ScanOptions, View, ViewSnapshot } from '#store/view.ts'

const SEQUENCE = new TextEncoder().encode('sequence')

export interface RowsOptions {
  /** The read starts after this `created`. -1: it starts at the first row. */
  readonly after: number
  /** The read stops before this `created`. If absent, it continues to the last row. */
  readonly before?: number
  /** Maximum number of rows to return, at least 1. */
  readonly countMax: number
}

/**
 * Rows per batch of `batches`. Reading a batch takes about a millisecond, so a load does not block the
 * thread.
 */
const BATCH_ROWS = 1_000
/** Number of `created` values per commit. It limits the number of rows per commit. */
export const CREATED_PER_COMMIT = COMMIT_ROWS_MAX + 1

export class TableView implements View {
  readonly #rows: Table
  readonly #keys: Table
  readonly #lists: Table
  readonly #counts: Table
  readonly #meta: Table
  readonly #listRule: ListRule
  readonly #tables: Pick<Tables, 'table' | 'snapshot'>

  constructor(tables: Pick<Tables, 'table' | 'snapshot'>, listRule: ListRule) {
    this.#tables = tables
    this.#rows = tables.table('rows')
    this.#keys = tables.table('keys')
    this.#lists = tables.table('lists')
    this.#counts = tables.table('counts')
    this.#meta = tables.table('meta')
    this.#listRule = listRule
  }

  get present(): View {
    return this
  }

  sequence(): number {
    const stored = this.#meta.get(SEQUENCE)
    return stored ? decodeUint48(stored) : 0
  }

  get(key: Uint8Array): Row | undefined {
    const created = this.#keys.get(key)
    const stored = created && this.#rows.get(created)
    return stored && decodeRow(decodeCreated(created), stored)
  }

  /** Returns the generation of the row with this key. */
  createdOf(key: Uint8Array): number | undefined {
    const created = this.#keys.get(key)
    return created && decodeCreated(created)
  }

  *scan(list: ListName, options: ScanOptions = {}): Iterable<Row> {
    for (const created of this.places(list, options)) {
      const stored = this.#rows.get(encodeCreated(created))
      // A row is missing if a commit removed it during the iteration. This is possible only if the consumer
      // held the iterator across an await.
      if (stored) yield decodeRow(created, stored)
    }
  }

  *places(list: ListName, options: ScanOptions = {}): Iterable<number> {
    const { offset = 0, after = -1 } = options
    // A table skips entries without checking the end of the range. With an offset beyond the end of a short
    // list, it would walk through the lists that follow.
    const size = this.count(list)
    if (size > 0 && offset >= size) return
    const range = { start: listKey(list, after + 1), end: listEnd(list), offset }
    for (const { key } of this.#lists.range(range)) yield decodeCreated(key, list.length)
  }

  count(list: ListName): number {
    const stored = this.#counts.get(list)
    return stored ? decodeUint48(stored) : 0
  }

  /** Returns the next rows in creation order, in one batch of bounded size. O(rows returned). */
  rows(options: RowsOptions): Row[] {
    const { after, before, countMax } = options
    const batch: Row[] = []
    const range = {
      start: encodeCreated(after + 1),
      ...(before !== undefined && { end: encodeCreated(before) }),
    }
    for (const { key, value } of this.#rows.range(range)) {
      batch.push(decodeRow(decodeCreated(key), value))
      if (batch.length === countMax) break
    }
    return batch
  }

  *batches(): Iterable<Row[]> {
    const before = (this.sequence() + 1) * CREATED_PER_COMMIT
    let after = -1
    for (;;) {
      const batch = this.rows({ after, before, countMax: BATCH_ROWS })
      if (batch.length === 0) return
      after = batch.at(-1)!.created
      yield batch
    }
  }

  *beginningWith(prefix: Uint8Array): Iterable<Row> {
    const end = endOfPrefix(prefix)
    for (const { value } of this.#keys.range({ start: prefix, ...(end && { end }) })) {
      const stored = this.#rows.get(value)
      if (stored) yield decodeRow(decodeCreated(value), stored)
    }
  }

  snapshot(): ViewSnapshot {
    const { table, release } = this.#tables.snapshot()
    // The view of a snapshot is itself a snapshot. It is released with the outer one.
    const snapshot = () => ({ table, release: () => {} })
    return { view: new TableView({ table, snapshot }, this.#listRule), release }
  }

  /** Sets the sequence of the view. Allowed only inside `Tables.write`. */
  setSequence(sequence: number): void {
    this.#meta.put(SEQUENCE, encodeUint48(sequence))
  }

  /**
   * Applies a commit and sets the sequence of the view to that of the commit. Must be called inside
   * `Tables.write`. Older commits can be applied again if all later ones up to the newest are also applied
   * again. O(rows × lists per row).
   */
  apply(entry: LogEntry): void {
    const changes = new ListChanges(list => this.count(list))
    for (const key of entry.delete) {
      const row = this.get(key)
      if (row) this.#remove(row, changes)
    }
    for (const row of entry.put) this.#put(row, changes)
    for (const left of changes.unrepresented()) this.#represent(left, changes)
    for (const { list, count } of changes.all()) this.#setCount(list, count)
    this.setSequence(entry.revision.sequence)
  }

  #put(row: Row, changes: ListChanges): void {
    const stored = this.get(row.key)
    const isSameRow = stored?.created === row.created
    if (stored && !isSameRow) this.#remove(stored, changes)
    const lists = this.#listRule(row)
    const former = stored && isSameRow ? this.#listRule(stored) : []
    // After most overwrites, the row is still in the same lists. The entries in these lists are not changed.
    const leaving = new Map(former.map(entry => [textOf(entry.list), entry]))
    for (const entry of lists) {
      if (!leaving.delete(textOf(entry.list))) this.#enter(entry, row.created, changes)
    }
    for (const entry of leaving.values()) this.#leave(entry, row.created, changes)

    const created = encodeCreated(row.created)
    this.#rows.put(created, encodeRow(row))
    if (!isSameRow) this.#keys.put(row.key, created)
  }

  #remove(row: Row, changes: ListChanges): void {
    for (const entry of this.#listRule(row)) this.#leave(entry, row.created, changes)
    this.#rows.remove(encodeCreated(row.created))
    this.#keys.remove(row.key)
  }

  /** Adds the row to a list, and updates the counts and entries that depend on the list. O(log n). */
  #enter(entry: ListEntry, created: number, changes: ListChanges): void {
    const { list, counted, representedIn, within, displaces, unless } = entry
    if (unless && changes.countOf(unless) > 0) return
    if (representedIn && !changes.isUnrepresented(list)) {
      // The count of the list `within` already includes this row, because the entry of that list precedes
      // this entry.
      const isAlone = within !== undefined && changes.countOf(within) === 1
      const first = isAlone ? undefined : this.#first(list)
      if (first === undefined || created < first) {
        if (first !== undefined) this.#unlist(representedIn, first, changes)
        this.#enlist(representedIn, created, changes)
      }
    }
    if (displaces && changes.countOf(list) === 0) {
      const owner = this.#first(displaces.owner)
      if (owner !== undefined) this.#unlist(displaces.from, owner, changes)
    }
    this.#lists.put(listKey(list, created), NOTHING)
    if (counted) changes.add(list, 1)
  }

  /** Removes the row from a list, and updates the counts and entries that depend on the list. O(log n). */
  #leave(entry: ListEntry, created: number, changes: ListChanges): void {
    const { list, counted, representedIn, within, displaces, unless } = entry
    if (unless && changes.countOf(unless) > 0) return
    this.#lists.remove(listKey(list, created))
    if (counted) changes.add(list, -1)
    // A lookup by key is cheap. Finding the first row of the list would need a cursor.
    if (representedIn && this.#lists.get(listKey(representedIn, created))) {
      this.#unlist(representedIn, created, changes)
      changes.leaveUnrepresented({ list, representedIn, within })
    }
    if (displaces && changes.countOf(list) === 0) {
      const owner = this.#first(displaces.owner)
      if (owner !== undefined) this.#enlist(displaces.from, owner, changes)
    }
  }

  /** Makes the oldest remaining row represent the list. O(log n). */
  #represent({ list, representedIn, within }: Unrepresented, changes: ListChanges): void {
    if (within && changes.countOf(within) === 0) return
    const first = this.#first(list)
    if (first !== undefined) this.#enlist(representedIn, first, changes)
  }

  #enlist(list: ListName, created: number, changes: ListChanges): void {
    this.#lists.put(listKey(list, created), NOTHING)
    changes.add(list, 1)
  }

  #unlist(list: ListName, created: number, changes: ListChanges): void {
    this.#lists.remove(listKey(list, created))
    changes.add(list, -1)
  }

  /** `created` of the oldest row of a list. */
  #first(list: ListName): number | undefined {
    for (const { key } of this.#lists.range({ start: listKey(list, 0), end: listEnd(list) })) {
      return decodeCreated(key, list.length)
    }
    return undefined
  }

  #setCount(list: ListName, count: number): void {
    assert(count >= 0, 'a list has fewer rows than were removed from it')
    if (count === 0) this.#counts.remove(list)
    else this.#counts.put(list, encodeUint48(count))
  }
}

const NOTHING = new Uint8Array(0)

function listKey(list: ListName, created: number): Uint8Array {
  const key = Buffer.allocUnsafe(list.length + CREATED_BYTES)
  key.set(list)
  writeCreated(key, created, list.length)
  return key
}

/**
 * Returns a key that is greater than the key of every entry of the list, because `created` stays below 2^53.
 */
function listEnd(list: ListName): Uint8Array {
  const key = Buffer.alloc(list.length + CREATED_BYTES, 0xff)
  key.set(list)
  return key
}

/** Returns the first key after all keys with this prefix, or null if no key can follow them. */
function endOfPrefix(prefix: Uint8Array): Uint8Array | null {
  const last = prefix.findLastIndex(byte => byte < 0xff)
  if (last < 0) return null
  const end = prefix.slice(0, last + 1)
  end[last]! += 1
  return end
}

/** A list whose representative was removed by the current commit. */
interface Unrepresented {
  readonly list: ListName
  readonly representedIn: ListName
  readonly within: ListName | undefined
}

interface ListCount {
  readonly list: ListName
  readonly before: number
  count: number
}

/**
 * Changes of a commit to lists as a whole. Counts are accumulated, so that each is read and written once per
 * commit. If a list lost its oldest row, its new representative is determined at the end, after all rows of
 * the commit were removed.
 */
class ListChanges {
  readonly #byName = new Map<string, ListCount>()
  readonly #unrepresented = new Map<string, Unrepresented>()
  readonly #storedCount: (list: ListName) => number

  constructor(storedCount: (list: ListName) => number) {
    this.#storedCount = storedCount
  }

  add(list: ListName, by: 1 | -1): void {
    this.#of(list).count += by
  }

  /** Returns the number of rows in a counted list, including the changes of the commit so far. */
  countOf(list: ListName): number {
    return this.#of(list).count
  }

  /** Notes that the row that represented the list is gone. */
  leaveUnrepresented(left: Unrepresented): void {
    this.#unrepresented.set(textOf(left.list), left)
  }

  isUnrepresented(list: ListName): boolean {
    return this.#unrepresented.size > 0 && this.#unrepresented.has(textOf(list))
  }

  /** Returns the lists that no row represents any more, whether or not they have remaining rows. */
  unrepresented(): Iterable<Unrepresented> {
    return this.#unrepresented.values()
  }

  /** Yields the counts that differ from the stored ones. */
  *all(): Iterable<ListCount> {
    for (const known of this.#byName.values()) if (known.count !== known.before) yield known
  }

  #of(list: ListName): ListCount {
    const name = textOf(list)
    let known = this.#byName.get(name)
    if (!known) {
      const before = this.#storedCount(list)
      known = { list, before, count: before }
      this.#byName.set(name, known)
    }
    return known
  }
}
