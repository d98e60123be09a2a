/**
 * Implements three-valued logic (conditions.md 5.1). If an attribute is missing, or if its type does not fit
 * the test, the result is *unknown*. A set matches only if its value is true. The value of `not` is unknown
 * if its item is unknown. Therefore a missing attribute never grants access.
 *
 * The values are ordered false < unknown < true. As in Kleene's logic, "and" is the minimum, "or" is the
 * maximum, and "not" reverses the order.
 */
export const FALSE = 0
export const UNKNOWN = 1
export const TRUE = 2

export type Truth = typeof FALSE | typeof UNKNOWN | typeof TRUE

const NAMES = ['false', 'unknown', 'true'] as const
export type TruthName = (typeof NAMES)[number]

export function truthOf(value: boolean): Truth {
  return value ? TRUE : FALSE
}

export function negated(value: Truth): Truth {
  return (TRUE - value) as Truth
}

export function nameOfTruth(value: Truth): TruthName {
  return NAMES[value]
}
