/**
 * Entries by key, in memory, in the order of their keys. A key is a text with one character per byte, so
 * texts have the same order as the bytes.
 *
 * A hash map serves lookups. A B-tree holds the order. The tree is updated only when the order is needed:
 * most tables of a store are never read in order, and changing a tree costs several times as much as changing
 * a map.
 */
import { createRequire } from 'node:module'
import type module from 'sorted-btree'

// The package is CommonJS with a `default` member, which loaders and bundlers import in different ways.
const { default: BTree } = createRequire(import.meta.url)('sorted-btree') as typeof module
type Tree<Value> = module.default<string, Value>

/** Reads entries: the current ones, or those of a snapshot. */
export interface EntryReader<Value> {
  get(key: string): Value | undefined
  /**
   * Returns the first entries from `start` (inclusive) to `end` (exclusive), at most `countMax`. O(log n +
   * entries).
   */
  some(start: string, end: string | null, countMax: number): [key: string, value: Value][]
}

export class OrderedEntries<Value> implements EntryReader<Value> {
  readonly #byKey = new Map<string, Value>()
  readonly #ordered: Tree<Value> = new BTree<string, Value>(undefined, compare)
  /** Keys that changed since the tree was last updated; a key can occur twice. */
  #changed: string[] = []

  get size(): number {
    return this.#byKey.size
  }

  get(key: string): Value | undefined {
    return this.#byKey.get(key)
  }

  set(key: string, value: Value): void {
    this.#byKey.set(key, value)
    this.#changed.push(key)
  }

  delete(key: string): void {
    if (this.#byKey.delete(key)) this.#changed.push(key)
  }

  some(start: string, end: string | null, countMax: number): [key: string, value: Value][] {
    return someOf(this.#level(), start, end, countMax)
  }

  /**
   * Returns a copy of the current entries, unaffected by later changes. The copy shares the tree until one of
   * them changes. O(changes).
   */
  snapshot(): EntryReader<Value> {
    const copy = this.#level().clone()
    return {
      get: key => copy.get(key),
      some: (start, end, countMax) => someOf(copy, start, end, countMax),
    }
  }

  #level(): Tree<Value> {
    for (const key of this.#changed) {
      const value = this.#byKey.get(key)
      if (value === undefined) this.#ordered.delete(key)
      else this.#ordered.set(key, value)
    }
    this.#changed = []
    return this.#ordered
  }
}

function someOf<Value>(
  ordered: Tree<Value>,
  start: string,
  end: string | null,
  countMax: number,
): [key: string, value: Value][] {
  const found: [key: string, value: Value][] = []
  let pair = ordered.getPairOrNextHigher(start)
  if (pair === undefined || (end !== null && pair[0] >= end)) return found
  if (countMax === 1) return [pair]
  for (pair of ordered.entries(pair[0])) {
    if (end !== null && pair[0] >= end) break
    found.push(pair)
    if (found.length === countMax) break
  }
  return found
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
