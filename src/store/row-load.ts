/**
 * Rows on their way into an empty view, collected first and then written in order. A tree that is filled in order is written
 * once; one that is filled at random is written over and over, at a tenth of the speed and falling.
 */
import type { Row } from './ledger.ts'
import { PackedItems } from './packed-items.ts'
import { encodeCreated, encodeRow, ROW_KEY_START } from './row-codec.ts'
import type { Tables } from './tables.ts'

/** Rows put in one write: some 30 ms, so that others get their turn. */
const WRITE_ROWS = 10_000
/** Writes on their way to the disk while the next is being made: waiting for each costs more time than making it. */
const WRITES_UNDER_WAY_MAX = 4

export class RowLoad {
  /** Rows as they will be stored; their rank is `created`. */
  readonly #items = new PackedItems()

  add(row: Row): void {
    const keyEnd = ROW_KEY_START + row.key.length
    this.#items.add({ bytes: encodeRow(row), keyStart: ROW_KEY_START, keyEnd, rank: row.created })
  }

  /** After a write: the rank of a row whose key had come before, null when none had. */
  repeated: number | null = null

  /** How many have come, those that came twice included. */
  get count(): number {
    return this.#items.count
  }

  /**
   * Writes the rows into tables that have none. Of rows with one key only the newest generation counts, and of that what came
   * last: whatever else was seen is out of date by now.
   */
  async write(tables: Tables): Promise<void> {
    const items = this.#items
    const [rows, keys] = [tables.table('rows'), tables.table('keys')]
    const byKey = this.#newest(items.byKey())
    await write(tables, byKey, index => keys.put(items.key(index), encodeCreated(items.rank(index))))
    const isNewest = new Uint8Array(items.count)
    for (const index of byKey) isNewest[index] = 1
    const byCreated = items.byRank().filter(index => isNewest[index] === 1)
    await write(tables, byCreated, index => rows.put(encodeCreated(items.rank(index)), items.bytes(index)))
  }

  /** Of those with one key the last one, in place. */
  #newest(byKey: Uint32Array): Uint32Array {
    let kept = 0
    for (let at = 0; at < byKey.length; at += 1) {
      const isLast = at + 1 === byKey.length || !this.#items.hasSameKey(byKey[at]!, byKey[at + 1]!)
      if (isLast) byKey[kept++] = byKey[at]!
      else this.repeated ??= this.#items.rank(byKey[at + 1]!)
    }
    return byKey.subarray(0, kept)
  }
}

async function write(tables: Tables, order: Uint32Array, put: (index: number) => void): Promise<void> {
  const underWay: Promise<void>[] = []
  for (let from = 0; from < order.length; from += WRITE_ROWS) {
    const next = tables.write(() => {
      for (const index of order.subarray(from, from + WRITE_ROWS)) put(index)
    })
    // It is waited for below; it may fail before.
    next.catch(() => undefined)
    underWay.push(next)
    if (underWay.length > WRITES_UNDER_WAY_MAX) await underWay.shift()
  }
  await Promise.all(underWay)
}
