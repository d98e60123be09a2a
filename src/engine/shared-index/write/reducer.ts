/**
 * Applies changes to the schema and the facts. No other code interprets changes. Runs in a critical section,
 * except for the changes of a schema that has not been published yet.
 */
import type { Schema } from '#engine/shared-index/schema/schema.ts'
import { InvariantError } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
import type { Facts } from './facts.ts'

/** Applies one change. A change that names an unknown entity is ignored (`model/change.ts`). */
export function applyChange(
  { schema, facts }: { readonly schema: Schema; readonly facts: Facts },
  change: Change,
): void {
  switch (change.kind) {
    case 'type-put':
      return schema.putType(change)
    case 'type-removed':
      return schema.removeType(change.type)
    case 'role-put':
      return schema.putRole(change)
    case 'role-removed':
      return schema.removeRole(change.type, change.role)
    case 'relation-put':
      return schema.putRelation(change)
    case 'relation-removed':
      return schema.removeRelation(change.type, change.relation)
    case 'tenant-put':
      return facts.putTenant(change.tenant, change.attributes)
    case 'tenant-removed':
      return facts.removeTenant(change.tenant)
    case 'user-put':
      return facts.putUser(change.user, change.attributes ?? null)
    case 'user-removed':
      return facts.removeUser(change.user)
    case 'instance-put':
      return facts.putInstance(change.instance, change.tenant, change.attributes)
    case 'instance-removed':
      return facts.removeInstance(change.instance)
    case 'assignment-put':
      return facts.putAssignment(change)
    case 'assignment-removed':
      return facts.removeAssignment(change)
    case 'tuple-put':
      return facts.putTuple(change)
    case 'tuple-removed':
      return facts.removeTuple(change)
    case 'condition-set-put':
      return schema.putConditionSet(change)
    case 'condition-set-removed':
      return schema.removeConditionSet(change.set)
    case 'rule-put':
      return schema.putRule(change)
    case 'rule-removed':
      return schema.removeRule(change)
    case 'mapping-put':
      return schema.putMapping(change)
    case 'mapping-removed':
      return schema.removeMapping(change.config)
    default:
      return unknownChange(change)
  }
}

/** Throws an error, because skipping an unknown kind of change would omit a part of the facts. */
function unknownChange(change: never): never {
  throw new InvariantError(`the engine cannot apply this change: ${JSON.stringify(change)}`)
}
