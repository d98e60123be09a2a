/**
 * Operations on rules (conditions.md 1.4 and 2). A rule allows users in the user set to do an action on
 * resources in the resource set.
 */
import { createHash } from 'node:crypto'
import { Warned } from '#management/operations/answer-marks.ts'
import {
  presentScope,
  presentTimes,
  type ReadContext,
  type Scoped,
  type WriteContext,
} from '#management/drafts/context.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { requireNoneAdded } from '#management/schema/schema-ceilings.ts'
import type { RuleChange } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import { CONDITION_SET_KEY_LENGTH_MAX } from '#model/limits.ts'
import { idFrom } from '#model/instance-reference.ts'
import type { RuleRecord } from '#entities/records.ts'
import type { SetRule, SetRuleCreate } from '#entities/set-rule.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'
import {
  actionsOfIds,
  checkPermission,
  keyOfSide,
  type NamedAction,
  requireAction,
  requireResourceSide,
  requireUserSide,
  type ResourceSide,
  ruleChange,
  type RuleParts,
} from './rule-sides.ts'
import { IN_EVERY_TENANT, TenantMentions } from './tenant-mentions.ts'

/**
 * Creates a rule. Returns an array with that one rule, as clients expect. An existing rule stays unchanged,
 * as the published API specifies.
 */
export function* createSetRule(
  context: WriteContext,
  input: { readonly body: SetRuleCreate },
): Resumable<SetRule[] | Warned<SetRule[]>> {
  const parts = yield* resolveParts(context, input.body)
  const rule = findRule(context, parts) ?? addRule(context, parts)
  const rules = [presentRule(context, rule, parts)]
  return new TenantMentions(context.records).holdsInEveryTenant(parts)
    ? new Warned(rules, IN_EVERY_TENANT)
    : rules
}

export function* deleteSetRule(
  context: WriteContext,
  input: { readonly body: SetRuleCreate },
): Resumable<void> {
  const parts = yield* resolveParts(context, input.body)
  const rule = findRule(context, parts)
  if (rule === null) {
    throw new AuthzError('NOT_FOUND', `there is no rule ${JSON.stringify(keyOfNamedRule(ruleChange(parts)))}`)
  }
  context.records.delete(rule, { kind: 'rule-removed', ...ruleChange(parts) })
}

/** The entities that a body names. Throws `NOT_FOUND`, and `INVALID_INPUT` for sides that do not fit. */
export function* resolveParts(context: WriteContext, body: SetRuleCreate): Resumable<RuleParts> {
  const { permission } = body
  const id = idFrom(permission)
  const byId = id === null ? new Map() : yield* actionsOfIds(context.records, new Set([id]))
  return partsOf(context, body, byId)
}

/** Like `resolveParts`, but without a pause. `byId` contains the actions that ids name. */
export function partsOf(
  context: WriteContext,
  body: SetRuleCreate,
  byId: ReadonlyMap<string, NamedAction>,
): RuleParts {
  const { records } = context
  checkPermission(body.permission)
  // A concurrent change of its parent could limit a set to a resource type.
  requireNoneAdded(context)
  const { type, action } = requireAction(records, body.permission, byId)
  // The type contains the action, so removing the action changes the type. Read through the draft if it was
  // found by a list.
  records.requireUnchanged(records.get('type', rowKeys.type(type.key)) ?? type)
  const userSide = requireUserSide(records, body.user_set, body.is_role === true)
  const resourceSide = requireResourceSide(records, body.resource_set, body.is_resource === true)
  const typeId = resourceSide.kind === 'type' ? resourceSide.id : resourceSide.typeId
  if (typeId !== null && typeId !== type.id) throw otherResource(resourceSide, body.permission)
  return { userSide, type, action, resourceSide }
}

function otherResource(side: ResourceSide, permission: string): AuthzError {
  return new AuthzError(
    'INVALID_INPUT',
    `${JSON.stringify(keyOfSide(side))} belongs to another resource than the permission ${JSON.stringify(permission)}`,
  )
}

export function findRule({ records }: WriteContext, parts: RuleParts): RuleRecord | null {
  const { userSide, resourceSide, action } = parts
  return records.get('rule', rowKeys.rule(userSide.id, resourceSide.id, action.id))
}

/** Adds a rule that does not exist yet, and notifies the engine. */
export function addRule(context: WriteContext, parts: RuleParts): RuleRecord {
  const { userSide, resourceSide, type, action } = parts
  const rule: RuleRecord = {
    kind: 'rule',
    id: context.newId(),
    createdAt: context.now,
    userSideId: userSide.id,
    resourceSideId: resourceSide.id,
    typeId: type.id,
    actionId: action.id,
  }
  context.records.put(rule, { kind: 'rule-put', ...ruleChange(parts) })
  return rule
}

export function presentRule(context: ReadContext, rule: RuleRecord, parts: RuleParts): SetRule {
  return presentRuleFields(context, rule, ruleChange(parts))
}

export function presentRuleFields({ scope }: Scoped, rule: RuleRecord, names: RuleChange): SetRule {
  return {
    id: rule.id,
    key: keyOfNamedRule(names),
    ...presentRuleNames(names),
    ...presentScope(scope),
    ...presentTimes({ createdAt: rule.createdAt, updatedAt: rule.createdAt }),
  }
}

export function presentRuleNames({ userSet, type, action, resourceSet }: RuleChange) {
  return { user_set: userSet, permission: `${type}:${action}`, resource_set: resourceSet }
}

/** Digits of a hash that distinguish long keys with the same beginning. */
const HASH_LENGTH = 16

function keyOfNamedRule({ userSet, type, action, resourceSet }: RuleChange): string {
  const key = [userSet, type, action, resourceSet].join('-')
  if (key.length <= CONDITION_SET_KEY_LENGTH_MAX) return key
  const hash = createHash('sha256').update(key).digest('hex').slice(0, HASH_LENGTH)
  return `${key.slice(0, CONDITION_SET_KEY_LENGTH_MAX - HASH_LENGTH - 1)}-${hash}`
}

export const writes = { createSetRule, deleteSetRule }
