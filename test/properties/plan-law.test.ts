/**
 * The law of plans (filter.md P19): for every row, the filter is true if and only if a check of the row
 * allows. The oracle decides the checks.
 */
import { expect, test } from 'vitest'
import { planInSlices } from '#decisions/plan/plan-job.ts'
import type { PlannedQuestion } from '#decisions/plan/planned-question.ts'
import { sendable } from '#decisions/questions/sendable-query.ts'
import type { FilterNode } from '#filter/tree.ts'
import { AuthzError } from '#model/errors.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { CurrentFacts } from '#testing/oracle/current-facts.ts'
import { rowMatches } from '#testing/oracle/filters.ts'
import { cellsOf, RowChecks, storedRow } from '#testing/oracle/planned-rows.ts'
import { plans, type PlanWords, type RandomPlan } from '#testing/oracle/random-plans.ts'
import { holdsFor } from './seeded.ts'

const AS_OF = Date.UTC(2026, 10, 26)

function questionOf({ attributes, relations, sent, ...words }: PlanWords): PlannedQuestion {
  return {
    ...words,
    attributes: attributes.toReversed(),
    relations: relations.map(({ relation }) => relation),
    queryContext: { readAt: AS_OF, sent: () => ({ ...sent, tenant: null }) },
  }
}

test('a filter is true for a row if and only if a check of the row allows', () => {
  const met = { allowed: 0, denied: 0, refused: 0, conditional: 0, related: 0, listed: 0, excluded: 0 }
  const least = { allowed: 40, denied: 40, refused: 3, conditional: 30, related: 3, listed: 10, excluded: 3 }
  holdsFor(plans({ rows: 6 }), { runs: 20_000, met, least }, ({ changes, question, rows }: RandomPlan) => {
    const engine = SharedEngine.with(changes)
    const job = { kind: 'plan', question: sendable(questionOf(question)) } as const
    const plan = refusedOr(() => runAtOnce(planInSlices(engine, job)))
    if (plan === null) {
      met.refused += 1
      return
    }
    const filter = plan.filter && (JSON.parse(Buffer.from(plan.filter).toString()) as FilterNode)
    if (filter !== null) met.conditional += 1
    const text = JSON.stringify(filter)
    if (text.includes('relations.')) met.related += 1
    if (text.includes('"in"')) met.listed += 1
    if (text.includes('"nin"')) met.excluded += 1
    const facts = new CurrentFacts()
    for (const change of changes) facts.apply(change)
    const checks = new RowChecks(changes, facts)
    for (const words of rows) {
      const row = storedRow(question, words, facts)
      if (row === null) continue
      const isSelected =
        filter === null ? plan.kind === 'always_allowed' : rowMatches(filter, cellsOf(question, row))
      const isAllowed = checks.isAllowed(question, row, AS_OF)
      met[isAllowed ? 'allowed' : 'denied'] += 1
      expect({ row, isSelected, filter }).toEqual({ row, isSelected: isAllowed, filter })
    }
  })
})

/** Returns null for a plan without an exact filter. */
function refusedOr<Result>(plan: () => Result): Result | null {
  try {
    return plan()
  } catch (error) {
    if (error instanceof AuthzError && /^FILTER_|^UNKNOWN_RELATION$/u.test(error.code)) return null
    throw error
  }
}
