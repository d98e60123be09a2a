/**
 * Cuts pages from the result of a search, in key order. The result stays in memory for the next page of the
 * same search, as long as the index does not change. The next page is then only a slice of the result.
 *
 * Memory: one result per reader and kind of search, five bytes per key. A page always belongs to the state on
 * which the search ran.
 */
import type { KeyPage, PageRequest } from '#engine/engine.ts'
import type { Key } from '#engine/shared-index/memory/key.ts'
import type { NumberList } from '#engine/shared-index/memory/number-list.ts'
import { keyText } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { KeyOrder } from './key-order.ts'

export const NO_KEYS: KeyPage = { keys: [], hasMore: false, last: null, total: 0 }

export class KeyPages {
  readonly #regions: Regions
  readonly #after: Key
  #question = ''
  #sequence = -1
  #order: KeyOrder | null = null

  constructor(regions: Regions, after: Key) {
    this.#regions = regions
    this.#after = after
  }

  has(question: string, sequence: number): boolean {
    return question === this.#question && sequence === this.#sequence
  }

  keep(question: string, sequence: number, found: NumberList): void {
    this.#question = question
    this.#sequence = sequence
    this.#order = new KeyOrder(this.#regions.graph, found.items.slice(0, found.length))
  }

  page({ after, limit }: Omit<PageRequest, 'triedMax'>): KeyPage {
    const { graph } = this.#regions
    const order = this.#order
    if (order === null) return NO_KEYS
    const total = order.lines.length
    // If `after` is not a valid key, the page starts at the beginning: the service never returned such a
    // cursor.
    const start = after !== null && this.#after.read(after, 0) ? order.countUpTo(graph, this.#after) : 0
    const keys = Array.from(order.slice(graph, start, start + limit), line => keyText(graph, line))
    return { keys, hasMore: start + keys.length < total, last: keys.at(-1) ?? after, total }
  }
}
