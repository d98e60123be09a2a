/** `array_contains`: tests whether an element of the attribute equals the operand (conditions.md 5.5). */
import type { Operand } from '#conditions/values/operands.ts'
import type { Leaf, UnreadLeaf } from './leaf.ts'

export interface ArrayContains extends Leaf {
  readonly kind: 'array-contains'
  readonly operand: Operand
}

export function readArrayContains(test: UnreadLeaf): ArrayContains | null {
  const operand = test.any()
  return operand && Object.freeze({ kind: 'array-contains', ...test.leaf, operand })
}
