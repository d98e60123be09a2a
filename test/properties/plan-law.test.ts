/**
 * The law of plans (filter.md P19): for every row, the filter is true if and only if a check of the row
 * allows. The oracle decides the checks.
 */
import { expect, test } from 'vitest'
import { planInSlices } from '#decisions/plan/plan-job.ts'
import type { PlannedQuestion } from '#decisions/plan/planned-question.ts'
import { sendable } from '#decisions/questions/sendable-query.ts'
import type { FilterNode } from '#filter/tree.ts'
import type { Change } from '#model/change.ts'
import { DEFAULT_TENANT, type Query } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { CurrentFacts } from '#testing/oracle/current-facts.ts'
import { rowMatches } from '#testing/oracle/filters.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import { plans, type PlanWords, type RandomPlan, type RowWords } from '#testing/oracle/random-plans.ts'
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

/** The check of a row (filter.md P18). */
function checkOf(question: PlanWords, row: RowWords): Query {
  const { user, action, type, tenant, hasTenantColumn, attributes, sent } = question
  const ofColumns = attributes
    .filter(({ name, nulls }) => row.values[name] !== null || nulls === 'sent')
    .map(({ name }) => [name, row.values[name]] as const)
  const resource = { ...sent.resource, ...Object.fromEntries(ofColumns) }
  return {
    user,
    action,
    type,
    key: row.key,
    tenant: tenant ?? (hasTenantColumn ? row.tenant : null),
    queryContext: { readAt: AS_OF, sent: () => ({ ...sent, resource, tenant: null }) },
  }
}

test('a filter is true for a row if and only if a check of the row allows', () => {
  const met = { allowed: 0, denied: 0, refused: 0, conditional: 0, related: 0, listed: 0, excluded: 0 }
  const least = { allowed: 40, denied: 40, refused: 3, conditional: 30, related: 3, listed: 10, excluded: 3 }
  holdsFor(plans, { runs: 20_000, met, least }, ({ changes, question, rows }: RandomPlan) => {
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
    for (const words of rows) {
      const row = storedRow(question, words, facts)
      if (row === null) continue
      const cells = {
        key: row.key,
        ...(question.hasTenantColumn && { tenant: row.tenant }),
        ...Object.fromEntries(
          question.attributes.map(({ name }) => [`attributes.${name}`, row.values[name]]),
        ),
        ...Object.fromEntries(
          question.relations.map(({ relation }) => [`relations.${relation}`, row.subjects[relation] ?? null]),
        ),
      }
      const isSelected = filter === null ? plan.kind === 'always_allowed' : rowMatches(filter, cells)
      const isAllowed = isRowAllowed(question, row, facts, changes)
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

/**
 * Returns the row with the relations of the stored instance, if it is stored. Returns null if the row
 * violates a premise (filter.md P20 to P22).
 */
function storedRow(question: PlanWords, words: RowWords, facts: CurrentFacts): RowWords | null {
  const { type, relations, tenantsAgree } = question
  const stored = facts.instance({ type, key: words.key })
  const tenant = tenantOf(question, words, facts)
  const row =
    stored === undefined
      ? words
      : {
          ...words,
          subjects: Object.fromEntries(
            relations.map(({ relation }) => [
              relation,
              subjectsOf(facts, type, words.key, relation)[0] ?? null,
            ]),
          ),
        }
  if (stored !== undefined) {
    const isOne = relations.every(({ relation }) => subjectsOf(facts, type, words.key, relation).length < 2)
    if (!isOne) return null
  }
  if (!tenantsAgree) return row
  if (stored !== undefined && stored.tenant !== tenant) return null
  if (!facts.tenants.some(each => each.tenant === tenant)) return null
  const isAtHome = relations.every(({ relation }) => {
    const subject = row.subjects[relation] ?? null
    const subjectType = subjectTypeOf(facts, type, relation)
    const instance = subject === null ? undefined : facts.instance({ type: subjectType, key: subject })
    return instance === undefined || instance.tenant === tenant
  })
  return isAtHome ? row : null
}

function tenantOf({ tenant, hasTenantColumn, type }: PlanWords, row: RowWords, facts: CurrentFacts): string {
  const stored = facts.instance({ type, key: row.key })
  return tenant ?? (hasTenantColumn ? row.tenant : (stored?.tenant ?? DEFAULT_TENANT))
}

function subjectTypeOf(facts: CurrentFacts, type: string, relation: string): string {
  return facts.relations.find(each => each.type === type && each.relation === relation)?.subjectType ?? ''
}

function subjectsOf({ tuples }: CurrentFacts, type: string, key: string, relation: string): string[] {
  return tuples
    .filter(each => each.object.type === type && each.object.key === key && each.relation === relation)
    .map(({ subject }) => subject.key)
}

function isRowAllowed(
  question: PlanWords,
  row: RowWords,
  facts: CurrentFacts,
  changes: readonly Change[],
): boolean {
  const { type, relations } = question
  if (question.tenant !== null && question.hasTenantColumn && row.tenant !== question.tenant) return false
  const oracle = new Oracle()
  oracle.apply(changes)
  const tenant = tenantOf(question, row, facts)
  const isKnown = facts.tenants.some(each => each.tenant === tenant)
  if (facts.instance({ type, key: row.key }) === undefined && isKnown) {
    // As if the tuples of the row were stored in the tenant of the row.
    const object = { type, key: row.key }
    const tuples = relations.flatMap(({ relation }): Change[] => {
      const subject = { type: subjectTypeOf(facts, type, relation), key: row.subjects[relation] ?? '' }
      return facts.instance(subject)?.tenant === tenant
        ? [{ kind: 'tuple-put', subject, relation, object }]
        : []
    })
    if (tuples.length > 0) {
      oracle.apply([{ kind: 'instance-put', instance: object, tenant, attributes: null }, ...tuples])
    }
  }
  return oracle.evaluate(checkOf(question, row))
}
