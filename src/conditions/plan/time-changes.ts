/** Finds the time at which a test of `server.time` changes its result (filter.md P60). */
import type { Test } from '#conditions/condition.ts'
import type { OrderRelation } from '#conditions/nodes/ordering.ts'
import { readInstant } from '#conditions/values/instants.ts'
import type { Literal, Operand, Reference } from '#conditions/values/operands.ts'
import type { AttributePath, Path } from '#conditions/values/paths.ts'
import { MIRRORED_RELATION } from './column-tests.ts'
import { timeBound } from './time-bounds.ts'

/**
 * Returns the next time after `asOf` at which a test of known values changes its result, in milliseconds
 * since 1970. Returns `asOf` if this cannot be determined, and null if the result does not change.
 */
export function changeTimeOf(
  test: Test,
  refs: readonly Path[],
  valueOf: (path: Path) => unknown,
  asOf: number,
): number | null {
  const reads = isTime(test.path) || refs.some(isTime)
  if (!reads || test.kind === 'existence') return null
  const next = (relation: OrderRelation, operand: unknown): number | null => {
    const instant = typeof operand === 'string' ? readInstant(operand) : null
    if (instant === null) return null
    const time = timeBound(instant, relation === 'below-or-equal' || relation === 'above')
    return time > asOf ? time : null
  }
  const compared = (relation: OrderRelation, operand: Operand): number | null => {
    if (operand.kind === 'list') return null
    if (!isTime(test.path)) {
      const isOfTime = operand.kind === 'ref' && isTime(operand.path)
      return isOfTime ? next(MIRRORED_RELATION[relation], valueOf(test.path as Path)) : null
    }
    // The time does not change relative to itself.
    if (operand.kind === 'ref' && isTime(operand.path)) return null
    return next(relation, valueOfItem(operand, valueOf))
  }
  switch (test.kind) {
    case 'ordering':
      return compared(test.relation, test.operand)
    case 'between':
      return earliest(compared('above-or-equal', test.low), compared('below-or-equal', test.high))
    default:
      return asOf
  }
}

export function earliest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}

function isTime({ root }: AttributePath): boolean {
  return root === 'server'
}

function valueOfItem(item: Literal | Reference, valueOf: (path: Path) => unknown): unknown {
  return item.kind === 'literal' ? item.value : valueOf(item.path)
}
