/**
 * Fills empty tables with the rows of a whole environment, in order and with their secondary indexes, as if
 * one commit had written them. Each step blocks its thread for long: run it in a dedicated thread, and before
 * other code reads the tables.
 */
import { CREATED_PER_COMMIT, TableView } from '#store/embedded/table-view.ts'
import { visitFactLists } from '#store/keyspace/fact-list-membership.ts'
import type { RowPut } from '#store/ledger.ts'
import type { Tables } from '#store/tables.ts'
import type { ListRule } from '#store/view.ts'
import { ListBuild } from './list-build.ts'
import { RowLoad } from './row-load.ts'

/** Version of all rows: that of the first commit of the epoch. */
const VERSION = 1

/** Options for a build in a dedicated thread. It can use about 300 MB of memory. */
const LIST_BUILD = { visitLists: visitFactLists, orderedEntries: 4_000_000 }

export class FreshRows {
  readonly #tables: Tables
  readonly #view: TableView
  readonly #load = new RowLoad()
  readonly #lists: ListBuild

  constructor(tables: Tables, listRule: ListRule) {
    this.#tables = tables
    this.#view = new TableView(tables, listRule)
    this.#lists = new ListBuild(tables, this.#view, listRule, LIST_BUILD)
  }

  /** Adds the next row, in creation order. */
  add({ key, value }: RowPut): void {
    const row = { key, value, version: VERSION, created: CREATED_PER_COMMIT + this.#load.count }
    this.#load.add(row)
    this.#lists.take(row)
  }

  /**
   * Writes the collected entries if there are many. Call this method regularly between rows and await it.
   * Throws the reason of the signal if it is aborted.
   */
  makeRoom(signal: AbortSignal): Promise<void> {
    return this.#lists.makeRoom(signal)
  }

  /**
   * Resolves when rows, lists and counts are durable. If two rows have the same key, resolves with the number
   * of the second one, counted from 0.
   */
  async write(signal: AbortSignal): Promise<{ readonly repeated: number | null }> {
    await this.#load.write(this.#tables)
    const { repeated, count } = this.#load
    if (repeated !== null) return { repeated: repeated - CREATED_PER_COMMIT }
    // Each commit has a limited range of `created` values. The sequence is that of the last commit whose
    // range these rows use.
    const sequence = Math.max(VERSION, Math.ceil(count / CREATED_PER_COMMIT))
    await this.#tables.write(() => this.#view.setSequence(sequence))
    await this.#lists.finish(signal)
    return { repeated: null }
  }
}
