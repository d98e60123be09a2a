/**
 * The part of a wrong value in which findings are looked for. Looking costs microseconds for every part of a value,
 * good or bad; in 16 MiB of small parts that would keep the thread, and all its callers, for many seconds.
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

/** The property names a JSON schema mentions, at any depth. */
export function propertyNamesIn(schema: unknown): Set<string> {
  if (typeof schema !== 'object' || schema === null) return new Set()
  const own = 'properties' in schema && typeof schema.properties === 'object' ? schema.properties : null
  const inner = Object.values(schema).flatMap(part => [...propertyNamesIn(part)])
  return new Set([...Object.keys(own ?? {}), ...inner])
}
