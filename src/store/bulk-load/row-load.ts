/** Rows on their way into an empty view, collected in memory and then written in order. */
import { writeInOrder } from '#store/embedded/ordered-write.ts'
import { PackedItems } from '#store/keyspace/packed-items.ts'
import { encodeCreated, encodeRow, ROW_KEY_START } from '#store/keyspace/row-codec.ts'
import type { Row } from '#store/ledger.ts'
import { putLast, type Tables } from '#store/tables.ts'

export class RowLoad {
  /** Rows as they will be stored; their rank is `created`. */
  readonly #items = new PackedItems()

  add(row: Row): void {
    const keyEnd = ROW_KEY_START + row.key.length
    this.#items.add({ bytes: encodeRow(row), keyStart: ROW_KEY_START, keyEnd, rank: row.created })
  }

  /** After a write: the rank of a row whose key had come before, null when none had. */
  repeated: number | null = null

  /** The number of rows that came, repeated ones included. */
  get count(): number {
    return this.#items.count
  }

  /**
   * Writes the rows into empty tables. Of rows with the same key only the newest generation counts, and of that the row
   * that came last: the others are out of date.
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

  /** Of rows with the same key keeps the last one, in place. */
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
