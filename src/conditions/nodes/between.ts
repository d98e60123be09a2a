/**
 * `between`: tests that a value is not below the first bound and not above the second (conditions.md 5.4).
 */
import { itemsOf, type Literal, type Reference } from '#conditions/values/operands.ts'
import type { Leaf, UnreadLeaf } from './leaf.ts'
import { compareRanks, ORDERED, rankOf } from './ordering.ts'

export interface Between extends Leaf {
  readonly kind: 'between'
  readonly low: Literal | Reference
  readonly high: Literal | Reference
}

export function readBetween(test: UnreadLeaf): Between | null {
  const operand = test.list()
  if (operand === null) return null
  const [low, high, ...more] = itemsOf(operand)
  const isPair = low !== undefined && high !== undefined && more.length === 0
  if (!isPair || !isBound(low) || !isBound(high)) return test.wrong(`two bounds, each ${ORDERED}`)
  if (low.kind === 'literal' && high.kind === 'literal') {
    const order = compareRanks(rankOf(low.value), rankOf(high.value))
    if (order === null) {
      return test.wrong('two numbers or two times', `${kindOf(low)} and ${kindOf(high)}`)
    }
    if (order > 0) return test.wrong('the lower bound first', `${textOf(low)} before ${textOf(high)}`)
  }
  return Object.freeze({ kind: 'between', ...test.leaf, low, high })
}

function isBound(bound: Literal | Reference): boolean {
  return bound.kind === 'ref' || rankOf(bound.value) !== null
}

function kindOf({ value }: Literal): string {
  return typeof value === 'string' ? 'a time' : 'a number'
}

function textOf({ value }: Literal): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
