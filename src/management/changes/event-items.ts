/**
 * Items of change events: the entity that a change is about, in the form of a management read. The ids come
 * from its row, the names from the change. No other data is read, so the events of a commit stay the same if
 * entities are deleted later.
 */
import {
  type EnvironmentScope,
  presentIdentity,
  presentInstant,
  presentScope,
  presentTimes,
} from '#management/drafts/context.ts'
import { presentExpiry } from '#management/drafts/fact-expiry.ts'
import { presentMappingRule } from '#management/schema/proxy-configs/mapping-rules.ts'
import { keyOfNamedRule } from '#management/schema/condition-sets/set-rules.ts'
import type { AssignmentChange, Change, RuleChange, TupleChange } from '#model/change.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import type {
  AssignmentRecord,
  ConditionSetRecord,
  InstanceRecord,
  ProxyConfigRecord,
  RelationRecord,
  RoleRecord,
  RuleRecord,
  TenantRecord,
  TupleRecord,
  TypeRecord,
  UserRecord,
} from '#entities/records.ts'
import type {
  DeletedItem,
  ToldConditionSet,
  ToldInstance,
  ToldResource,
  ToldRole,
  ToldTuple,
  ToldUser,
} from '#entities/change-event.ts'
import type { ProxyConfig } from '#entities/proxy-config.ts'
import type { Relation } from '#entities/relation.ts'
import type { RoleAssignment } from '#entities/role-assignment.ts'
import type { SetRule } from '#entities/set-rule.ts'
import type { Tenant } from '#entities/tenant.ts'
import type { Static } from 'typebox'
import { presented } from '#entities/entity.ts'
import { USER } from '#entities/user.ts'

type Of<Kind extends Change['kind']> = Extract<Change, { readonly kind: Kind }>

export function userItem(scope: EnvironmentScope, user: UserRecord): Static<typeof ToldUser> {
  return { ...presentIdentity(scope, user), ...presented(USER, user) }
}

export function tenantItem(scope: EnvironmentScope, tenant: TenantRecord): Tenant {
  return {
    id: tenant.id,
    key: tenant.key,
    ...presentScope(scope),
    ...presentTimes(tenant),
    name: tenant.name,
    description: tenant.description,
    attributes: tenant.attributes,
    last_action_at: presentInstant(tenant.createdAt),
  }
}

export function instanceItem(
  scope: EnvironmentScope,
  instance: InstanceRecord,
  { instance: named, tenant }: Of<'instance-put'>,
): Static<typeof ToldInstance> {
  return {
    id: instance.id,
    key: instance.key,
    ...presentScope(scope),
    ...presentTimes(instance),
    resource: named.type,
    resource_id: instance.typeId,
    tenant,
    tenant_id: instance.tenantId,
    attributes: instance.attributes,
  }
}

/** Key of the tenant that an assignment is in. */
export function tenantOfAssignment({
  scope,
  tenant = '',
}: AssignmentChange & { readonly tenant?: string }): string {
  return 'tenant' in scope ? scope.tenant : tenant
}

export function assignmentItem(
  scope: EnvironmentScope,
  assignment: AssignmentRecord,
  change: Of<'assignment-put'>,
): RoleAssignment {
  return {
    id: assignment.id,
    user: change.user,
    role: change.role,
    tenant: tenantOfAssignment(change),
    resource_instance: 'instance' in change.scope ? formatInstanceReference(change.scope.instance) : null,
    user_id: assignment.userId,
    role_id: assignment.roleId,
    tenant_id: assignment.tenantId,
    resource_instance_id: assignment.instanceId,
    ...presentScope(scope),
    created_at: presentInstant(assignment.createdAt),
    ...presentExpiry(assignment),
  }
}

export function tupleItem(
  scope: EnvironmentScope,
  tuple: TupleRecord,
  change: Of<'tuple-put'>,
): Static<typeof ToldTuple> {
  const createdAt = presentInstant(tuple.createdAt)
  return {
    id: tuple.id,
    ...namesOfTuple(change),
    tenant: change.tenant ?? '',
    subject_id: tuple.subjectId,
    relation_id: tuple.relationId,
    object_id: tuple.objectId,
    tenant_id: tuple.tenantId,
    ...presentScope(scope),
    created_at: createdAt,
    updated_at: createdAt,
    ...presentExpiry(tuple),
  }
}

function namesOfTuple({ subject, relation, object }: TupleChange) {
  return { subject: formatInstanceReference(subject), relation, object: formatInstanceReference(object) }
}

export function resourceItem(scope: EnvironmentScope, type: TypeRecord): Static<typeof ToldResource> {
  return {
    id: type.id,
    key: type.key,
    ...presentScope(scope),
    ...presentTimes(type),
    name: type.name,
    urn: type.urn,
    description: type.description,
    actions: Object.fromEntries(
      type.actions.map(({ id, key, name, description, attributes }) => [
        key,
        { id, key, name, description, attributes },
      ]),
    ),
    type_attributes: type.typeAttributes,
    attributes: Object.fromEntries(
      type.attributes.map(({ id, key, type: valueType, description }) => [
        key,
        { id, key, type: valueType, description },
      ]),
    ),
    action_groups: Object.fromEntries(type.actionGroups.map(({ key, actions }) => [key, [...actions]])),
  }
}

/** `resource` is the key of the role's resource type; null for a tenant role. */
export function roleItem(
  scope: EnvironmentScope,
  role: RoleRecord,
  resource: string | null,
): Static<typeof ToldRole> {
  const { id, guarded, entries } = role.grantedTo
  return {
    id: role.id,
    key: role.key,
    ...presentScope(scope),
    ...presentTimes(role),
    name: role.name,
    description: role.description,
    permissions: [...role.permissions],
    attributes: role.attributes,
    extends: [...role.extends],
    granted_to: {
      id,
      when: { no_direct_roles_on_object: guarded },
      users_with_role: entries.map(entry => ({
        role: entry.role,
        on_resource: entry.onType,
        linked_by_relation: entry.relation,
        when: { no_direct_roles_on_object: entry.guarded },
      })),
    },
    resource,
    resource_id: role.typeId,
  }
}

export function relationItem(
  scope: EnvironmentScope,
  relation: RelationRecord,
  { object, subject }: { readonly object: string; readonly subject: string },
): Relation {
  return {
    id: relation.id,
    key: relation.key,
    ...presentScope(scope),
    ...presentTimes(relation),
    name: relation.name,
    description: relation.description,
    subject_resource: subject,
    subject_resource_id: relation.subjectTypeId,
    object_resource: object,
    object_resource_id: relation.typeId,
  }
}

export function conditionSetItem(
  scope: EnvironmentScope,
  set: ConditionSetRecord,
): Static<typeof ToldConditionSet> {
  return {
    id: set.id,
    key: set.key,
    ...presentScope(scope),
    ...presentTimes(set),
    name: set.name,
    type: set.side === 'user' ? 'userset' : 'resourceset',
    autogenerated: false,
    description: set.description,
    conditions: set.conditions,
    parent_id: set.parentId,
    ...(set.typeId !== null && { resource_id: set.typeId }),
  }
}

export function ruleItem(scope: EnvironmentScope, rule: RuleRecord, change: RuleChange): SetRule {
  const createdAt = presentInstant(rule.createdAt)
  return {
    id: rule.id,
    key: keyOfNamedRule(change),
    ...namesOfRule(change),
    ...presentScope(scope),
    created_at: createdAt,
    updated_at: createdAt,
  }
}

function namesOfRule({ userSet, type, action, resourceSet }: RuleChange) {
  return { user_set: userSet, permission: `${type}:${action}`, resource_set: resourceSet }
}

export function proxyConfigItem(scope: EnvironmentScope, config: ProxyConfigRecord): ProxyConfig {
  return {
    id: config.id,
    key: config.key,
    ...presentScope(scope),
    ...presentTimes(config),
    name: config.name,
    auth_mechanism: config.authMechanism,
    mapping_rules: config.mappingRules.map(presentMappingRule),
  }
}

type Removal = Extract<Change, { readonly kind: `${string}-removed` }>

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
    case 'assignment-removed': {
      const { user, role, scope } = change
      const instance = 'instance' in scope ? formatInstanceReference(scope.instance) : null
      return {
        id,
        user,
        role,
        tenant: tenantOfAssignment(change),
        resource_instance: instance,
      } satisfies DeletedItem<'role_assignment'>
    }
    case 'tuple-removed':
      return {
        id,
        ...namesOfTuple(change),
        tenant: change.tenant ?? '',
      } satisfies DeletedItem<'relationship_tuple'>
    case 'type-removed':
      return { id, key: change.type } satisfies DeletedItem<'resource'>
    case 'role-removed':
      return { id, key: change.role, resource: change.type } satisfies DeletedItem<'role'>
    case 'relation-removed':
      return { id, key: change.relation, object_resource: change.type } satisfies DeletedItem<'relation'>
    case 'condition-set-removed':
      return { id, key: change.set } satisfies DeletedItem<'condition_set'>
    case 'rule-removed':
      return { id, ...namesOfRule(change) } satisfies DeletedItem<'set_rule'>
    case 'mapping-removed':
      return { id, key: change.key ?? '' } satisfies DeletedItem<'proxy_config'>
  }
}

export function isRemoval(change: Change): change is Removal & { readonly id?: string } {
  return change.kind.endsWith('-removed')
}
