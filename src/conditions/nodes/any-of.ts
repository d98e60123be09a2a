/** True where at least one item is; with none of them it is false. */
export interface AnyOf<Item> {
  readonly kind: 'any-of'
  readonly items: readonly Item[]
}

/** One item stands for itself. */
export function anyOf<Item>(items: readonly Item[]): Item | AnyOf<Item> {
  return items.length === 1 ? items[0]! : Object.freeze({ kind: 'any-of', items: Object.freeze(items) })
}
