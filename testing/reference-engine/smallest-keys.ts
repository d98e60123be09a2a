/**
 * Picks a page out of a stream of keys: the `limit` smallest ones after a given one, by UTF-8 bytes, and the number of
 * all keys seen. Holds at most twice the limit, whatever the stream. The stream brings each key once.
 */
import type { KeyPage, PageRequest } from '#engine/engine.ts'
import { compareUtf8 } from '#model/utf8-order.ts'

export class SmallestKeys {
  readonly #after: string | null
  readonly #limit: number
  #kept: string[] = []
  /** The largest key worth keeping, once there are enough. */
  #bound: string | null = null
  #total = 0
  #totalAfter = 0

  constructor({ after, limit }: Omit<PageRequest, 'triedMax'>) {
    this.#after = after
    this.#limit = limit
  }

  /** O(log limit) amortized. */
  add(key: string): void {
    this.#total += 1
    if (this.#after !== null && compareUtf8(key, this.#after) <= 0) return
    this.#totalAfter += 1
    if (this.#bound !== null && compareUtf8(key, this.#bound) >= 0) return
    this.#kept.push(key)
    if (this.#kept.length >= 2 * this.#limit) this.#shrink()
  }

  page(): KeyPage {
    this.#shrink()
    const keys = this.#kept
    const last = keys.at(-1) ?? this.#after
    return { keys, hasMore: this.#totalAfter > keys.length, last, total: this.#total }
  }

  #shrink(): void {
    this.#kept.sort(compareUtf8)
    if (this.#kept.length < this.#limit) return
    this.#kept.length = this.#limit
    this.#bound = this.#kept.at(-1) ?? ''
  }
}
