/** Merges JSON objects (conditions.md 4.1). */
import type { JsonObject } from './decision.ts'

/**
 * All members of both. If both have a member, two objects are merged recursively; otherwise the value in
 * `above` is used.
 */
export function mergedObjects(above: JsonObject, below: JsonObject): JsonObject {
  const names = new Set([...Object.keys(above), ...Object.keys(below)])
  // `fromEntries` creates a member `__proto__`, which an assignment would not.
  return Object.fromEntries(
    Array.from(names, name => {
      if (!Object.hasOwn(above, name)) return [name, below[name]]
      const [value, hidden] = [above[name], Object.hasOwn(below, name) ? below[name] : undefined]
      return [name, isObject(value) && isObject(hidden) ? mergedObjects(value, hidden) : value]
    }),
  )
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
