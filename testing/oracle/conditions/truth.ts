/** The three truth values of conditions and the connectives on them: Kleene's logic (conditions.md 5.1). */
export type Truth = 'true' | 'false' | 'unknown'

export function known(isTrue: boolean): Truth {
  return isTrue ? 'true' : 'false'
}

/** Returns true if the list is empty. */
export function conjunction(values: readonly Truth[]): Truth {
  if (values.includes('false')) return 'false'
  return values.includes('unknown') ? 'unknown' : 'true'
}

/** Returns false if the list is empty. */
export function disjunction(values: readonly Truth[]): Truth {
  if (values.includes('true')) return 'true'
  return values.includes('unknown') ? 'unknown' : 'false'
}

export function negation(value: Truth): Truth {
  if (value === 'unknown') return 'unknown'
  return known(value === 'false')
}
