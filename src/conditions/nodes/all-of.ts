/** True where all items are; with none of them it is true. */
export interface AllOf<Item> {
  readonly kind: 'all-of'
  readonly items: readonly Item[]
}

/** One item stands for itself. */
export function allOf<Item>(items: readonly Item[]): Item | AllOf<Item> {
  return items.length === 1 ? items[0]! : Object.freeze({ kind: 'all-of', items: Object.freeze(items) })
}
