/** True where the item is false; unknown where that is unknown. */
export interface Not<Item> {
  readonly kind: 'not'
  readonly item: Item
}

export function not<Item>(item: Item): Not<Item> {
  return Object.freeze({ kind: 'not', item })
}
