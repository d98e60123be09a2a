/**
 * One table as a combination of memtables and the stored table. The newest memtable that contains a key
 * determines its value.
 */
import type { RangeOptions, Table, TableEntry } from '#store/tables.ts'
import type { Memtable } from './memtable.ts'

/** The first `upTo` changes of a memtable. */
export interface Layer {
  readonly memtable: Memtable
  readonly upTo: number
}

type LayerEntry = [key: Uint8Array, value: Uint8Array | null]

/**
 * Numbers of changes that are read at a time. The first read is small, because most readers need one entry.
 */
const SOME_MIN = 2
const SOME_MAX = 256

export class LayeredTable {
  readonly #number: number
  readonly #stored: Pick<Table, 'get' | 'range'>

  /** `number` is the number of the table in the memtables. */
  constructor(number: number, stored: Pick<Table, 'get' | 'range'>) {
    this.#number = number
    this.#stored = stored
  }

  /**
   * Value of a key. O(layers), plus a read of the stored table. The caller owns the bytes. The newest layer
   * comes first.
   */
  get(layers: readonly Layer[], key: Uint8Array): Uint8Array | undefined {
    for (const { memtable, upTo } of layers) {
      const changed = memtable.get(this.#number, key, upTo)
      if (changed !== undefined) return changed ?? undefined
    }
    return this.#stored.get(key)
  }

  /** Like `Table.range`. The iterator might or might not see writes to keys after its current position. */
  *range(layers: readonly Layer[], options: RangeOptions): Iterable<TableEntry> {
    const { start, end = null, offset = 0 } = options
    if (end?.length === 0) return
    const touching = layers.filter(({ memtable }) => memtable.touches(this.#number, start, end))
    if (touching.length === 0) yield* this.#stored.range(options)
    else if (offset === 0) yield* this.#merged(touching, start, end)
    else yield* this.#mergedFrom(offset, touching, start, end)
  }

  /**
   * Yields stored and changed entries in the order of their keys. A changed entry replaces the stored entry
   * with the same key.
   */
  *#merged(layers: readonly Layer[], start: Uint8Array, end: Uint8Array | null): Generator<TableEntry, void> {
    const changes = this.#changes(layers, start, end)
    let change = changes.next()
    for (const entry of this.#stored.range({ start, ...(end && { end }) })) {
      let isChanged = false
      while (!change.done) {
        const [key, value] = change.value
        const order = Buffer.compare(key, entry.key)
        if (order > 0) break
        isChanged = order === 0
        if (value !== null) yield { key, value }
        change = changes.next()
      }
      if (!isChanged) yield entry
    }
    for (; !change.done; change = changes.next()) {
      const [key, value] = change.value
      if (value !== null) yield { key, value }
    }
  }

  /** Yields the newest change of each key in any layer, in the order of the keys. */
  *#changes(
    layers: readonly Layer[],
    start: Uint8Array,
    end: Uint8Array | null,
  ): Generator<LayerEntry, void> {
    if (layers.length === 1) return yield* this.#changesIn(layers[0]!, start, end)
    const sources = layers.map(layer => this.#changesIn(layer, start, end))
    const heads = sources.map(source => source.next())
    for (;;) {
      let least: LayerEntry | null = null
      for (const head of heads) {
        if (!head.done && (least === null || Buffer.compare(head.value[0], least[0]) < 0)) least = head.value
      }
      if (least === null) return
      yield least
      for (const [index, head] of heads.entries()) {
        if (!head.done && Buffer.compare(head.value[0], least[0]) === 0) heads[index] = sources[index]!.next()
      }
    }
  }

  *#changesIn(
    { memtable, upTo }: Layer,
    start: Uint8Array,
    end: Uint8Array | null,
  ): Generator<LayerEntry, void> {
    let range = { start, end, isAfter: false }
    for (let countMax = SOME_MIN; ; countMax = Math.min(SOME_MAX, countMax * 4)) {
      const some = memtable.some(this.#number, range, countMax, upTo)
      yield* some
      if (some.length < countMax) return
      range = { start: some.at(-1)![0], end, isAfter: true }
    }
  }

  /**
   * Implements an offset: skips entries in the stored table, which is cheap, and iterates one by one only
   * near the target position. Changes after the last stored entry are examined only if the target is beyond
   * this entry.
   */
  *#mergedFrom(
    offset: number,
    layers: readonly Layer[],
    start: Uint8Array,
    end: Uint8Array | null,
  ): Generator<TableEntry, void> {
    // Added entries before the stored entry at `offset` move the target back by at most their number.
    const back = this.#countsBefore(this.#storedAt(offset, start, end) ?? end, layers, start).added
    const at = Math.max(0, offset - back)
    const place = at === 0 ? null : this.#storedAt(at, start, end)
    let toSkip = offset
    if (place !== null) {
      const { added, removed } = this.#countsBefore(place, layers, start)
      toSkip -= at - removed + added
    }
    for (const entry of this.#merged(layers, place ?? start, end)) {
      if (toSkip-- > 0) continue
      yield entry
    }
  }

  /** Returns the key of the stored entry at `offset` from the start. */
  #storedAt(offset: number, start: Uint8Array, end: Uint8Array | null): Uint8Array | null {
    for (const { key } of this.#stored.range({ start, ...(end && { end }), offset })) return key
    return null
  }

  /**
   * Counts the effect of the changes between `start` and `end` (exclusive): the number of entries that they
   * add to the stored table, and the number that they remove from it.
   */
  #countsBefore(end: Uint8Array | null, layers: readonly Layer[], start: Uint8Array) {
    const counts = { added: 0, removed: 0 }
    for (const [key, value] of this.#changes(layers, start, end)) {
      const isStored = this.#stored.get(key) !== undefined
      if (value === null && isStored) counts.removed += 1
      if (value !== null && !isStored) counts.added += 1
    }
    return counts
  }
}
