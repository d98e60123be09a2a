/**
 * Merges ascending keys of many places, which are read some at a time: as much of each as is needed. A value of every list that a search
 * goes through may lead to the same owner, or to owners that come much later.
 */
import { compareUtf8 } from '#model/utf8-order.ts'

/** Keys of one place. */
export interface Stretch {
  /** Ascending. */
  readonly keys: readonly string[]
  /** The key up to which there are no others; `null`: to the end. */
  readonly last: string | null
  /** Entries that were looked at in vain. */
  readonly passed: number
}

export interface KeySource {
  /** The keys behind one, about as many as are wanted; `null`: nothing is known of them. */
  behind(after: string | null, wanted: number): Stretch | null
}

/** Keys read of each source at first, so that a hundred of them cost little more than one. */
const READ_MIN = 4
/** Entries that are passed over, for one that is wanted: those of another tenant, and what another source has had. */
export const PASSED_A_KEY = 16

/** Up to `wanted` keys behind one, each once. O((wanted × `PASSED_A_KEY` + sources) × log sources). */
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
      // What it has behind may come before all others.
      const more = passed > wanted * PASSED_A_KEY ? null : first.readBehind(position)
      if (more === null) return { keys, last: position, passed }
      passed += more
    }
    cursors.settleFirst()
  }
}

/** Where a source has been read to. */
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

  /** Reads on, twice as many as before; how many entries were looked at in vain. `null`: nothing is known of what is there. */
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

  /** The next key; where none has been read, that up to which there is none. Not at the end. */
  get position(): string {
    return this.hasKey ? this.#keys[this.#at]! : this.#last!
  }

  take(): void {
    this.#at += 1
  }
}

/** Those that are not at their end, as a heap by position. */
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

  /** Finds the place of the first one, which has moved, or lets it go. */
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
