/** Connective that is true if its item is false, and unknown if the item is unknown. */
export interface Not<Item> {
  readonly kind: 'not'
  readonly item: Item
}

export function not<Item>(item: Item): Not<Item> {
  return Object.freeze({ kind: 'not', item })
}
