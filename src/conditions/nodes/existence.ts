/**
 * `exists`: tests whether the attribute is present, even if it is null. The result is never unknown
 * (conditions.md 3.5).
 */
import type { Leaf, UnreadLeaf } from './leaf.ts'

export interface Existence extends Leaf {
  readonly kind: 'existence'
  readonly isWanted: boolean
}

export function readExistence(test: UnreadLeaf): Existence | null {
  const { operand } = test
  if (typeof operand !== 'boolean') return test.wrong('true or false')
  return Object.freeze({ kind: 'existence', ...test.leaf, isWanted: operand })
}
