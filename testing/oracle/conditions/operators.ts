/**
 * Evaluates operators for an existing attribute and an operand without refs (conditions.md 5.3 to 5.6). The
 * result is unknown if the values do not fit the operator. `exists` and the operators on objects are in
 * another file.
 */
import { matchesGlob } from './globs.ts'
import { compareInstants, instantOf } from './instants.ts'
import { isObject } from './roots.ts'
import { conjunction, disjunction, known, negation, type Truth } from './truth.ts'

type Operator = (attribute: unknown, operand: unknown) => Truth

const equals: Operator = sameness
const lessThan: Operator = (a, b) => ordered(a, b, order => order < 0)
const atMost: Operator = (a, b) => ordered(a, b, order => order <= 0)
const greaterThan: Operator = (a, b) => ordered(a, b, order => order > 0)
const atLeast: Operator = (a, b) => ordered(a, b, order => order >= 0)
const contains: Operator = (a, b) =>
  typeof a === 'string' && typeof b === 'string' ? known(occursIn([...a], [...b])) : 'unknown'

/** Operators by name, with underscores. */
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
  ['in', (a, list) => (Array.isArray(list) ? isAmong(list, a) : 'unknown')],
  ['array_contains', (a, one) => (Array.isArray(a) ? isAmong(a, one) : 'unknown')],
  ['array_subset', ofArrays((a, list) => conjunction(a.map(each => isAmong(list, each))))],
  ['array_superset', ofArrays((a, list) => conjunction(list.map(each => isAmong(a, each))))],
  ['array_intersect', ofArrays((a, list) => disjunction(a.map(each => isAmong(list, each))))],
  ['array_len_equals', ofLength((length, number) => length === number)],
  ['array_len_greater_than', ofLength((length, number) => length > number)],
  ['array_len_less_than', ofLength((length, number) => length < number)],
])

/**
 * Returns true if a number cannot be compared: a `bigint` that no double represents, or a number beyond the
 * range of doubles. If the operand is such a number, the result is unknown. If a list or an object contains
 * such a number, only the comparison with this number is unknown.
 */
export function isUnreadable(value: unknown): boolean {
  if (typeof value === 'bigint') return !Number.isFinite(Number(value)) || integerOf(Number(value)) !== value
  return typeof value === 'number' && !Number.isFinite(value)
}

/** Returns the integer that a double represents. From 1e21, this is the integer that its text denotes. */
function integerOf(double: number): bigint {
  const [digits, exponent] = String(double).split('e+') as [string, string?]
  if (exponent === undefined) return BigInt(double)
  const [whole, fraction = ''] = digits.split('.') as [string, string?]
  return BigInt(`${whole}${fraction.padEnd(Number(exponent), '0')}`)
}

function hasUnreadable(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasUnreadable)
  return isObject(value) ? Object.values(value).some(hasUnreadable) : isUnreadable(value)
}

function sameness(a: unknown, b: unknown): Truth {
  if (isUnreadable(a) || isUnreadable(b)) return 'unknown'
  const areCompound = [a, b].every(each => typeof each === 'object' && each !== null)
  if (areCompound && (hasUnreadable(a) || hasUnreadable(b))) return 'unknown'
  return known(isSame(a, b))
}

/** Equality of JSON values: numbers as doubles, strings unchanged, members in any order. */
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
  return asDouble(a) === asDouble(b)
}

function asDouble(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}

function isAmong(list: readonly unknown[], value: unknown): Truth {
  return disjunction(list.map(each => sameness(each, value)))
}

/** Compares two numbers or two instants. Other values have no order, so the result is unknown. */
function ordered(a: unknown, b: unknown, holds: (order: number) => boolean): Truth {
  if (isUnreadable(a) || isUnreadable(b)) return 'unknown'
  const [one, other] = [asDouble(a), asDouble(b)]
  if (typeof one === 'number' && typeof other === 'number') {
    const order = Number(one > other) - Number(one < other)
    return known(holds(order))
  }
  if (typeof a !== 'string' || typeof b !== 'string') return 'unknown'
  const [left, right] = [instantOf(a), instantOf(b)]
  return left && right ? known(holds(compareInstants(left, right))) : 'unknown'
}

/** Compares code points. Therefore a lone surrogate does not match within a pair. */
function occursIn(text: readonly string[], part: readonly string[]): boolean {
  return [...text, ''].some((_, start) => part.every((character, at) => text[start + at] === character))
}

function ofArrays(holds: (attribute: readonly unknown[], list: readonly unknown[]) => Truth): Operator {
  return (a, b) => (Array.isArray(a) && Array.isArray(b) ? holds(a, b) : 'unknown')
}

function ofLength(holds: (length: number, number: number) => boolean): Operator {
  return (a, b) => {
    const number = isUnreadable(b) ? null : asDouble(b)
    return Array.isArray(a) && typeof number === 'number' ? known(holds(a.length, number)) : 'unknown'
  }
}
