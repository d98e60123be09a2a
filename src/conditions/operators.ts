/** Table of the operators by their names in JSON (conditions.md 3.2), with one row per operator. */
import type { Test } from './condition.ts'
import type { UnreadLeaf } from '#conditions/nodes/leaf.ts'
import { readArrayComparison } from '#conditions/nodes/array-comparison.ts'
import { readArrayContains } from '#conditions/nodes/array-contains.ts'
import { readArrayLength } from '#conditions/nodes/array-length.ts'
import { readBetween } from '#conditions/nodes/between.ts'
import { readContains } from '#conditions/nodes/contains.ts'
import { readEquality } from '#conditions/nodes/equality.ts'
import { readExistence } from '#conditions/nodes/existence.ts'
import { readGlobMatch } from '#conditions/nodes/glob-match.ts'
import type { Quantity } from '#conditions/nodes/member-match.ts'
import { readMembership } from '#conditions/nodes/membership.ts'
import { readOrdering } from '#conditions/nodes/ordering.ts'

/**
 * A row has either a function that parses the operand of a test, or the quantity of a match: the number of
 * members of the attribute for which the tests must be true.
 */
type OperatorRow =
  | { readonly read: (test: UnreadLeaf) => Test | null; readonly takesReference: boolean }
  | { readonly quantity: Quantity; readonly takesReference: false }

const OPERATORS = new Map<string, OperatorRow>([
  ['equals', { read: test => readEquality(test, false), takesReference: true }],
  ['not-equals', { read: test => readEquality(test, true), takesReference: true }],
  ['less-than', { read: test => readOrdering(test, 'below'), takesReference: true }],
  ['less-than-equals', { read: test => readOrdering(test, 'below-or-equal'), takesReference: true }],
  ['greater-than', { read: test => readOrdering(test, 'above'), takesReference: true }],
  ['greater-than-equals', { read: test => readOrdering(test, 'above-or-equal'), takesReference: true }],
  ['between', { read: readBetween, takesReference: false }],
  ['contains', { read: readContains, takesReference: true }],
  ['string-contains', { read: readContains, takesReference: true }],
  ['match', { read: readGlobMatch, takesReference: false }],
  ['in', { read: readMembership, takesReference: true }],
  ['array-contains', { read: readArrayContains, takesReference: true }],
  ['array-subset', { read: test => readArrayComparison(test, 'subset'), takesReference: true }],
  ['array-superset', { read: test => readArrayComparison(test, 'superset'), takesReference: true }],
  ['array-intersect', { read: test => readArrayComparison(test, 'intersecting'), takesReference: true }],
  ['array-len-equals', { read: test => readArrayLength(test, 'equal'), takesReference: true }],
  ['array-len-greater-than', { read: test => readArrayLength(test, 'above'), takesReference: true }],
  ['array-len-less-than', { read: test => readArrayLength(test, 'below'), takesReference: true }],
  ['object-match', { quantity: 'one', takesReference: false }],
  ['any-match', { quantity: 'any', takesReference: false }],
  ['all-match', { quantity: 'all', takesReference: false }],
  ['exists', { read: readExistence, takesReference: false }],
])
const REFERENCE_ENDING = '-ref'

export type Operator = OperatorRow & {
  /** Whether the operand must be a path, because the name of the operator ends with `-ref`. */
  readonly isReference: boolean
}

/** Returns the names of all operators, except the variants whose operand is a path. */
export function operatorNames(): Iterable<string> {
  return OPERATORS.keys()
}

/**
 * Returns the operator with this name, or `null` if there is none. Hyphens and underscores are equivalent.
 */
export function operatorOf(name: string): Operator | null {
  const spelled = name.replaceAll('_', '-')
  const row = OPERATORS.get(spelled)
  if (row !== undefined) return { ...row, isReference: false }
  if (!spelled.endsWith(REFERENCE_ENDING)) return null
  const referring = OPERATORS.get(spelled.slice(0, -REFERENCE_ENDING.length))
  return referring?.takesReference ? { ...referring, isReference: true } : null
}
