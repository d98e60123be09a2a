/** `array_subset`, `array_superset`, `array_intersect`: compare two arrays as sets (conditions.md 5.5). */
import type { ListOperand } from '#conditions/values/operands.ts'
import type { Leaf, UnreadLeaf } from './leaf.ts'

/** Relation that the attribute must have to the operand. */
export type SetRelation = 'subset' | 'superset' | 'intersecting'

export interface ArrayComparison extends Leaf {
  readonly kind: 'array-comparison'
  readonly relation: SetRelation
  readonly operand: ListOperand
}

export function readArrayComparison(test: UnreadLeaf, relation: SetRelation): ArrayComparison | null {
  const operand = test.list()
  return operand && Object.freeze({ kind: 'array-comparison', ...test.leaf, relation, operand })
}
