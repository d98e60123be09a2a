/**
 * Implements three-valued logic (conditions.md 5.1). If an attribute is missing, or its type does not fit the
 * test, the result is *unknown*. A set matches only if its value is true, and `not` of unknown is unknown, so
 * a missing attribute never grants access.
 *
 * The values are ordered false < unknown < true. Kleene's "and" is the minimum, "or" the maximum, and "not"
 * the reflection.
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
