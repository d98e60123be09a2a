/** Condition sets and rules as values that mean the same in any environment: keys in place of ids. */
import type { RecordReader } from '#management/commands/record-reader.ts'
import { keyOfSide, partsOfRule } from '#management/schema/set-rules/rule-sides.ts'
import { assert } from '#model/assert.ts'
import type { Attributes } from '#model/change.ts'
import type { ConditionSetRecord } from '#model/records.ts'
import type { ConditionSetType } from '#model/wire/condition-set.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { typeOfSide } from './condition-set-present.ts'

export interface ExportedConditionSet {
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly type: ConditionSetType
  /** Key of the resource that it is limited to. */
  readonly resource: string | null
  /** Key of the set above. */
  readonly parent: string | null
  readonly conditions: Attributes
}

export interface ExportedRule {
  /** Key of a set; of a computed one for a role. */
  readonly user_set: string
  readonly permission: string
  readonly resource_set: string
}

/** Each behind the one above it. */
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
  assert(typeId === null || type, 'a condition set lives no longer than its resource')
  return { key, name, description, type: typeOfSide(side), resource: type?.key ?? null, parent, conditions }
}

/** In creation order. */
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
