/** `equals`, `not-equals`: compare values deeply, without conversion (conditions.md 5.3). */
import type { Operand } from '#conditions/values/operands.ts'
import type { Leaf, UnreadLeaf } from './leaf.ts'

export interface Equality extends Leaf {
  readonly kind: 'equality'
  readonly isNegated: boolean
  readonly operand: Operand
}

export function readEquality(test: UnreadLeaf, isNegated: boolean): Equality | null {
  const operand = test.any()
  return operand && Object.freeze({ kind: 'equality', ...test.leaf, isNegated, operand })
}
