/**
 * `less-than` and related operators: compare numbers with numbers and times with times, but no other values
 * (conditions.md 5.4).
 */
import { compareInstants, type ParsedInstant, readInstant } from '#conditions/values/instants.ts'
import type { Literal, Reference } from '#conditions/values/operands.ts'
import { comparable } from '#conditions/values/values.ts'
import type { Leaf, UnreadLeaf } from './leaf.ts'

export type OrderRelation = 'below' | 'below-or-equal' | 'above' | 'above-or-equal'

export interface Ordering extends Leaf {
  readonly kind: 'ordering'
  readonly relation: OrderRelation
  readonly operand: Literal | Reference
}

export const ORDERED = 'a number, an RFC 3339 date or time with its zone, or a ref'

export function readOrdering(test: UnreadLeaf, relation: OrderRelation): Ordering | null {
  const operand = test.value(ORDERED, value => rankOf(value) !== null)
  return operand && Object.freeze({ kind: 'ordering', ...test.leaf, relation, operand })
}

/** A value in the form in which it is compared. */
export type Rank = number | ParsedInstant

/** Returns the comparable form of a value, or `null` if values of this kind have no order. */
export function rankOf(value: unknown): Rank | null {
  const number = comparable(value)
  if (typeof number === 'number') return Number.isFinite(number) ? number : null
  return typeof value === 'string' ? readInstant(value) : null
}

/**
 * Compares two values. Returns a negative number, zero or a positive number, or `null` if the values cannot
 * be compared.
 */
export function compareRanks(left: Rank | null, right: Rank | null): number | null {
  if (left === null || right === null) return null
  if (typeof left === 'number') return typeof right === 'number' ? left - right : null
  return typeof right === 'number' ? null : compareInstants(left, right)
}

export function isInRelation(order: number, relation: OrderRelation): boolean {
  switch (relation) {
    case 'below':
      return order < 0
    case 'below-or-equal':
      return order <= 0
    case 'above':
      return order > 0
    case 'above-or-equal':
      return order >= 0
  }
}
