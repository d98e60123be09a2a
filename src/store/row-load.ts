/**
 * Rows on their way into an empty view, collected first and then written in order. A tree that is filled in order is written
 * once; one that is filled at random is written over and over, at a tenth of the speed and falling.
 */
import type { Row } from './ledger.ts'
import { PackedItems } from './packed-items.ts'
import { CREATED_BYTES, encodeCreated, encodeRow } from './row-codec.ts'
import type { Tables } from './tables.ts'

/** Rows put in one write: some 30 ms, so that others get their turn. */
const WRITE_ROWS = 10_000
const KEY_START = 2

export class RowLoad {
  /** The row as it will be stored, and its `created` behind it. */
  readonly #items = new PackedItems()

  add(row: Row): void {
    this.#items.add(Buffer.concat([encodeRow(row), encodeCreated(row.created)]))
  }

  /** How many have come, those that came twice included. */
  get count(): number {
    return this.#items.count
  }

  /**
   * Writes the rows into tables that have none. Of rows with one key only the newest generation counts, and of that what came
   * last: whatever else was seen is out of date by now.
   */
  async write(tables: Tables): Promise<void> {
    const [rows, keys] = [tables.table('rows'), tables.table('keys')]
    const byKey = this.#newest(this.#items.order(item => keyOf(item)))
    await this.#each(tables, byKey, item => keys.put(keyOf(item), createdOf(item)))
    const isNewest = new Uint8Array(this.#items.count)
    for (const index of byKey) isNewest[index] = 1
    const byCreated = this.#items.order(createdOf).filter(index => isNewest[index] === 1)
    await this.#each(tables, byCreated, item => rows.put(createdOf(item), item.subarray(0, -CREATED_BYTES)))
  }

  async #each(tables: Tables, order: Uint32Array, put: (item: Uint8Array) => void): Promise<void> {
    for (let from = 0; from < order.length; from += WRITE_ROWS) {
      await tables.write(() => {
        for (const index of order.subarray(from, from + WRITE_ROWS)) put(this.#items.at(index))
      })
    }
  }

  /** Keeps one item a key. */
  #newest(byKey: Uint32Array): Uint32Array {
    let kept = 0
    for (let at = 0; at < byKey.length; at += 1) {
      const index = byKey[at]!
      const former = kept === 0 ? null : byKey[kept - 1]!
      const isSameKey =
        former !== null && Buffer.compare(keyOf(this.#items.at(former)), keyOf(this.#items.at(index))) === 0
      if (!isSameKey) byKey[kept++] = index
      else if (this.#isNewer(index, former)) byKey[kept - 1] = index
    }
    return byKey.subarray(0, kept)
  }

  #isNewer(index: number, former: number): boolean {
    return Buffer.compare(createdOf(this.#items.at(index)), createdOf(this.#items.at(former))) >= 0
  }
}

function keyOf(item: Uint8Array): Uint8Array {
  return item.subarray(KEY_START, KEY_START + item[0]! * 256 + item[1]!)
}

function createdOf(item: Uint8Array): Uint8Array {
  return item.subarray(-CREATED_BYTES)
}
