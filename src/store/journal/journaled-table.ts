/** Interface of one journaled table for readers and writers. */
import { assert } from '#model/assert.ts'
import { TABLE_KEY_BYTES_MAX, type RangeOptions, type Table, type TableEntry } from '#store/tables.ts'
import type { Layer, LayeredTable } from './layered-table.ts'

export interface TableHooks {
  /** Layers over the stored table. Throws if the tables are closed. */
  readonly layers: () => readonly Layer[]
  /** Writes a change. Throws outside of a write. */
  readonly change: (key: Uint8Array, value: Uint8Array | null) => void
}

export class JournaledTable implements Table {
  readonly #layered: LayeredTable
  readonly #hooks: TableHooks

  constructor(layered: LayeredTable, hooks: TableHooks) {
    this.#layered = layered
    this.#hooks = hooks
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#layered.get(this.#hooks.layers(), key)
  }

  *range(options: RangeOptions): Iterable<TableEntry> {
    for (const entry of this.#layered.range(this.#hooks.layers(), options)) {
      yield entry
      this.#hooks.layers()
    }
  }

  put(key: Uint8Array, value: Uint8Array): void {
    assert(key.length >= 1 && key.length <= TABLE_KEY_BYTES_MAX, () => `a key of ${key.length} bytes`)
    this.#hooks.change(key, value)
  }

  remove(key: Uint8Array): void {
    assert(key.length >= 1 && key.length <= TABLE_KEY_BYTES_MAX, () => `a key of ${key.length} bytes`)
    this.#hooks.change(key, null)
  }
}
