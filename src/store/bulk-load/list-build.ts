/**
 * Builds the lists (secondary indexes) and counts of a view that contains only rows. It creates the entries
 * of many rows at a time and writes them in order (`ordered-write.ts`). If an entry depends on a whole list,
 * it is written after the lists are complete.
 *
 * Lists whose names begin with the same byte must be of the same kind: either all or none of these lists are
 * counted, and either all or none of them have a first row that represents the other rows.
 *
 * Each step blocks its thread for long: run it in a dedicated thread.
 */
import { assert } from '#model/assert.ts'
import { writeInOrder } from '#store/embedded/ordered-write.ts'
import type { TableView } from '#store/embedded/table-view.ts'
import { PackedItems } from '#store/keyspace/packed-items.ts'
import { textOf } from '#model/text/byte-text.ts'
import {
  CREATED_BYTES,
  decodeCreated,
  decodeRow,
  decodeUint48,
  encodeCreated,
  encodeUint48,
  writeCreated,
} from '#store/keyspace/row-codec.ts'
import type { Row } from '#store/ledger.ts'
import { putLast, type Table, type Tables } from '#store/tables.ts'
import type { ListEntry, ListName, ListRule } from '#store/view.ts'
import { buildKeys } from './key-build.ts'

/** Number of entries that are sorted at a time. They take about 50 MB. */
const ORDERED_ENTRIES = 1_000_000
const NOTHING = new Uint8Array(0)

interface ListKind {
  readonly isCounted: boolean
  readonly isRepresented: boolean
}

/**
 * Visits the lists that the rule returns for a row, without decoding the row. It omits the relations of these
 * lists to other lists. Returns false for a row that it cannot read.
 */
export type VisitLists = (
  row: Row,
  visit: (name: ListName, isCounted: boolean, isRepresented: boolean) => void,
) => boolean

export interface ListBuildOptions {
  readonly visitLists?: VisitLists | null
  /**
   * Number of entries that are sorted at a time. Each takes 80 bytes of memory. With a larger number, fewer
   * pages of the tree are written twice.
   */
  readonly orderedEntries?: number
}

/**
 * Builds the missing parts of a view that contains only rows. Throws the reason of the signal if it is
 * aborted.
 */
export async function buildKeysAndLists(
  tables: Tables,
  view: TableView,
  listRule: ListRule,
  signal: AbortSignal,
): Promise<void> {
  await buildKeys(tables, view, signal)
  await new ListBuild(tables, view, listRule).run(signal)
}

export class ListBuild {
  readonly #tables: Tables
  readonly #view: TableView
  readonly #listRule: ListRule
  readonly #visitLists: VisitLists | null
  readonly #orderedEntries: number
  readonly #lists: Table
  readonly #counts: Table
  #isPrepared = false
  /** Whether the lists have no entries yet. */
  #isEmpty = false
  /** `created` of each row that is the first row of a list and represents this list in another list. */
  readonly #firstRows: number[] = []
  readonly #kinds = new Map<number, ListKind>()
  #entries = new PackedItems()
  /** Buffers for an entry, by the length of the name of its list. */
  readonly #entryBytes: Buffer[] = []
  /** `created` of each row that has an entry which depends on a whole list. */
  readonly #conditional: number[] = []

  /**
   * The view must not change until the build is complete. `visitLists` must return false for rows that have
   * entries with `unless`.
   */
  constructor(
    tables: Tables,
    view: TableView,
    listRule: ListRule,
    { visitLists = null, orderedEntries = ORDERED_ENTRIES }: ListBuildOptions = {},
  ) {
    this.#visitLists = visitLists
    this.#orderedEntries = orderedEntries
    this.#tables = tables
    this.#view = view
    this.#listRule = listRule
    this.#lists = tables.table('lists')
    this.#counts = tables.table('counts')
  }

  /**
   * Builds the lists of all rows in the view. If an earlier build of the same rows was interrupted, the
   * result includes the entries that it wrote. If the signal is aborted, throws its reason, and the lists
   * must not be used.
   */
  async run(signal: AbortSignal): Promise<void> {
    for (const rows of this.#view.batches()) {
      for (const row of rows) this.take(row)
      await this.makeRoom(signal)
    }
    await this.finish(signal)
  }

  /** Adds the next row, in creation order. */
  take(row: Row): void {
    const isVisited = this.#visitLists?.(row, (name, isCounted, isRepresented) => {
      this.#noteKind(name, isCounted, isRepresented)
      this.#add(name, row.created)
    })
    if (isVisited) return
    const entries = this.#listRule(row)
    if (entries.some(entry => entry.unless)) this.#conditional.push(row.created)
    for (const entry of entries) {
      this.#note(entry)
      if (!entry.unless) this.#add(entry.list, row.created)
    }
  }

  /** Writes the collected entries if the batch is full. */
  async makeRoom(signal: AbortSignal): Promise<void> {
    if (this.#entries.count >= this.#orderedEntries) await this.#flush(signal)
  }

  /** Completes the build. Must be called after all rows were added and are in their table. */
  async finish(signal: AbortSignal): Promise<void> {
    await this.#flush(signal)
    // One row can be the first of several lists.
    for (const created of new Set(this.#firstRows)) this.#addRepresentative(created)
    await this.#flush(signal)
    for (const created of this.#conditional) this.#addConditional(created)
    await this.#flush(signal)
  }

  /**
   * Determines whether the lists already have entries, and removes the counts that an interrupted build
   * wrote.
   */
  async #prepare(signal: AbortSignal): Promise<void> {
    this.#isPrepared = true
    this.#isEmpty = isEmpty(this.#lists)
    const left: Uint8Array[] = []
    for (const { key } of this.#counts.range({ start: NOTHING })) left.push(key)
    await writeInOrder(this.#tables, left, key => this.#counts.remove(key), signal)
  }

  #addRepresentative(created: number): void {
    for (const { list, representedIn } of this.#entriesOf(created)) {
      if (!representedIn || this.#first(list) !== created) continue
      this.#note({ list: representedIn, counted: true })
      this.#add(representedIn, created)
    }
  }

  #addConditional(created: number): void {
    for (const { list, unless } of this.#entriesOf(created)) {
      if (unless && this.#first(unless) === undefined) this.#add(list, created)
    }
  }

  #add(list: ListName, created: number): void {
    const bytes = (this.#entryBytes[list.length] ??= Buffer.alloc(list.length + CREATED_BYTES))
    for (let at = 0; at < list.length; at += 1) bytes[at] = list[at]!
    writeCreated(bytes, created, list.length)
    // `add` copies the bytes.
    this.#entries.add({ bytes, keyStart: 0, keyEnd: bytes.length, rank: created })
  }

  #first(list: ListName): number | undefined {
    for (const { key } of this.#lists.range({ start: list, end: afterList(list) })) {
      return decodeCreated(key, list.length)
    }
    return undefined
  }

  #entriesOf(created: number): readonly ListEntry[] {
    const stored = this.#tables.table('rows').get(encodeCreated(created))
    assert(stored, 'the row of a list entry exists')
    return this.#listRule(decodeRow(created, stored))
  }

  #note({ list, counted, representedIn }: ListEntry): void {
    this.#noteKind(list, counted, representedIn !== undefined)
  }

  #noteKind(list: ListName, isCounted: boolean, isRepresented: boolean): void {
    const kind = this.#kinds.get(list[0]!)
    if (!kind) {
      this.#kinds.set(list[0]!, { isCounted, isRepresented })
    } else {
      const isAlike = kind.isCounted === isCounted && kind.isRepresented === isRepresented
      assert(isAlike, () => `lists like ${textOf(list)} have rows of several kinds`)
    }
  }

  /**
   * Writes the entries that were collected since the last call. Rows arrive in creation order. Therefore an
   * entry is the first of its list if neither the batch nor the table has an earlier one.
   */
  async #flush(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (!this.#isPrepared) await this.#prepare(signal)
    const [entries, tables] = [this.#entries, this.#tables]
    if (entries.count === 0) return
    this.#entries = new PackedItems()
    const order = entries.byKey()
    const [lists, counts] = [this.#lists, this.#counts]
    const areFirst = this.#isEmpty
    this.#isEmpty = false
    let size = 0
    const put = (at: number): void => {
      const index = order[at]!
      const key = entries.key(index)
      const { isCounted, isRepresented } = this.#kinds.get(key[0]!)!
      size += 1
      if (isRepresented && size === 1) {
        const created = entries.rank(index)
        const first = areFirst ? undefined : this.#first(nameIn(key))
        if (first === undefined || first >= created) this.#firstRows.push(created)
      }
      if (areFirst) putLast(lists, key, NOTHING)
      else lists.put(key, NOTHING)
      const isLast = at + 1 === order.length || !entries.haveSameKey(index, order[at + 1]!, CREATED_BYTES)
      if (!isLast) return
      if (isCounted) {
        const name = nameIn(key)
        if (areFirst) putLast(counts, name, encodeUint48(size))
        else counts.put(name, encodeUint48(size + countIn(counts, name)))
      }
      size = 0
    }
    await writeInOrder(tables, order.keys(), put, signal)
  }
}

/** Returns the name of the list of an entry. The name shares memory with the entry. */
function nameIn(entry: Uint8Array): ListName {
  return entry.subarray(0, entry.length - CREATED_BYTES)
}

function countIn(counts: Table, name: ListName): number {
  const stored = counts.get(name)
  return stored ? decodeUint48(stored) : 0
}

function isEmpty(table: Table): boolean {
  for (const _ of table.range({ start: NOTHING })) return false
  return true
}

/**
 * Returns a key that is greater than the key of every entry of the list, because `created` stays below 2^53.
 */
function afterList(list: ListName): Uint8Array {
  return Buffer.concat([list, Buffer.alloc(CREATED_BYTES, 0xff)])
}
