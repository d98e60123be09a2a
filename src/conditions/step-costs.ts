/**
 * Measured costs of the parts of an evaluation, in steps (`bench/engine/condition-costs.ts`;
 * docs/performance/engine.md has the table). A step takes at most about ten nanoseconds of processor time,
 * for any operator.
 */
import { isCompound, isObject } from './values.ts'

/** A test or a connective. */
export const NODE_STEPS = 16
/**
 * Each possible division of a path with several names into names of members, and each source that is searched
 * for them.
 */
const PATH_NAME_STEPS = 12
const SOURCES_MAX = 4
/** An element or a member that is compared with another value. */
export const ELEMENT_STEPS = 8
/** A member whose tests are evaluated, excluding the tests. */
export const MEMBER_STEPS = 12
/** An element that is added to a set or searched for in it. */
const SET_ELEMENT_STEPS = 16
/**
 * Each value in an array or object that is added to a set or searched for, because it is converted to text.
 */
const SET_VALUE_STEPS = 64
/** A text that is parsed as a time: a fixed part, and a part per character. */
const INSTANT_STEPS = 128
const INSTANT_CHARACTER_STEPS = 1
/** Comparison of two times that are already parsed. */
export const INSTANTS_STEPS = 48
/** A state of a glob reached at a character, or a range of a class compared with the character. */
export const GLOB_STATE_STEPS = 6
export const GLOB_RANGE_STEPS = 1
/** Binary logarithm of the number of characters compared per step in texts of equal length. */
const COMPARED_A_STEP_LOG2 = 5
/** A lookup of an instance, and a byte of stored attributes that is copied and parsed. */
export const LOOKUP_STEPS = 128
export const PARSED_BYTE_STEPS = 3
/** A byte of a condition that a thread parses for the first time. */
export const READ_BYTE_STEPS = 20
/**
 * An element of a stored list of scalars that is compared in place, and the words of such lists compared per
 * step.
 */
export const STORED_ELEMENT_STEPS = 2
export const STORED_WORDS_A_STEP_LOG2 = 3

/** Cost of following a path through one source of values, or through all sources of a query. */
export function pathSteps({ length }: readonly string[], sources: 'one' | 'all'): number {
  return length * (length - 1) * PATH_NAME_STEPS * (sources === 'all' ? SOURCES_MAX : 1)
}

/** Cost of comparing texts of this length. */
export function textSteps(length: number): number {
  return length >>> COMPARED_A_STEP_LOG2
}

/** Cost of parsing a value that might be a time; 0 for other values and for longer texts. */
export function rankSteps(value: unknown, lengthMax: number): number {
  if (typeof value !== 'string' || value.length > lengthMax) return 0
  return INSTANT_STEPS + value.length * INSTANT_CHARACTER_STEPS
}

/** Cost of comparing two values. Arrays and objects are traversed on both sides. O(size of both). */
export function equalitySteps(left: unknown, right: unknown): number {
  if (isCompound(left) && isCompound(right)) return comparisonSteps(left) + comparisonSteps(right)
  // Values of different types and texts of different lengths are unequal without a detailed comparison.
  if (typeof left !== 'string' || typeof right !== 'string' || left.length !== right.length) return 0
  return textSteps(left.length)
}

/** Cost of traversing a value and comparing it with an equal one. O(size of the value). */
function comparisonSteps(value: unknown): number {
  if (typeof value === 'string') return ELEMENT_STEPS + textSteps(value.length)
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, element) => sum + comparisonSteps(element), ELEMENT_STEPS)
  }
  if (!isObject(value)) return ELEMENT_STEPS
  return Object.keys(value).reduce((sum, name) => sum + comparisonSteps(value[name]), ELEMENT_STEPS)
}

/**
 * Cost of comparing a value with each element. Only texts of the same length are compared character by
 * character. O(elements), for an array or an object O(size of both).
 */
export function searchSteps(elements: readonly unknown[], value: unknown): number {
  if (isCompound(value)) return comparisonSteps(elements) + comparisonSteps(value)
  const steps = elements.length * ELEMENT_STEPS
  if (typeof value !== 'string') return steps
  const { length } = value
  const each = textSteps(length)
  if (each === 0) return steps
  const isAsLong = (element: unknown): boolean => typeof element === 'string' && element.length === length
  return steps + each * elements.filter(isAsLong).length
}

/** Cost of adding values to a `ValueSet` or searching for them in it. O(size of the values). */
export function setSteps(values: readonly unknown[]): number {
  return values.reduce<number>(
    (sum, value) => sum + SET_ELEMENT_STEPS + (isCompound(value) ? canonicalSteps(value) : 0),
    0,
  )
}

function canonicalSteps(value: unknown): number {
  if (typeof value === 'string') return SET_VALUE_STEPS + value.length
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, element) => sum + canonicalSteps(element), SET_VALUE_STEPS)
  }
  if (!isObject(value)) return SET_VALUE_STEPS
  return Object.keys(value).reduce(
    (sum, name) => sum + name.length + canonicalSteps(value[name]),
    SET_VALUE_STEPS,
  )
}
