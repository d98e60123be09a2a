/** `contains`: whether a text occurs in a text (conditions.md 5.6). */
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

/** The engine searches for a part of at most this length in time that is linear in the text. */
const QUICK_PART_LENGTH_MAX = 256
/** Characters of a longer part that are compared in a step: much of it might be at each place of the text. */
const COMPARED_A_STEP = 16
/** Steps per character of the text if a part is half of a surrogate pair, which might be found at each place in vain. */
const HALF_PAIR_STEPS = 6

/** Steps that the search may take. */
export function searchCost(part: string, text: string): number {
  const isHalf = isLowSurrogate(part.charCodeAt(0)) || isHighSurrogate(part.charCodeAt(part.length - 1))
  const placed = text.length * (isHalf ? HALF_PAIR_STEPS : 1)
  if (part.length <= QUICK_PART_LENGTH_MAX) return placed
  return placed + Math.ceil((part.length * text.length) / COMPARED_A_STEP)
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
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
