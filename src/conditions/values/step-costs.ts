/**
 * Costs of the parts of an evaluation, in steps. They were measured with `bench/engine/condition-costs.ts`,
 * and docs/performance/engine.md contains the table. A step takes at most about ten nanoseconds of processor
 * time, for any operator.
 */
import { isCompound } from './values.ts'
import { isObject } from '#model/json-object.ts'

/** Cost of a test or a connective. */
export const NODE_STEPS = 16
/**
 * Cost of following a path with several names. The names can be joined in several ways, because the name of a
 * member can contain dots. The cost is charged for each of these ways and for each source of values.
 */
const PATH_NAME_STEPS = 12
const SOURCES_MAX = 4
/** Cost of comparing an element or a member with another value. */
export const ELEMENT_STEPS = 8
/** Cost of a member whose tests are evaluated, in addition to the cost of these tests. */
export const MEMBER_STEPS = 12
/** Cost of adding an element to a set, or of searching for it in a set. */
const SET_ELEMENT_STEPS = 16
/**
 * Additional cost if the element is an array or an object. It is charged for each value in the element,
 * because the element is converted to text.
 */
const SET_VALUE_STEPS = 64
/** Cost of parsing a text as a time: a fixed part, and a part per character. */
const INSTANT_STEPS = 128
const INSTANT_CHARACTER_STEPS = 1
/** Cost of comparing two times that have already been parsed. */
export const INSTANTS_STEPS = 48
/**
 * Costs at one character of a text: of reaching a state of a glob, and of comparing the character with a
 * range of a class such as `[a-z]`.
 */
export const GLOB_STATE_STEPS = 6
export const GLOB_RANGE_STEPS = 1
/** Binary logarithm of the number of characters per step in a comparison of two texts of equal length. */
const COMPARED_A_STEP_LOG2 = 5
/** Costs of looking up an instance, and of copying and parsing one byte of its stored attributes. */
export const LOOKUP_STEPS = 128
export const PARSED_BYTE_STEPS = 3
/** Cost of a byte of a condition that a thread parses for the first time. */
export const READ_BYTE_STEPS = 20
/**
 * Costs of comparing stored lists of scalars in place. The first is the number of steps per element. The
 * second is the binary logarithm of the number of words that are compared per step.
 */
export const STORED_ELEMENT_STEPS = 2
export const STORED_WORDS_A_STEP_LOG2 = 3

/** Returns the cost of following a path through one source of values, or through all sources of a query. */
export function pathSteps({ length }: readonly string[], sources: 'one' | 'all'): number {
  return length * (length - 1) * PATH_NAME_STEPS * (sources === 'all' ? SOURCES_MAX : 1)
}

/** Returns the cost of comparing two texts of this length. */
export function textSteps(length: number): number {
  return length >>> COMPARED_A_STEP_LOG2
}

/**
 * Returns the cost of parsing a value that might be a time. It is 0 for values that are not texts, and for
 * texts that are too long.
 */
export function rankSteps(value: unknown, lengthMax: number): number {
  if (typeof value !== 'string' || value.length > lengthMax) return 0
  return INSTANT_STEPS + value.length * INSTANT_CHARACTER_STEPS
}

/**
 * Returns the cost of comparing two values. If both are arrays or objects, both are traversed. O(size of
 * both).
 */
export function equalitySteps(left: unknown, right: unknown): number {
  if (isCompound(left) && isCompound(right)) return comparisonSteps(left) + comparisonSteps(right)
  // Values of different types, and texts of different lengths, are found to be unequal without comparing
  // their content.
  if (typeof left !== 'string' || typeof right !== 'string' || left.length !== right.length) return 0
  return textSteps(left.length)
}

/** Returns the cost of traversing a value and comparing it with an equal value. O(size of the value). */
function comparisonSteps(value: unknown): number {
  if (typeof value === 'string') return ELEMENT_STEPS + textSteps(value.length)
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, element) => sum + comparisonSteps(element), ELEMENT_STEPS)
  }
  if (!isObject(value)) return ELEMENT_STEPS
  return Object.keys(value).reduce((sum, name) => sum + comparisonSteps(value[name]), ELEMENT_STEPS)
}

/**
 * Returns the cost of comparing a value with each element. Only texts of equal length are compared character
 * by character. O(elements); if the value is an array or an object, O(size of both).
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

/**
 * Returns the cost of adding values to a `ValueSet`, or of searching for them in it. O(size of the values).
 */
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
