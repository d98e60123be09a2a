/**
 * What has to be done so that an environment is as a model file wants it: steps to show and the requests they consist of.
 *
 * What the file names becomes what the file says; fields it leaves out stay as they are, lists it leaves out become empty.
 * What it does not name stays, unless it is to be pruned. Nothing is planned where nothing differs, so a second time the plan
 * is empty.
 */
import type { EnvironmentState } from './environment-state.ts'
import { planFactRemovals, planFacts } from './plan-facts.ts'
import { planSchema, planSchemaRemovals } from './plan-schema.ts'
import { planConditionSetRemovals, planConditionSets, planRuleRemovals, planRules } from './plan-rules.ts'
import type { Finding } from './findings.ts'
import { PlanError, type PruneOptions, type Step } from './plan-step.ts'

/** Throws `PlanError` with every difference that changes cannot remove. */
export function planOf(present: EnvironmentState, wanted: EnvironmentState, prune: PruneOptions): Step[] {
  const conflicts: Finding[] = []
  const steps = [
    ...planSchema(present, wanted, prune, conflicts),
    ...planConditionSets(present, wanted, conflicts),
    ...planRules(present, wanted),
    ...planFacts(present, wanted, conflicts),
    ...(prune.facts ? planFactRemovals(present, wanted) : []),
    ...(prune.model
      ? [
          ...planRuleRemovals(present, wanted),
          ...planConditionSetRemovals(present, wanted),
          ...planSchemaRemovals(present, wanted),
        ]
      : []),
  ]
  if (conflicts.length > 0) throw new PlanError(conflicts)
  return steps
}
