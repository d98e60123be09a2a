/** Condition sets and the rules on them (conditions.md 2). */
import { Type } from 'typebox'
import type { Call } from '#http/message/request-reply.ts'
import type { Route } from '#http/routing/route.ts'
import { parsedJson } from '#model/text/json-numbers.ts'
import {
  ConditionSet,
  ConditionSetCreate,
  ConditionSetList,
  ConditionSetPath,
  ConditionSetQuery,
  ConditionSetsPath,
  ConditionSetsQuery,
  ConditionSetUpdate,
  PossibleParentsQuery,
  RelatedSetsQuery,
} from '#entities/condition-set.ts'
import {
  SetRule,
  SetRuleCreate,
  SetRuleList,
  SetRulesBulk,
  SetRulesBulkRemoval,
  SetRulesCreated,
  SetRulesPath,
  SetRulesQuery,
  SetRulesRemoved,
} from '#entities/set-rule.ts'
import { ConditionSetTry, type ConditionTrial, TriedSet } from '#entities/tried-set.ts'
import { FACTS_BASE, type Manage, managed, type ManagementGateway, SCHEMA_BASE } from './managed.ts'

const SETS = `${SCHEMA_BASE}/condition_sets`
const SET = `${SETS}/{condition_set_id}`

/** Evaluates the samples of a trial against the index of its environment. */
export type EvaluateTrial = (
  trial: ConditionTrial,
  caller: Call['caller'],
) => Promise<{ readonly samples: TriedSet['samples']; readonly overBudget: readonly number[] }>

export function conditionSetRoutes(gateway: ManagementGateway, evaluate: EvaluateTrial): Route[] {
  const manage = managed(gateway)
  return [...wholeSets(manage, evaluate), ...relatedSets(manage)]
}

const BUDGET_EXCEEDED =
  'the conditions exceed the evaluation budget of a check for this sample: the remaining tests are unknown'

/**
 * Evaluates the samples of a trial. The main thread has already checked the trial and passes it on as JSON.
 */
async function tried(json: string, evaluate: EvaluateTrial, caller: Call['caller']): Promise<string> {
  const trial = parsedJson(json) as ConditionTrial
  const { valid, findings } = trial
  const { samples, overBudget } = await evaluate(trial, caller)
  const exceeded = overBudget.map(index => ({
    loc: ['body', 'samples', index],
    msg: BUDGET_EXCEEDED,
    type: 'budget',
  }))
  return JSON.stringify({ valid, findings, warnings: [...trial.warnings, ...exceeded], samples })
}

function wholeSets(manage: Manage, evaluate: EvaluateTrial): Route[] {
  return [
    manage({
      operation: 'listConditionSets',
      level: 'read',
      method: 'GET',
      path: SETS,
      summary: 'List condition sets',
      params: ConditionSetsPath,
      query: ConditionSetsQuery,
      answer: ConditionSetList,
    }),
    manage({
      operation: 'createConditionSet',
      level: 'write',
      method: 'POST',
      path: SETS,
      summary: 'Create a condition set',
      params: ConditionSetsPath,
      body: ConditionSetCreate,
      answer: ConditionSet,
    }),
    manage({
      operation: 'tryConditionSet',
      level: 'read',
      method: 'POST',
      path: `${SETS}/try`,
      summary: 'Evaluate a condition set on samples, or list its errors; nothing is saved',
      params: ConditionSetsPath,
      body: ConditionSetTry,
      answer: TriedSet,
      isRead: true,
      complete: (json, call) => tried(json, evaluate, call.caller),
    }),
    manage({
      operation: 'getConditionSet',
      level: 'read',
      method: 'GET',
      path: SET,
      summary: 'Read a condition set',
      params: ConditionSetPath,
      thing: 'getConditionSet',
      query: ConditionSetQuery,
      answer: ConditionSet,
    }),
    manage({
      operation: 'updateConditionSet',
      level: 'write',
      method: 'PATCH',
      path: SET,
      summary: 'Change a condition set; each given field replaces the whole old value',
      params: ConditionSetPath,
      thing: 'getConditionSet',
      body: ConditionSetUpdate,
      answer: ConditionSet,
    }),
    manage({
      operation: 'deleteConditionSet',
      level: 'write',
      method: 'DELETE',
      path: SET,
      summary: 'Delete a condition set that has no child sets, and the rules on it',
      params: ConditionSetPath,
      thing: 'getConditionSet',
      refusals: [409],
    }),
  ]
}

function relatedSets(manage: Manage): Route[] {
  const related = { method: 'GET', params: ConditionSetPath, query: RelatedSetsQuery } as const
  const answer = Type.Array(ConditionSet)
  return [
    manage({
      ...related,
      operation: 'listSetAncestors',
      level: 'read',
      path: `${SET}/ancestors`,
      summary: 'List the ancestors of a condition set, nearest first',
      answer,
    }),
    manage({
      ...related,
      operation: 'listSetDescendants',
      level: 'read',
      path: `${SET}/descendants`,
      summary: 'List the descendants of a condition set, nearest first',
      answer,
    }),
    manage({
      ...related,
      operation: 'listPossibleParents',
      level: 'read',
      path: `${SET}/possible_parents`,
      summary: 'List the condition sets that can be the parent of a condition set',
      query: PossibleParentsQuery,
      answer,
    }),
  ]
}

const RULES = `${FACTS_BASE}/set_rules`

export function setRuleRoutes(manage: Manage): Route[] {
  const all = { path: RULES, params: SetRulesPath }
  return [
    manage({
      ...all,
      operation: 'listSetRules',
      level: 'read',
      method: 'GET',
      summary: 'List rules on condition sets',
      query: SetRulesQuery,
      answer: SetRuleList,
    }),
    manage({
      ...all,
      operation: 'createSetRule',
      level: 'write',
      method: 'POST',
      summary: 'Create a rule that allows an action if a user set and a resource set match',
      body: SetRuleCreate,
      answer: Type.Array(SetRule, { minItems: 1, maxItems: 1 }),
      mayWarn: true,
    }),
    manage({
      ...all,
      operation: 'deleteSetRule',
      level: 'write',
      method: 'DELETE',
      summary: 'Delete a rule on condition sets',
      body: SetRuleCreate,
    }),
    manage({
      ...all,
      path: `${RULES}/bulk`,
      operation: 'createSetRules',
      level: 'write',
      method: 'POST',
      summary: 'Create rules on condition sets, all or none; existing rules are skipped',
      body: SetRulesBulk,
      answer: SetRulesCreated,
      mayWarn: true,
    }),
    manage({
      ...all,
      path: `${RULES}/bulk`,
      operation: 'deleteSetRules',
      level: 'write',
      method: 'DELETE',
      summary: 'Delete rules on condition sets, all or none; missing rules are skipped',
      body: SetRulesBulkRemoval,
      answer: SetRulesRemoved,
    }),
  ]
}
