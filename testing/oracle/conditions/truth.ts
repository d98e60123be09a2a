/** The three truth values of a condition and what connectives make of them: Kleene's logic (conditions.md 5.1). */
export type Truth = 'true' | 'false' | 'unknown'

export function known(isTrue: boolean): Truth {
  return isTrue ? 'true' : 'false'
}

/** Of no values: true. */
export function conjunction(values: readonly Truth[]): Truth {
  if (values.includes('false')) return 'false'
  return values.includes('unknown') ? 'unknown' : 'true'
}

/** Of no values: false. */
export function disjunction(values: readonly Truth[]): Truth {
  if (values.includes('true')) return 'true'
  return values.includes('unknown') ? 'unknown' : 'false'
}

export function negation(value: Truth): Truth {
  if (value === 'unknown') return 'unknown'
  return known(value === 'false')
}
