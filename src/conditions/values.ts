/**
 * Attribute values as JSON has them, and when two are equal (conditions.md 5.3). No value is ever converted.
 *
 * A number that no double represents is *unreadable*: an integer beyond 2^53 that would be rounded, or a number beyond all doubles.
 * Whatever compares it is unknown; as an element of a list it leaves the other elements as they are.
 */
import { exactDouble } from '#model/json-numbers.ts'
import { FALSE, TRUE, type Truth, UNKNOWN } from './truth.ts'

/** An object of JSON. Its members are its own properties, `__proto__` included: read them by `memberOf` alone. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `undefined`: there is no such member. */
export function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Whether it is a number, and no double is that number. */
export function isUnreadable(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  return typeof value === 'bigint' && exactDouble(value) === null
}

/** Whether there is such a number in it, itself included. O(size). */
function hasUnreadable(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasUnreadable)
  if (isObject(value)) return Object.keys(value).some(name => hasUnreadable(value[name]))
  return isUnreadable(value)
}

/** A readable integer beyond 2^53 as the double that it is; any other value as it is. */
export function comparable(value: unknown): unknown {
  return typeof value === 'bigint' ? (exactDouble(value) ?? value) : value
}

/** Whether two values are equal. O(size of both) where both are arrays or objects, otherwise O(1) or O(length of a text). */
export function equality(left: unknown, right: unknown): Truth {
  return amongTruth([right], left)
}

/** Whether a value equals an element. O(elements), where the value is an array or an object O(size of both). */
export function amongTruth(elements: readonly unknown[], value: unknown): Truth {
  if (isUnreadable(value)) return UNKNOWN
  const wanted = comparable(value)
  const isOfMany = isCompound(value)
  let isOpaque: boolean | null = null
  let truth: Truth = FALSE
  for (const element of elements) {
    if (isUnreadable(element)) truth = UNKNOWN
    else if (!isOfMany || !isCompound(element)) {
      if (comparable(element) === wanted) return TRUE
    } else if ((isOpaque ??= hasUnreadable(value)) || hasUnreadable(element)) truth = UNKNOWN
    else if (isEqual(element, value)) return TRUE
  }
  return truth
}

/**
 * Same kind and same value: numbers as doubles, strings by their characters, arrays in order, objects by their members in any
 * order. O(size of the smaller); recursion as deep as they are nested.
 */
function isEqual(left: unknown, right: unknown): boolean {
  if (comparable(left) === comparable(right)) return true
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
  #hasUnreadable = false
  /** Whether there are arrays or objects with unreadable numbers in them. */
  #hasOpaque = false

  constructor(values: Iterable<unknown>) {
    for (const value of values) {
      if (isUnreadable(value)) this.#hasUnreadable = true
      else if (!isCompound(value)) this.#scalars.add(comparable(value))
      else if (hasUnreadable(value)) this.#hasOpaque = true
      else this.#compounds.add(canonicalText(value))
    }
  }

  /** Whether the value equals one of the set. O(size of the value). */
  truthOf(value: unknown): Truth {
    const hasCompounds = this.#hasOpaque || this.#compounds.size > 0
    if (isUnreadable(value))
      return this.#hasUnreadable || hasCompounds || this.#scalars.size > 0 ? UNKNOWN : FALSE
    if (!isCompound(value)) {
      return this.#scalars.has(comparable(value)) ? TRUE : this.#hasUnreadable ? UNKNOWN : FALSE
    }
    if (this.#hasUnreadable && !hasCompounds) return UNKNOWN
    if (!hasCompounds) return FALSE
    if (hasUnreadable(value)) return UNKNOWN
    if (this.#compounds.has(canonicalText(value))) return TRUE
    return this.#hasUnreadable || this.#hasOpaque ? UNKNOWN : FALSE
  }
}

/** An array or an object: comparing it costs what it holds. */
export function isCompound(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** The same for values that are equal, and for no others. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (!isObject(value)) return JSON.stringify(comparable(value))
  const members = Object.keys(value)
    .toSorted()
    .map(name => `${JSON.stringify(name)}:${canonicalText(value[name])}`)
  return `{${members.join()}}`
}
