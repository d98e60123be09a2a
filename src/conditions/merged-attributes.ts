/**
 * Reads values from several objects as if they were merged. The first object that has a name supplies its
 * value. Objects under the same name are merged member by member (conditions.md 4.1). Objects are merged only
 * when a value is read.
 */
import { mergedObjects } from '#model/merged-objects.ts'
import { isObject, type JsonObject, memberOf } from './values.ts'

/**
 * Returns the same value as `valueAt` on the merged object. The first of the `layers` takes precedence.
 * O(layers × names).
 */
export function mergedValueAt(layers: readonly JsonObject[], names: readonly string[]): unknown {
  for (let joined = names.length; joined > 0; joined--) {
    const found = membersOf(layers, names.slice(0, joined).join('.'))
    if (found.length > 0) return mergedBelow(found, names, joined)
  }
  return undefined
}

/**
 * Returns the values under one name that take part in the merge. A value that is not an object hides all
 * following values.
 */
function membersOf(layers: readonly JsonObject[], name: string): readonly unknown[] {
  const values: unknown[] = []
  for (const layer of layers) {
    const value = memberOf(layer, name)
    if (value === undefined) continue
    if (isObject(value)) {
      values.push(value)
      continue
    }
    return values.length === 0 ? [value] : values
  }
  return values
}

function mergedBelow(found: readonly unknown[], names: readonly string[], from: number): unknown {
  if (from === names.length) return merged(found)
  const members = membersOf(found.filter(isObject), names[from]!)
  return members.length === 0 ? undefined : mergedBelow(members, names, from + 1)
}

function merged(values: readonly unknown[]): unknown {
  const objects = values.filter(isObject)
  return objects.length < 2 ? values[0] : objects.reduceRight((below, above) => mergedObjects(above, below))
}
