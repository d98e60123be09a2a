/** Evaluates conditions that need not belong to a rule. Uses the values that were collected for a query. */
import type { Condition } from '#conditions/condition.ts'
import { explainSide } from '#conditions/explain.ts'
import { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import type { TriedQuestion, WrittenConditions } from '#engine/engine.ts'
import type { TriedConditions } from '#engine/explanation.ts'
import type { AttributeNames } from '#engine/shared-index/memory/attribute-names.ts'
import { assert } from '#model/assert.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { type Lookup, mergedValues } from './merged-values.ts'
import type { AskedRules } from './rule-values.ts'

/** Parses the conditions. Pauses after each one, because each can have the maximum size. */
export function* readConditions(written: readonly WrittenConditions[]): Resumable<Condition[]> {
  const conditions: Condition[] = []
  for (const each of written) {
    yield
    const condition = readCondition(each, [])
    assert(!isRefused(condition), 'conditions are checked before they are tried')
    conditions.push(condition)
  }
  return conditions
}

/** Returns the results, or the instances that must be looked up before the conditions can be evaluated. */
export function* tryConditions(
  asked: AskedRules,
  question: TriedQuestion,
  conditions: readonly Condition[],
  names: AttributeNames,
): Resumable<TriedConditions | { readonly lookups: readonly Lookup[] }> {
  const missing = new Map<string, Lookup>()
  const budget = new EvaluationBudget()
  const values = mergedValues(asked, question, names, { missing, budget: null })
  const { value, trees } = yield* explainSide(conditions, values, budget)
  if (missing.size > 0) return { lookups: [...missing.values()] }
  return { value, trees, isOverBudget: budget.isExceeded }
}
