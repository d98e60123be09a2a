/**
 * Items of the change events about deleted entities. The names come from the change. No other data is read,
 * so the events of a commit stay the same if entities are deleted later. The items of created and updated
 * entities are made by the presenter of each kind (`aboutPut` in `change-events.ts`).
 */
import type { DeletedItem } from '#entities/change-event.ts'
import { presentRuleNames } from '#management/schema/condition-sets/set-rules.ts'
import type { AssignmentChange, Change, InTenant, TupleChange } from '#model/change.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'

/** Key of the tenant that an assignment is in. */
export function tenantOfAssignment({ scope, tenant = '' }: AssignmentChange & InTenant): string {
  return 'tenant' in scope ? scope.tenant : tenant
}

/** Names in a change of an assignment. */
export function namesOfAssignment(change: AssignmentChange & InTenant) {
  const { user, role, scope } = change
  const instance = 'instance' in scope ? formatInstanceReference(scope.instance) : null
  return { user, role, tenant: tenantOfAssignment(change), resource_instance: instance }
}

/** Names in a change of a tuple. */
export function namesOfTuple(change: TupleChange & InTenant) {
  const { subject, relation, object, tenant = '' } = change
  return {
    subject: formatInstanceReference(subject),
    relation,
    object: formatInstanceReference(object),
    tenant,
  }
}

export type Removal = Extract<Change, { readonly kind: `${string}-removed` }>

/** Identifying members of an entity that a change removed. */
export function deletedItem(id: string, change: Removal) {
  switch (change.kind) {
    case 'user-removed':
      return { id, key: change.user } satisfies DeletedItem<'user'>
    case 'tenant-removed':
      return { id, key: change.tenant } satisfies DeletedItem<'tenant'>
    case 'instance-removed': {
      const { type, key } = change.instance
      return {
        id,
        key,
        resource: type,
        tenant: change.tenant ?? '',
      } satisfies DeletedItem<'resource_instance'>
    }
    case 'assignment-removed':
      return { id, ...namesOfAssignment(change) } satisfies DeletedItem<'role_assignment'>
    case 'tuple-removed':
      return { id, ...namesOfTuple(change) } satisfies DeletedItem<'relationship_tuple'>
    case 'type-removed':
      return { id, key: change.type } satisfies DeletedItem<'resource'>
    case 'role-removed':
      return { id, key: change.role, resource: change.type } satisfies DeletedItem<'role'>
    case 'relation-removed':
      return { id, key: change.relation, object_resource: change.type } satisfies DeletedItem<'relation'>
    case 'condition-set-removed':
      return { id, key: change.set } satisfies DeletedItem<'condition_set'>
    case 'rule-removed':
      return { id, ...presentRuleNames(change) } satisfies DeletedItem<'set_rule'>
    case 'mapping-removed':
      return { id, key: change.key ?? '' } satisfies DeletedItem<'proxy_config'>
  }
}

export function isRemoval(change: Change): change is Removal {
  return change.kind.endsWith('-removed')
}
