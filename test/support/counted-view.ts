/** A view that counts the rows that it reads. */
import type { View } from '#store/view.ts'

export interface ReadCounts {
  /** Rows and positions that were read from secondary indexes. */
  scanned: number
  placed: number
  /** Rows that were read by key. */
  lookups: number
  /** Reads by key prefix, and the rows that they returned. */
  prefixes: number
  prefixed: number
}

export function countedView(view: View): { readonly counted: View; readonly counts: ReadCounts } {
  const counts: ReadCounts = { scanned: 0, placed: 0, lookups: 0, prefixes: 0, prefixed: 0 }
  function* each<Item>(kind: keyof ReadCounts, items: Iterable<Item>): Iterable<Item> {
    for (const item of items) {
      counts[kind] += 1
      yield item
    }
  }
  const counted: View = {
    get present() {
      return counted
    },
    sequence: () => view.sequence(),
    get: key => {
      counts.lookups += 1
      return view.get(key)
    },
    count: list => view.count(list),
    scan: (list, options) => each('scanned', view.scan(list, options)),
    places: (list, options) => each('placed', view.places(list, options)),
    batches: () => view.batches(),
    beginningWith: prefix => {
      counts.prefixes += 1
      return each('prefixed', view.beginningWith(prefix))
    },
    snapshot: () => view.snapshot(),
  }
  return { counted, counts }
}
