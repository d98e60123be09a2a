/** Converts the formula of a plan to its answer, or refuses it (filter.md P53 to P55). */
import {
  type ColumnTest,
  type Formula,
  type ListSource,
  type Problem,
  termsOf,
} from '#conditions/plan/formula.ts'
import { FILTER_BYTES_MAX, FILTER_NODES_MAX } from '#model/limits.ts'
import type { PlanAnswer } from './planned-question.ts'
import { notExpressible, type OversizedList, tooManyIds, tooManyNodes } from './plan-errors.ts'

const encoder = new TextEncoder()

interface ListInFilter extends OversizedList {
  readonly size: number
}

export function answerOf(formula: Formula, idsMax: number, expiresAt: number | null): PlanAnswer {
  if (typeof formula === 'boolean') {
    return { kind: formula ? 'always_allowed' : 'always_denied', filter: null, ids: 0, expiresAt }
  }
  const problems = new Map<string, Extract<Problem, { kind: 'not-expressible' }>>()
  const lists: ListInFilter[] = []
  let nodes = 0
  for (const term of termsOf(formula)) {
    nodes += 1
    if (term.kind === 'test') {
      if (Array.isArray(term.value)) lists.push(listOf(term, term.value.length))
    } else if (term.kind === 'obstacle') {
      const { problem } = term
      if (problem.kind === 'too-large') lists.push({ ...problem, size: Infinity })
      else problems.set(term.text, problem)
    }
  }
  if (problems.size > 0) throw notExpressible([...problems.values()])
  const ids = lists.reduce((sum, { size }) => sum + size, 0)
  if (ids > idsMax) throw tooManyIds(longest(lists), idsMax)
  if (nodes > FILTER_NODES_MAX) throw tooManyNodes('nodes', FILTER_NODES_MAX)
  const filter = encoder.encode(formula.text)
  if (filter.length > FILTER_BYTES_MAX) throw tooManyNodes('bytes', FILTER_BYTES_MAX)
  return { kind: 'conditional', filter, ids, expiresAt }
}

function listOf({ column, source }: ColumnTest, size: number): ListInFilter {
  return { field: column.field, source, size }
}

/** Returns the lists by field and source, the longest first. */
function longest(lists: readonly ListInFilter[]): readonly OversizedList[] {
  const sums = new Map<string, { field: string; source: ListSource; size: number }>()
  for (const { field, source, size } of lists) {
    const name = JSON.stringify([field, source])
    const known = sums.get(name)
    if (known) known.size += size
    else sums.set(name, { field, source, size })
  }
  return [...sums]
    .toSorted(
      ([oneName, one], [otherName, other]) =>
        (other.size === one.size ? 0 : other.size - one.size) || (oneName < otherName ? -1 : 1),
    )
    .map(([, list]) => list)
}
