/**
 * The part of a wrong value in which findings are looked for. Looking costs microseconds for every part of a value,
 * good or bad; in 16 MiB of small parts that would keep the thread, and all its callers, for many seconds. Whether a
 * part is right at all is known in a fraction of that, so of a long list only what is wrong is looked at.
 */

/** Array items and properties kept at most: more than a bulk at its usual ceiling has. */
export const EXCERPT_PARTS_MAX = 100_000

/**
 * The value with no more than its first `EXCERPT_PARTS_MAX` parts, every kept part under its own index or name.
 * Properties in `names` are always kept, so that none of them looks missing.
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

/** Lists of at least this length are searched for their wrong items. */
const LONG_LIST_ITEMS_MIN = 16
/** Ceiling of the parts beside the list, which are looked at again with each of its items. */
const PARTS_BESIDE_MAX = 256

/** A value of which one list has been cut to its wrong items. */
export interface WrongItems {
  readonly value: unknown
  /** The JSON pointer of the list; '' is the value itself. */
  readonly list: string
  /** For each kept item its index among all items. */
  readonly places: readonly number[]
}

/**
 * The value, with its long list cut to the first items that are wrong by themselves. Null where it has no such list, or
 * something else is wrong. The list is the value or one of its properties. O(items), each of them a call of `isRight`.
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
 * The name of the property that is a long list, null for the value itself; undefined: there is no such list, or too much
 * beside it.
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

/** The property names a JSON schema mentions, at any depth. */
export function propertyNamesIn(schema: unknown): Set<string> {
  if (typeof schema !== 'object' || schema === null) return new Set()
  const own = 'properties' in schema && typeof schema.properties === 'object' ? schema.properties : null
  const inner = Object.values(schema).flatMap(part => [...propertyNamesIn(part)])
  return new Set([...Object.keys(own ?? {}), ...inner])
}
