/** Collects rows for an empty view in memory, and then writes them in order. */
import { writeInOrder } from '#store/embedded/ordered-write.ts'
import { PackedItems } from '#store/keyspace/packed-items.ts'
import { encodeCreated, encodeRow, ROW_KEY_START } from '#store/keyspace/row-codec.ts'
import type { Row } from '#store/ledger.ts'
import { putLast, type Tables } from '#store/tables.ts'

export class RowLoad {
  /** Rows in their stored form; the rank of a row is `created`. */
  readonly #items = new PackedItems()

  add(row: Row): void {
    const keyEnd = ROW_KEY_START + row.key.length
    this.#items.add({ bytes: encodeRow(row), keyStart: ROW_KEY_START, keyEnd, rank: row.created })
  }

  /** After a write: the rank of the first row whose key had occurred before; null if there is none. */
  repeated: number | null = null

  /** Number of rows that were added, including repeated ones. */
  get count(): number {
    return this.#items.count
  }

  /**
   * Writes the rows to empty tables. If several rows have the same key, it writes only one: the row of the
   * newest generation or, within that generation, the row that was added last.
   */
  async write(tables: Tables): Promise<void> {
    const items = this.#items
    const [rows, keys] = [tables.table('rows'), tables.table('keys')]
    const byKey = this.#newest(items.byKey())
    await writeInOrder(tables, byKey, index =>
      putLast(keys, items.key(index), encodeCreated(items.rank(index))),
    )
    const isNewest = new Uint8Array(items.count)
    for (const index of byKey) isNewest[index] = 1
    const byCreated = items.byRank().filter(index => isNewest[index] === 1)
    await writeInOrder(tables, byCreated, index =>
      putLast(rows, encodeCreated(items.rank(index)), items.bytes(index)),
    )
  }

  /** Keeps only the last of the rows with the same key. Changes `byKey` in place. */
  #newest(byKey: Uint32Array): Uint32Array {
    let kept = 0
    for (let at = 0; at < byKey.length; at += 1) {
      const isLast = at + 1 === byKey.length || !this.#items.haveSameKey(byKey[at]!, byKey[at + 1]!)
      if (isLast) byKey[kept++] = byKey[at]!
      else this.repeated ??= this.#items.rank(byKey[at + 1]!)
    }
    return byKey.subarray(0, kept)
  }
}
