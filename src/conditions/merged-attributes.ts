/**
 * One object made of several, of which the first that has a name says its value; objects under the same name are merged member by
 * member (conditions.md 4.1). Nothing is merged before somebody asks for it.
 */
import { mergedObjects } from '#model/merged-objects.ts'
import { isObject, type JsonObject, memberOf } from './values.ts'

/** What the names lead to, as `valueAt` on the merged object would say. `layers`: the first wins. O(layers × names). */
export function mergedValueAt(layers: readonly JsonObject[], names: readonly string[]): unknown {
  for (let joined = names.length; joined > 0; joined--) {
    const found = membersOf(layers, names.slice(0, joined).join('.'))
    if (found.length > 0) return mergedBelow(found, names, joined)
  }
  return undefined
}

/** Values under one name, as far as they take part: one that is no object hides all behind it. */
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
