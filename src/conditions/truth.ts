/**
 * Three values (conditions.md 5.1). A missing attribute, or one of a kind that a test cannot judge, is *unknown*; a set
 * matches only where its value is true, and `not` of unknown is unknown: what failed to arrive never opens a door.
 *
 * They are ordered, false below unknown below true, so that Kleene's connectives are least, greatest and reflection.
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
