/**
 * Reads values from several objects as if the objects were merged. If several objects have a name, the first
 * one supplies the value. If these values are objects, they are merged member by member (conditions.md 4.1).
 * The merge happens only for values that are read.
 */
import { mergedObjects } from '#model/merged-objects.ts'
import { memberOf } from '#conditions/values/values.ts'
import { isObject, type JsonObject } from '#model/json-object.ts'

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
 * Returns the values of a name that have to be merged. A value that is not an object hides the values of all
 * following layers.
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
