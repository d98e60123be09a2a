/** `in`: tests whether the whole attribute is an element of the operand (conditions.md 5.5). */
import type { ListOperand } from '#conditions/values/operands.ts'
import type { Leaf, UnreadLeaf } from './leaf.ts'

export interface Membership extends Leaf {
  readonly kind: 'membership'
  readonly operand: ListOperand
}

export function readMembership(test: UnreadLeaf): Membership | null {
  const operand = test.list()
  return operand && Object.freeze({ kind: 'membership', ...test.leaf, operand })
}
