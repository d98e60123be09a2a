/**
 * Plans the changes that bring an environment to the state in a model file: steps to show, and their
 * requests.
 *
 * Objects in the file are changed to match it. Omitted fields stay unchanged, omitted lists become empty.
 * Objects that are not in the file remain, unless they are pruned. There are no steps without differences, so
 * the plan is empty after it was applied.
 */
import type { EnvironmentState } from './environment-state.ts'
import { planFactRemovals, planFacts } from './plan-facts.ts'
import { planSchema, planSchemaRemovals } from './plan-schema.ts'
import { planConditionSetRemovals, planConditionSets, planRuleRemovals, planRules } from './plan-rules.ts'
import type { Finding } from './findings.ts'
import { PlanError, type PruneOptions, type Step } from './plan-step.ts'

/** Throws `PlanError` with all differences that no change can resolve. */
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
