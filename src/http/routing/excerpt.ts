/**
 * Reduces an invalid value before the library searches it for findings. The search takes microseconds for
 * each part of a value, valid or not, and would block the thread for many seconds for 16 MiB of small parts.
 * The test whether a value is valid is much faster. Therefore this file first tests the items of a long list
 * one by one, and only the invalid items are searched.
 */

/**
 * Maximum number of array items and properties that are kept. A bulk of the default maximum size has fewer.
 */
export const EXCERPT_PARTS_MAX = 100_000

/**
 * Copies at most the first `EXCERPT_PARTS_MAX` parts of the value. Every copied part keeps its index or name.
 * Properties whose names are in `names` are always copied, so that they are not reported as missing.
 */
export function excerptOf(value: unknown, names: ReadonlySet<string>): unknown {
  let partsLeft = EXCERPT_PARTS_MAX
  const copy = (part: unknown): unknown => {
    partsLeft -= 1
    if (typeof part !== 'object' || part === null) return part
    if (Array.isArray(part)) {
      const items: unknown[] = []
      for (const item of part) {
        if (partsLeft <= 0) break
        items.push(copy(item))
      }
      return items
    }
    const properties: [string, unknown][] = []
    for (const name of Object.keys(part)) {
      if (partsLeft > 0 || names.has(name)) {
        properties.push([name, copy((part as Record<string, unknown>)[name])])
      }
    }
    return Object.fromEntries(properties)
  }
  return copy(value)
}

/** Minimum number of items in a list for which the items are tested one by one. */
const LONG_LIST_ITEMS_MIN = 16
/** Maximum number of parts outside the list. These parts are validated again with each item of the list. */
const PARTS_BESIDE_MAX = 256

/** A value in which one list is reduced to its invalid items. */
export interface WrongItems {
  readonly value: unknown
  /** JSON pointer of the list; '' if it is the value itself. */
  readonly list: string
  /** Index of each kept item in the original list. */
  readonly places: readonly number[]
}

/**
 * Reduces the long list in the value to its first `itemsMax` invalid items. The list is the value itself or
 * one of its properties. Each item is tested alone with `isRight`. Returns null if there is no long list, if
 * other parts of the value are invalid, or if no item is invalid alone. O(items), with one call of `isRight`
 * per item.
 */
export function wrongItemsOf(
  value: unknown,
  isRight: (value: unknown) => boolean,
  itemsMax: number,
): WrongItems | null {
  const name = longListIn(value)
  if (name === undefined) return null
  const holding = (items: unknown[]): unknown =>
    name === null ? items : { ...(value as Record<string, unknown>), [name]: items }
  const all = (name === null ? value : (value as Record<string, unknown>)[name]) as unknown[]
  const alone: unknown[] = []
  const tried = holding(alone)
  if (!isRight(tried)) return null
  const places: number[] = []
  for (let place = 0; place < all.length && places.length < itemsMax; place++) {
    alone[0] = all[place]
    if (!isRight(tried)) places.push(place)
  }
  if (places.length === 0) return null
  const list = name === null ? '' : `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  return { value: holding(places.map(place => all[place])), list, places }
}

/**
 * Name of the property that contains the long list, or null if the value itself is the list. Returns
 * `undefined` if there is no such list or if the value has too many other parts.
 */
function longListIn(value: unknown): string | null | undefined {
  const isLong = (part: unknown) => Array.isArray(part) && part.length >= LONG_LIST_ITEMS_MIN
  if (Array.isArray(value)) return isLong(value) ? null : undefined
  if (typeof value !== 'object' || value === null) return undefined
  const properties = value as Record<string, unknown>
  const names = Object.keys(properties)
  const name = names.find(one => isLong(properties[one]))
  if (name === undefined) return undefined
  const beside = names.filter(one => one !== name).map(one => properties[one])
  return hasMoreParts(beside, PARTS_BESIDE_MAX) ? undefined : name
}

function hasMoreParts(value: unknown, max: number): boolean {
  let left = max
  const count = (part: unknown): boolean => {
    left -= 1
    if (left < 0) return true
    return typeof part === 'object' && part !== null && Object.values(part).some(count)
  }
  return count(value)
}

/** Names of all properties in a JSON schema, at any depth. */
export function propertyNamesIn(schema: unknown): Set<string> {
  if (typeof schema !== 'object' || schema === null) return new Set()
  const own = 'properties' in schema && typeof schema.properties === 'object' ? schema.properties : null
  const inner = Object.values(schema).flatMap(part => [...propertyNamesIn(part)])
  return new Set([...Object.keys(own ?? {}), ...inner])
}
