/** `array_len_equals` and related operators: compare the number of elements (conditions.md 5.5). */
import type { Literal, Reference } from '#conditions/values/operands.ts'
import { comparable } from '#conditions/values/values.ts'
import type { Leaf, UnreadLeaf } from './leaf.ts'

export type LengthRelation = 'equal' | 'above' | 'below'

export interface ArrayLength extends Leaf {
  readonly kind: 'array-length'
  readonly relation: LengthRelation
  readonly operand: Literal | Reference
}

export function readArrayLength(test: UnreadLeaf, relation: LengthRelation): ArrayLength | null {
  const operand = test.value('a non-negative integer, or a ref', isLength)
  return operand && Object.freeze({ kind: 'array-length', ...test.leaf, relation, operand })
}

function isLength(value: unknown): boolean {
  const number = comparable(value)
  return Number.isInteger(number) && Number(number) >= 0
}
