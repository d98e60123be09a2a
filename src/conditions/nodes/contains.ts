/** `contains`: whether a text occurs in a text (section 5.6). */
import type { Literal, Reference } from '#conditions/operands.ts'
import type { Leaf, UnreadLeaf } from './leaf.ts'

export interface Contains extends Leaf {
  readonly kind: 'contains'
  readonly operand: Literal | Reference
}

export function readContains(test: UnreadLeaf): Contains | null {
  const operand = test.value('a string, or a ref', value => typeof value === 'string')
  return operand && Object.freeze({ kind: 'contains', ...test.leaf, operand })
}

/** Characters compared in a step. */
const COMPARED_A_STEP = 64

/** Steps that the search may take: where much of the part stands at many places, it is compared at each of them. */
export function searchCost(part: string, text: string): number {
  return Math.ceil((part.length * text.length) / COMPARED_A_STEP)
}

/** Whether the characters of one occur in the other: half of a surrogate pair is none. */
export function occursIn(part: string, text: string): boolean {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    if (!isInPair(text, at) && !isInPair(text, at + part.length)) return true
  }
  return false
}

/** Whether a surrogate pair stands around this place. */
function isInPair(text: string, at: number): boolean {
  return at > 0 && at < text.length && text.codePointAt(at - 1)! > 0xffff
}
