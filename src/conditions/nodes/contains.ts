/** `contains`: tests whether a text occurs in another text (conditions.md 5.6). */
import type { Literal, Reference } from '#conditions/values/operands.ts'
import type { Leaf, UnreadLeaf } from './leaf.ts'

export interface Contains extends Leaf {
  readonly kind: 'contains'
  readonly operand: Literal | Reference
}

export function readContains(test: UnreadLeaf): Contains | null {
  const operand = test.value('a string, or a ref', value => typeof value === 'string')
  return operand && Object.freeze({ kind: 'contains', ...test.leaf, operand })
}

/** Maximum length of a search text that the JavaScript engine finds in linear time. */
const QUICK_PART_LENGTH_MAX = 256
/**
 * Number of characters of a longer search text that are compared per step. A search can compare a large part
 * of the search text at each position of the text before it finds a difference.
 */
const COMPARED_A_STEP = 16
/**
 * Number of steps per character of the text if the search text begins or ends with half of a surrogate pair.
 * A match that begins or ends within a pair must be rejected, and every position might have such a match.
 */
const HALF_PAIR_STEPS = 6

/** Returns the maximum number of steps that the search can take. */
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

/**
 * Returns whether `part` occurs in the text as a sequence of characters. Half of a surrogate pair in `part`
 * does not match half of a whole pair in the text.
 */
export function occursIn(part: string, text: string): boolean {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    if (!isInPair(text, at) && !isInPair(text, at + part.length)) return true
  }
  return false
}

/** Returns whether this position is between the halves of a surrogate pair. */
function isInPair(text: string, at: number): boolean {
  return at > 0 && at < text.length && text.codePointAt(at - 1)! > 0xffff
}
