/** Connective that is true if at least one of its items is true. Without items, it is false. */
export interface AnyOf<Item> {
  readonly kind: 'any-of'
  readonly items: readonly Item[]
}

/** Returns the disjunction of the items. A single item is returned itself, because it needs no connective. */
export function anyOf<Item>(items: readonly Item[]): Item | AnyOf<Item> {
  return items.length === 1 ? items[0]! : Object.freeze({ kind: 'any-of', items: Object.freeze(items) })
}
