/**
 * Writes exported condition sets and rules into an environment. A set with the same key is overwritten by the
 * exported one and keeps its id and its rules.
 */
import type { WriteContext } from '#management/drafts/context.ts'
import { findType } from '#management/drafts/lookups.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { addRule, findRule, resolveParts } from '#management/schema/condition-sets/set-rules.ts'
import { AuthzError } from '#model/errors.ts'
import type { ConditionSetRecord } from '#entities/records.ts'
import { checkStored } from '#management/schema/condition-sets/checked-conditions.ts'
import { findConditionSet } from '#management/schema/condition-sets/condition-set-lookup.ts'
import { sideOfType } from '#management/schema/condition-sets/condition-set-presenter.ts'
import { addConditionSet } from '#management/schema/condition-sets/condition-sets.ts'
import type { ExportedConditionSet, ExportedRule } from './exported-sets.ts'
import { moveBelow, putConditionSet } from '#management/schema/condition-sets/set-parents.ts'

/**
 * Writes condition sets, which must be ordered so that each follows its parent. Throws the errors of
 * `createConditionSet` and `updateConditionSet`.
 */
export function* putConditionSets(
  context: WriteContext,
  sets: readonly ExportedConditionSet[],
): Resumable<void> {
  const { records } = context
  const existing = new Set<string>()
  // First removes all parents. Otherwise, a set could temporarily be a descendant of its future child.
  for (const { key } of sets) {
    const set = findConditionSet(records, key)
    if (set?.key !== key) continue
    existing.add(key)
    if (set.parentId !== null) putConditionSet(context, yield* moveBelow(context, set, null))
    yield
  }
  for (const set of sets) {
    // The conditions are checked without declarations, because these may have changed since the set was
    // written.
    checkStored(set.conditions, ['conditions'])
    if (existing.has(set.key)) yield* overwrite(context, set)
    else add(context, set)
    yield
  }
}

function add(context: WriteContext, set: ExportedConditionSet): void {
  const { key, name, description, type, resource, parent, conditions } = set
  addConditionSet(context, {
    key,
    name,
    description,
    type,
    conditions,
    resource_id: resource,
    parent_id: parent,
  })
}

function* overwrite(context: WriteContext, wanted: ExportedConditionSet): Resumable<void> {
  const { records } = context
  const set = findConditionSet(records, wanted.key)!
  if (set.side !== sideOfType(wanted.type)) throw fixed(wanted, 'type')
  const moved = wanted.parent === null ? set : yield* moveBelow(context, set, wanted.parent)
  const type = wanted.resource === null ? null : findType(records, wanted.resource)
  if (moved.typeId !== (type?.id ?? null)) throw fixed(wanted, 'resource')
  const { name, description, conditions } = wanted
  putConditionSet(context, {
    ...moved,
    name,
    description,
    conditions,
    updatedAt: context.now,
  } satisfies ConditionSetRecord)
}

function fixed({ key }: ExportedConditionSet, what: 'type' | 'resource'): AuthzError {
  return new AuthzError(
    'INVALID_INPUT',
    `the target has a condition set ${JSON.stringify(key)} of another ${what}, which cannot be changed`,
  )
}

/** Adds the missing rules; existing rules stay unchanged. Throws the errors of `createSetRule`. */
export function* putRules(context: WriteContext, rules: readonly ExportedRule[]): Resumable<void> {
  for (const rule of rules) {
    const parts = yield* resolveParts(context, rule)
    if (findRule(context, parts) === null) addRule(context, parts)
    yield
  }
}
