/** Attribute values as JSON has them, and when two are equal (conditions, section 5.3). No value is ever converted. */

/** An object of JSON. Its members are its own properties, `__proto__` included: read them by `memberOf` alone. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `undefined`: there is no such member. */
export function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/**
 * Same kind and same value: numbers as doubles, strings by their characters, arrays in order, objects by their members in any
 * order. O(size of the smaller); recursion as deep as they are nested.
 */
export function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
    return left.every((element, index) => isEqual(element, right[index]))
  }
  const names = Object.keys(left)
  if (names.length !== Object.keys(right).length) return false
  return names.every(
    name => Object.hasOwn(right, name) && isEqual((left as JsonObject)[name], (right as JsonObject)[name]),
  )
}

/** A set of values, by that equality. An array or an object takes part as its canonical text. */
export class ValueSet {
  readonly #scalars = new Set<unknown>()
  readonly #compounds = new Set<string>()

  constructor(values: Iterable<unknown>) {
    for (const value of values) {
      if (isCompound(value)) this.#compounds.add(canonicalText(value))
      else this.#scalars.add(value)
    }
  }

  /** O(size of the value). */
  has(value: unknown): boolean {
    if (!isCompound(value)) return this.#scalars.has(value)
    return this.#compounds.size > 0 && this.#compounds.has(canonicalText(value))
  }
}

/** An array or an object: comparing it costs what it holds. */
export function isCompound(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** The same for values that are equal, and for no others. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .toSorted()
    .map(name => `${JSON.stringify(name)}:${canonicalText(value[name])}`)
  return `{${members.join()}}`
}
