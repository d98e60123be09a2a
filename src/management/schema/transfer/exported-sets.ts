/**
 * Exports condition sets and rules in a form that is independent of the environment: with keys instead of
 * ids.
 */
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { keyOfSide, partsOfRule } from '#management/schema/condition-sets/rule-sides.ts'
import { assert } from '#model/assert.ts'
import type { Attributes } from '#model/change.ts'
import type { ConditionSetRecord } from '#entities/records.ts'
import type { ConditionSetType } from '#entities/condition-set.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { typeOfSide } from '#management/schema/condition-sets/condition-set-presenter.ts'

export interface ExportedConditionSet {
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly type: ConditionSetType
  /** Key of the resource type to which it is limited. */
  readonly resource: string | null
  /** Key of the parent set. */
  readonly parent: string | null
  readonly conditions: Attributes
}

export interface ExportedRule {
  /** Key of a set; for a role, the key of its computed set. */
  readonly user_set: string
  readonly permission: string
  readonly resource_set: string
}

/** The condition sets of an environment. Each set follows its parent. */
export function* exportedSets(records: RecordReader): Iterable<ExportedConditionSet> {
  for (const root of records.list('condition-set', lists.all('condition-set'))) {
    if (root.parentId !== null) continue
    const family = [{ set: root, parent: null as string | null }]
    for (const { set, parent } of family) {
      yield exportedSet(records, set, parent)
      for (const child of records.list('condition-set', lists.setsBelow(set.id))) {
        family.push({ set: child, parent: set.key })
      }
    }
  }
}

function exportedSet(
  records: RecordReader,
  set: ConditionSetRecord,
  parent: string | null,
): ExportedConditionSet {
  const { key, name, description, side, typeId, conditions } = set
  const type = typeId === null ? null : records.byId('type', typeId)
  assert(typeId === null || type, 'the resource of a condition set exists')
  return { key, name, description, type: typeOfSide(side), resource: type?.key ?? null, parent, conditions }
}

/** The rules of an environment, in creation order. */
export function* exportedRules(records: RecordReader): Iterable<ExportedRule> {
  for (const rule of records.list('rule', lists.all('rule'))) {
    const { userSide, type, action, resourceSide } = partsOfRule(records, rule)
    yield {
      user_set: keyOfSide(userSide),
      permission: `${type.key}:${action.key}`,
      resource_set: keyOfSide(resourceSide),
    }
  }
}
