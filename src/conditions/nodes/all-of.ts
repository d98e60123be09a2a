/** Connective that is true if all its items are true. Without items, it is true. */
export interface AllOf<Item> {
  readonly kind: 'all-of'
  readonly items: readonly Item[]
}

/** Returns the conjunction of the items. A single item is returned itself, because it needs no connective. */
export function allOf<Item>(items: readonly Item[]): Item | AllOf<Item> {
  return items.length === 1 ? items[0]! : Object.freeze({ kind: 'all-of', items: Object.freeze(items) })
}
