/**
 * Builds the lists and counts of a view that has its rows and nothing else. The entries are made for many rows at a time
 * and written in order (`ordered-write.ts`). What depends on a whole list follows when the lists are there.
 *
 * Lists whose names begin with the same byte are assumed to be alike: all counted or none, all with a first row that stands
 * for the others or none.
 *
 * Its steps are long: run it in a thread that has nothing else to do.
 */
import { assert } from '#model/assert.ts'
import { writeInOrder } from '#store/embedded/ordered-write.ts'
import type { TableView } from '#store/embedded/table-view.ts'
import { PackedItems } from '#store/keyspace/packed-items.ts'
import { textOf } from '#model/byte-text.ts'
import {
  CREATED_BYTES,
  decodeCreated,
  decodeRow,
  encodeCreated,
  encodeUint48,
  writeCreated,
} from '#store/keyspace/row-codec.ts'
import type { Row } from '#store/ledger.ts'
import type { Table, Tables } from '#store/tables.ts'
import type { ListEntry, ListName, ListRule } from '#store/view.ts'
import { buildKeys } from './key-build.ts'

/** Entries ordered at a time: some 50 MB of them. */
const ORDERED_ENTRIES = 1_000_000
/** Counts in one write. */
const WRITE_COUNTS = 10_000
const NOTHING = new Uint8Array(0)

interface ListKind {
  readonly isCounted: boolean
  readonly isRepresented: boolean
}

/**
 * Visits the lists of a row without decoding it: the lists that the rule names, without their relations to other lists.
 * False for a row that it cannot read.
 */
export type VisitLists = (
  row: Row,
  visit: (name: ListName, isCounted: boolean, isRepresented: boolean) => void,
) => boolean

export interface ListBuildOptions {
  readonly visitLists?: VisitLists | null
  /** Entries ordered at a time, 80 bytes each. The larger, the less of the tree is written twice. */
  readonly orderedEntries?: number
}

/** Builds what a view lacks that has only its rows. Throws the signal's reason when the signal is given. */
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
  readonly #kinds = new Map<number, ListKind>()
  #entries = new PackedItems()
  /** Buffers for an entry, by the length of its list's name. */
  readonly #entryBytes: Buffer[] = []
  #signal: AbortSignal | null = null

  /** The view must not change until it is done. `visitLists` is for rows without `unless`. */
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
  }

  /**
   * An earlier build of the same rows may have been cut short: what it left is part of what this one makes. Throws the
   * signal's reason when the signal is given; the lists are of no use then.
   */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    const conditional: number[] = []
    for (const rows of this.#view.batches()) {
      for (const row of rows) {
        if (
          this.#visitLists?.(row, (name, isCounted, isRepresented) => {
            this.#noteKind(name, isCounted, isRepresented)
            this.#add(name, row.created)
          })
        )
          continue
        const entries = this.#listRule(row)
        if (entries.some(entry => entry.unless)) conditional.push(row.created)
        for (const entry of entries) {
          this.#note(entry)
          if (!entry.unless) this.#add(entry.list, row.created)
        }
      }
      if (this.#entries.count >= this.#orderedEntries) await this.#flush()
    }
    await this.#flush()
    for (const created of this.#firstRows()) this.#addRepresentative(created)
    await this.#flush()
    for (const created of conditional) this.#addConditional(created)
    await this.#flush()
    await this.#count()
  }

  /** The rows that stand for one of their lists. */
  #firstRows(): number[] {
    const firsts: number[] = []
    for (const [byte, { isRepresented }] of this.#kinds) {
      if (!isRepresented) continue
      for (const { created, size } of this.#groups(byte)) if (size === 1) firsts.push(created)
    }
    return firsts
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

  async #count(): Promise<void> {
    const counts = this.#tables.table('counts')
    let pending: { readonly name: Uint8Array; readonly size: number }[] = []
    const flush = async (): Promise<void> => {
      const written = pending
      pending = []
      await this.#tables.write(() => {
        for (const { name, size } of written) counts.put(name, encodeUint48(size))
      })
    }
    for (const byte of [...this.#kinds.keys()].toSorted((one, other) => one - other)) {
      if (!this.#kinds.get(byte)!.isCounted) continue
      for (const { name, size, isLast } of this.#groups(byte)) {
        if (isLast) pending.push({ name, size })
        if (pending.length === WRITE_COUNTS) await flush()
      }
    }
    await flush()
  }

  /** The entries of the lists whose names begin with that byte, in order, each with its number in its list. */
  *#groups(byte: number): Iterable<{
    readonly name: Uint8Array
    readonly created: number
    readonly size: number
    /** Whether the next entry, if any, belongs to another list. */
    readonly isLast: boolean
  }> {
    let present: { readonly name: Uint8Array; readonly created: number; readonly size: number } | null = null
    const end = byte === 255 ? {} : { end: Uint8Array.of(byte + 1) }
    for (const { key } of this.#lists.range({ start: Uint8Array.of(byte), ...end })) {
      const name = key.subarray(0, -CREATED_BYTES)
      const created = decodeCreated(key, key.length - CREATED_BYTES)
      const isSame: boolean = present !== null && Buffer.compare(present.name, name) === 0
      if (present) yield { ...present, isLast: !isSame }
      present = { name, created, size: isSame ? present!.size + 1 : 1 }
    }
    if (present) yield { ...present, isLast: true }
  }

  #add(list: ListName, created: number): void {
    const bytes = (this.#entryBytes[list.length] ??= Buffer.alloc(list.length + CREATED_BYTES))
    bytes.set(list)
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
    assert(stored, 'a row that a list names is there')
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
      assert(isAlike, () => `lists like ${textOf(list)} are not all of one kind`)
    }
  }

  async #flush(): Promise<void> {
    const [entries, tables] = [this.#entries, this.#tables]
    this.#entries = new PackedItems()
    const put = (index: number) => this.#lists.put(entries.key(index), NOTHING)
    await writeInOrder(tables, entries.byKey(), put, this.#signal)
  }
}

/** A name after every entry of the list: `created` stays below 2^53. */
function afterList(list: ListName): Uint8Array {
  return Buffer.concat([list, Buffer.alloc(CREATED_BYTES, 0xff)])
}
