/**
 * Merges the sorted keys of many sources. Reads each source in portions, and only as far as needed, because
 * several sources can contain the same entities, and a source can contain only keys that come after the end
 * of the page.
 */
import { compareUtf8 } from '#model/text/utf8-order.ts'

/** Consecutive keys of one source. */
export interface Stretch {
  /** Keys in ascending order. */
  readonly keys: readonly string[]
  /**
   * Last key of the range that was read. `keys` contains all matching keys of the source up to this key.
   * `null` if the range extends to the end of the source.
   */
  readonly last: string | null
  /** Number of entries that were read but did not match. */
  readonly passed: number
}

export interface KeySource {
  /**
   * Returns about `wanted` keys that come after `after`. Returns `null` if there might be such keys but this
   * source cannot supply them.
   */
  behind(after: string | null, wanted: number): Stretch | null
}

/**
 * Number of keys that are first read per source. It is small, so that a hundred sources cost little more than
 * one.
 */
const READ_MIN = 4
/**
 * Maximum number of skipped entries per requested key. Skipped entries belong to another tenant, or another
 * source has already supplied them.
 */
export const PASSED_A_KEY = 16

/**
 * Returns up to `wanted` keys that come after `after`, each once. O((wanted × `PASSED_A_KEY` + sources) × log
 * sources).
 */
export function mergedKeys(sources: readonly KeySource[], after: string | null, wanted: number): Stretch {
  const keys: string[] = []
  const readFirst = Math.min(
    wanted,
    Math.max(READ_MIN, Math.ceil((2 * wanted) / Math.max(1, sources.length))),
  )
  const cursors = new Cursors()
  let passed = 0
  for (const source of sources) {
    const cursor = new Cursor(source, readFirst)
    passed += cursor.readBehind(after) ?? 0
    cursors.add(cursor)
  }
  for (;;) {
    const { first } = cursors
    if (first === undefined) return { keys, last: null, passed }
    const { position } = first
    const isKnown = first.hasKey && position === keys.at(-1)
    if (keys.length === wanted && !isKnown) return { keys, last: keys.at(-1)!, passed }
    if (first.hasKey) {
      first.take()
      if (isKnown) passed += 1
      else keys.push(position)
    } else {
      // This source has no unread keys left, and its next keys might come before those of all other sources.
      // Reads them.
      const more = passed > wanted * PASSED_A_KEY ? null : first.readBehind(position)
      if (more === null) return { keys, last: position, passed }
      passed += more
    }
    cursors.settleFirst()
  }
}

/** Position in a source, and the portion that was read last. */
class Cursor {
  readonly #source: KeySource
  #wanted: number
  #keys: readonly string[] = []
  #at = 0
  #last: string | null = null

  constructor(source: KeySource, wanted: number) {
    this.#source = source
    this.#wanted = wanted
  }

  /**
   * Reads the next portion, which is twice as large as the previous one. Returns the number of entries that
   * did not match, or `null` if the source cannot supply the keys that come next.
   */
  readBehind(after: string | null): number | null {
    const stretch = this.#source.behind(after, this.#wanted)
    if (stretch === null) return null
    this.#wanted *= 2
    this.#keys = stretch.keys
    this.#at = 0
    this.#last = stretch.last
    return stretch.passed
  }

  get hasKey(): boolean {
    return this.#at < this.#keys.length
  }

  get isAtEnd(): boolean {
    return !this.hasKey && this.#last === null
  }

  /**
   * Returns the next key. If the portion has no unread keys, returns the last key of the range that was read.
   * Must not be called at the end of the source.
   */
  get position(): string {
    return this.hasKey ? this.#keys[this.#at]! : this.#last!
  }

  take(): void {
    this.#at += 1
  }
}

/** Cursors that have not reached the end of their source, as a heap ordered by position. */
class Cursors {
  readonly #heap: Cursor[] = []

  get first(): Cursor | undefined {
    return this.#heap[0]
  }

  add(cursor: Cursor): void {
    if (cursor.isAtEnd) return
    const heap = this.#heap
    let at = heap.length
    while (at > 0) {
      const above = (at - 1) >>> 1
      if (compareUtf8(heap[above]!.position, cursor.position) <= 0) break
      heap[at] = heap[above]!
      at = above
    }
    heap[at] = cursor
  }

  /**
   * Restores the heap order after the first cursor has moved. If this cursor is at the end of its source,
   * removes the cursor.
   */
  settleFirst(): void {
    const heap = this.#heap
    let cursor = heap[0]!
    if (cursor.isAtEnd) {
      cursor = heap.pop()!
      if (heap.length === 0) return
    }
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && compareUtf8(heap[below + 1]!.position, heap[below]!.position) < 0)
        below += 1
      if (compareUtf8(cursor.position, heap[below]!.position) <= 0) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = cursor
  }
}
