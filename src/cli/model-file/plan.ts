/**
 * Plans the changes that bring an environment to the state in a model file. A plan consists of steps, which
 * are shown to the user, and of their requests.
 *
 * Objects in the file are changed to match it. If the file omits a field, the field stays unchanged. If the
 * file omits a list, the list becomes empty. Objects that are not in the file are kept, unless they are
 * pruned. Every step contains a difference, so the plan is empty after it was applied.
 */
import type { EnvironmentState } from './environment-state.ts'
import { planFactRemovals, planFacts } from './plan-facts.ts'
import { planSchema, planSchemaRemovals } from './plan-schema.ts'
import { planConditionSetRemovals, planConditionSets, planRuleRemovals, planRules } from './plan-rules.ts'
import type { Finding } from './findings.ts'
import { PlanError, type PruneOptions, type Step } from './plan-step.ts'

/** Throws `PlanError` with all differences that no request can resolve. */
export function planOf(current: EnvironmentState, desired: EnvironmentState, prune: PruneOptions): Step[] {
  const conflicts: Finding[] = []
  const steps = [
    ...planSchema(current, desired, prune, conflicts),
    ...planConditionSets(current, desired, conflicts),
    ...planRules(current, desired),
    ...planFacts(current, desired, conflicts),
    ...(prune.facts ? planFactRemovals(current, desired) : []),
    ...(prune.model
      ? [
          ...planRuleRemovals(current, desired),
          ...planConditionSetRemovals(current, desired),
          ...planSchemaRemovals(current, desired),
        ]
      : []),
  ]
  if (conflicts.length > 0) throw new PlanError(conflicts)
  return steps
}
