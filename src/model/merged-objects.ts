/** Merges JSON objects (conditions.md 4.1). */
import { isObject, type JsonObject } from '#model/json-object.ts'

/**
 * Returns an object with all members of both objects. If both have a member and its values are objects, these
 * are merged recursively. Otherwise the value in `above` is used.
 */
export function mergedObjects(above: JsonObject, below: JsonObject): JsonObject {
  const names = new Set([...Object.keys(above), ...Object.keys(below)])
  // `fromEntries` can create a member named `__proto__`; an assignment cannot.
  return Object.fromEntries(
    Array.from(names, name => {
      if (!Object.hasOwn(above, name)) return [name, below[name]]
      const [value, hidden] = [above[name], Object.hasOwn(below, name) ? below[name] : undefined]
      return [name, isObject(value) && isObject(hidden) ? mergedObjects(value, hidden) : value]
    }),
  )
}
