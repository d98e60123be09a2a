/**
 * What an operator says of an attribute that is there and an operand whose refs are read (conditions.md 5.3 to 5.6).
 * Whatever does not fit is unknown. `exists`, which asks whether the attribute is there, and the operators that look
 * into objects are not here.
 */
import { matchesGlob } from './globs.ts'
import { compareInstants, instantOf } from './instants.ts'
import { isObject } from './roots.ts'
import { conjunction, known, negation } from './truth.ts'
import type { Truth } from './truth.ts'

type Operator = (attribute: unknown, operand: unknown) => Truth

const equals: Operator = (a, b) => known(isSame(a, b))
const lessThan: Operator = (a, b) => ordered(a, b, order => order < 0)
const atMost: Operator = (a, b) => ordered(a, b, order => order <= 0)
const greaterThan: Operator = (a, b) => ordered(a, b, order => order > 0)
const atLeast: Operator = (a, b) => ordered(a, b, order => order >= 0)
const contains: Operator = (a, b) =>
  typeof a === 'string' && typeof b === 'string' ? known(occursIn([...a], [...b])) : 'unknown'

/** By their names with underscores. */
export const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['equals', equals],
  ['not_equals', (a, b) => negation(equals(a, b))],
  ['less_than', lessThan],
  ['less_than_equals', atMost],
  ['greater_than', greaterThan],
  ['greater_than_equals', atLeast],
  [
    'between',
    (a, bounds) => {
      if (!Array.isArray(bounds) || bounds.length !== 2) throw new Error('between takes [low, high]')
      return conjunction([atLeast(a, bounds[0]), atMost(a, bounds[1])])
    },
  ],
  ['contains', contains],
  ['string_contains', contains],
  [
    'match',
    (a, glob) => {
      if (typeof glob !== 'string') throw new Error('match takes a glob')
      return typeof a === 'string' ? known(matchesGlob(a, glob)) : 'unknown'
    },
  ],
  ['in', (a, list) => (Array.isArray(list) ? known(isAmong(list, a)) : 'unknown')],
  ['array_contains', (a, one) => (Array.isArray(a) ? known(isAmong(a, one)) : 'unknown')],
  ['array_subset', ofArrays((a, list) => a.every(each => isAmong(list, each)))],
  ['array_superset', ofArrays((a, list) => list.every(each => isAmong(a, each)))],
  ['array_intersect', ofArrays((a, list) => a.some(each => isAmong(list, each)))],
  ['array_len_equals', ofLength((length, number) => length === number)],
  ['array_len_greater_than', ofLength((length, number) => length > number)],
  ['array_len_less_than', ofLength((length, number) => length < number)],
])

/** Equality of JSON values: same kind, and within it numbers as doubles, strings as they are, members in any order. */
function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((each, index) => isSame(each, b[index]))
  }
  if (isObject(a) && isObject(b)) {
    const names = Object.keys(a)
    return (
      names.length === Object.keys(b).length &&
      names.every(name => Object.hasOwn(b, name) && isSame(a[name], b[name]))
    )
  }
  return a === b
}

function isAmong(list: readonly unknown[], value: unknown): boolean {
  return list.some(each => isSame(each, value))
}

/** Two numbers or two instants; nothing else has an order. */
function ordered(a: unknown, b: unknown, holds: (order: number) => boolean): Truth {
  if (typeof a === 'number' && typeof b === 'number') {
    const order = Number(a > b) - Number(a < b)
    return known(holds(order))
  }
  if (typeof a !== 'string' || typeof b !== 'string') return 'unknown'
  const [left, right] = [instantOf(a), instantOf(b)]
  return left && right ? known(holds(compareInstants(left, right))) : 'unknown'
}

/** By code points, so that half of a surrogate pair does not occur in the pair. */
function occursIn(text: readonly string[], part: readonly string[]): boolean {
  return [...text, ''].some((_, start) => part.every((character, at) => text[start + at] === character))
}

function ofArrays(holds: (attribute: readonly unknown[], list: readonly unknown[]) => boolean): Operator {
  return (a, b) => (Array.isArray(a) && Array.isArray(b) ? known(holds(a, b)) : 'unknown')
}

function ofLength(holds: (length: number, number: number) => boolean): Operator {
  return (a, b) => (Array.isArray(a) && typeof b === 'number' ? known(holds(a.length, b)) : 'unknown')
}
