/** Bulk operations on rules: all or nothing, in one commit. */
import { Warned } from '#management/operations/answer-marks.ts'
import { forEachElement } from '#management/operations/bulk.ts'
import type { WriteContext } from '#management/drafts/context.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { idFrom } from '#model/instance-reference.ts'
import type {
  SetRuleCreate,
  SetRulesBulk,
  SetRulesBulkRemoval,
  SetRulesCreated,
  SetRulesRemoved,
} from '#entities/set-rule.ts'
import { actionsOfIds, type NamedAction, type RuleParts, ruleChange } from './rule-sides.ts'
import { addRule, findRule, partsOf } from './set-rules.ts'
import { IN_EVERY_TENANT, TenantMentions } from './tenant-mentions.ts'

/** Creates the missing rules. Existing rules are skipped and not counted. */
export function* createSetRules(
  context: WriteContext,
  input: { readonly body: SetRulesBulk },
): Resumable<SetRulesCreated | Warned<SetRulesCreated>> {
  const { operations } = input.body
  const mentions = new TenantMentions(context.records)
  const inEveryTenant: number[] = []
  let created = 0
  yield* forEachRule(context, operations, 'operations', (parts, index) => {
    if (findRule(context, parts) !== null) return
    addRule(context, parts)
    created += 1
    if (mentions.holdsInEveryTenant(parts)) inEveryTenant.push(index)
  })
  const answer = { rules_created: created, in_every_tenant: inEveryTenant }
  return inEveryTenant.length === 0 ? answer : new Warned(answer, IN_EVERY_TENANT)
}

/** Removes the existing rules. Rules that do not exist are skipped and not counted. */
export function* deleteSetRules(
  context: WriteContext,
  input: { readonly body: SetRulesBulkRemoval },
): Resumable<SetRulesRemoved> {
  let removed = 0
  yield* forEachRule(context, input.body.idents, 'idents', parts => {
    const rule = findRule(context, parts)
    if (rule === null) return
    context.records.delete(rule, { kind: 'rule-removed', ...ruleChange(parts) })
    removed += 1
  })
  return { rules_removed: removed }
}

/**
 * Calls `each` with the parts of each rule. If permissions are ids, searches the actions of all resource
 * types, once for all rules.
 */
function* forEachRule(
  context: WriteContext,
  rules: readonly SetRuleCreate[],
  list: string,
  each: (parts: RuleParts, index: number) => void,
): Resumable<void> {
  const ids = rules.flatMap(({ permission }) => idFrom(permission) ?? [])
  const byId: ReadonlyMap<string, NamedAction> =
    ids.length === 0 ? new Map() : yield* actionsOfIds(context.records, new Set(ids))
  yield* forEachElement(rules, ['body', list], (body, place) => {
    each(partsOf(context, body, byId), Number(place.at(-1)))
  })
}

export const writes = { createSetRules, deleteSetRules }
