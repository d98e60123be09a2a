/**
 * The law of plans (filter.md P19): for every row, the filter is true if and only if a check of the row
 * allows. The oracle decides the checks.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { planInSlices } from '#decisions/plan/plan-job.ts'
import type { PlanAnswer, PlannedQuestion } from '#decisions/plan/planned-question.ts'
import { sendable } from '#decisions/questions/sendable-query.ts'
import type { FilterNode } from '#filter/tree.ts'
import type { Change } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { removed } from '#testing/engines/changes.ts'
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
    const plan = plannedBy(SharedEngine.with(changes), question)
    if (plan === null) {
      met.refused += 1
      return
    }
    const { filter } = plan
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

/** Ends of facts after the time of the plan, in milliseconds; 0 stands for no end. */
const ends = fc.array(fc.constantFrom(0, 1, 2, 700, 2_000), { minLength: 5, maxLength: 9 })
const LATER_MS = [1, 2, 650, 1_500, 86_400_000]

test('until its expiration time, a filter selects the rows for which checks at that time allow', () => {
  const met = { limited: 0, single: 0, later: 0, changed: 0 }
  const least = { limited: 20, single: 1, later: 100, changed: 5 }
  const cases = fc.tuple(plans({ rows: 4 }), ends)
  holdsFor(cases, { runs: 8_000, met, least }, ([{ changes, question, rows }, endsOfFacts]) => {
    const expiring = changes.map((change, index) => {
      const end = endsOfFacts[index % endsOfFacts.length]!
      return isFact(change) && !isColumn(change, question) && end > 0
        ? { ...change, expiresAt: AS_OF + end }
        : change
    })
    const plan = plannedBy(SharedEngine.with(expiring), question)
    if (plan === null) return
    const { filter, kind, expiresAt } = plan
    if (expiresAt !== null) met[expiresAt === AS_OF ? 'single' : 'limited'] += 1
    for (const time of LATER_MS.map(ms => AS_OF + ms)) {
      const then = [...changes, ...removedBy(expiring, time)]
      const facts = new CurrentFacts()
      for (const change of then) facts.apply(change)
      const checks = new RowChecks(then, facts)
      for (const words of rows) {
        const row = storedRow(question, words, facts)
        if (row === null) continue
        const isSelected =
          filter === null ? kind === 'always_allowed' : rowMatches(filter, cellsOf(question, row))
        const isAllowed = checks.isAllowed(question, row, time)
        if (expiresAt !== null && time >= expiresAt) met.changed += Number(isSelected !== isAllowed)
        else {
          met.later += 1
          expect({ row, time, isSelected, plan }).toEqual({ row, time, isSelected: isAllowed, plan })
        }
      }
    }
  })
})

type FactPut = Extract<Change, { readonly kind: 'assignment-put' | 'tuple-put' }>

function isFact(change: Change): change is FactPut {
  return change.kind === 'assignment-put' || change.kind === 'tuple-put'
}

/** Whether the fact is a tuple over a relation that is a column of the row. */
function isColumn(fact: FactPut, { type, relations }: PlanWords): boolean {
  return (
    fact.kind === 'tuple-put' &&
    fact.object.type === type &&
    relations.some(({ relation }) => relation === fact.relation)
  )
}

/** Returns the removals of all facts that have expired at this time. The last put of a fact counts. */
function removedBy(changes: readonly Change[], time: number): Change[] {
  const puts = new Map<string, FactPut>()
  for (const change of changes) {
    if (isFact(change)) puts.set(JSON.stringify({ ...change, expiresAt: null }), change)
  }
  return [...puts.values()]
    .filter(({ expiresAt = null }) => expiresAt !== null && expiresAt <= time)
    .map(removed)
}

function plannedBy(
  engine: SharedEngine,
  question: PlanWords,
): (Omit<PlanAnswer, 'filter'> & { readonly filter: FilterNode | null }) | null {
  const job = { kind: 'plan', question: sendable(questionOf(question)) } as const
  const plan = refusedOr(() => runAtOnce(planInSlices(engine, job)))
  return (
    plan && {
      ...plan,
      filter: plan.filter && (JSON.parse(Buffer.from(plan.filter).toString()) as FilterNode),
    }
  )
}

/** Returns null for a plan without an exact filter. */
function refusedOr<Result>(plan: () => Result): Result | null {
  try {
    return plan()
  } catch (error) {
    if (error instanceof AuthzError && /^FILTER_|^UNKNOWN_RELATION$/u.test(error.code)) return null
    throw error
  }
}
