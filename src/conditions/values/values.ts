/**
 * Defines attribute values as in JSON, and their equality (conditions.md 5.3). Values are never converted.
 *
 * A number that no double can represent is *unreadable*: an integer beyond 2^53 that would be rounded, or a
 * number outside the range of doubles. Comparisons with it are unknown. As an element of a list, it does not
 * affect the other elements.
 */
import { exactDouble } from '#model/text/json-numbers.ts'
import { isObject, type JsonObject } from '#model/json-object.ts'
import { FALSE, TRUE, type Truth, UNKNOWN } from './truth.ts'

/** Returns the value of a member, or `undefined` if the object does not have the member. */
export function memberOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Returns whether the value is a number that no double can represent. */
export function isUnreadable(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  return typeof value === 'bigint' && exactDouble(value) === null
}

/** Returns whether the value is or contains an unreadable number. O(size). */
function hasUnreadable(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasUnreadable)
  if (isObject(value)) return Object.keys(value).some(name => hasUnreadable(value[name]))
  return isUnreadable(value)
}

/**
 * Converts an integer beyond 2^53 to a double, if an equal double exists. Returns any other value unchanged.
 */
export function comparable(value: unknown): unknown {
  return typeof value === 'bigint' ? (exactDouble(value) ?? value) : value
}

/**
 * Returns whether two values are equal. If both are arrays or objects, O(size of both). Otherwise O(1), or
 * O(length) for texts.
 */
export function equality(left: unknown, right: unknown): Truth {
  return amongTruth([right], left)
}

/**
 * Returns whether a value equals an element. O(elements); if the value is an array or an object, O(size of
 * both).
 */
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
 * Compares types and values: numbers as doubles, strings by their characters, arrays in order, and objects by
 * their members in any order. O(size of the smaller value). The recursion is as deep as the values are
 * nested.
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

/** A set of values that uses this equality. Arrays and objects are stored as canonical texts. */
export class ValueSet {
  readonly #scalars = new Set<unknown>()
  readonly #compounds = new Set<string>()
  #hasUnreadable = false
  /** Whether the set contains arrays or objects with unreadable numbers. */
  #hasOpaque = false

  constructor(values: Iterable<unknown>) {
    for (const value of values) {
      if (isUnreadable(value)) this.#hasUnreadable = true
      else if (!isCompound(value)) this.#scalars.add(comparable(value))
      else if (hasUnreadable(value)) this.#hasOpaque = true
      else this.#compounds.add(canonicalText(value))
    }
  }

  /** Returns whether the value equals an element of the set. O(size of the value). */
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

/** Returns whether the value is an array or an object. The cost of comparing it depends on its contents. */
export function isCompound(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** Returns the canonical text of a value. Two values have the same text if and only if they are equal. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (!isObject(value)) return JSON.stringify(comparable(value))
  const members = Object.keys(value)
    .toSorted()
    .map(name => `${JSON.stringify(name)}:${canonicalText(value[name])}`)
  return `{${members.join()}}`
}
