/** Connective that is true if all its items are true. Without items, it is true. */
export interface AllOf<Item> {
  readonly kind: 'all-of'
  readonly items: readonly Item[]
}

/** A single item needs no connective and is returned itself. */
export function allOf<Item>(items: readonly Item[]): Item | AllOf<Item> {
  return items.length === 1 ? items[0]! : Object.freeze({ kind: 'all-of', items: Object.freeze(items) })
}
