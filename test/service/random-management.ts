/** Random operations on one environment, drawn from a few names so that they collide and undo each other. */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { Query } from '#model/decision.ts'
import type { OperationInput, OperationName } from '#management/environment/operations.ts'

/** An operation and its input. */
export type Step = {
  [Name in OperationName]: { readonly operation: Name; readonly input: OperationInput<Name> }
}[OperationName]

const TYPES = ['folder', 'document', 'group', 'squad'] as const
const ACTIONS = ['read', 'write'] as const
const ROLES = ['viewer', 'editor', 'owner', 'member'] as const
const RELATIONS = ['parent', 'inside', 'group', 'squad', 'group_group_viewer', 'group_group_editor'] as const
/** Subject type, relation and object type of tuples that the schema usually allows. */
const LINKS = [
  ['folder', 'parent', 'document'],
  ['folder', 'inside', 'folder'],
  ['group', 'group', 'group'],
  ['group', 'group_group_viewer', 'document'],
  ['group', 'group_group_editor', 'folder'],
  ['squad', 'squad_group_viewer', 'document'],
] as const
const TENANT_ROLES = ['auditor', 'admin'] as const
const TENANTS = ['default', 'default', 'default', 'acme'] as const
const USERS = ['ann', 'ben', 'cid', 'dee'] as const
const KEYS = ['k0', 'k1', 'k2', 'k3'] as const

/** The names that the operations use. */
export const NAMES = { TYPES, ROLES, TENANT_ROLES, USERS, KEYS, LINKS }

const type = fc.constantFrom(...TYPES)
const thing = fc.constantFrom('folder', 'document')
const mostlyThing = fc.constantFrom('folder', 'document', 'document', 'group')
const role = fc.constantFrom(...ROLES)
const tenant = fc.constantFrom(...TENANTS)
const anyUser = fc.constantFrom(...USERS)
const anyKey = fc.constantFrom(...KEYS)
const relation = fc.constantFrom(...RELATIONS)
const instance = fc.tuple(type, anyKey).map(parts => parts.join(':'))
const group = fc.tuple(fc.constantFrom('group', 'group', 'squad'), anyKey).map(parts => parts.join(':'))

/** State before the random operations: two types, groups, and all users. */
export const FOUNDATION: readonly Step[] = [
  { operation: 'createResource', input: { body: resource('folder', { inside: 'folder' }) } },
  { operation: 'createResource', input: { body: resource('document', { parent: 'folder' }) } },
  { operation: 'createTenant', input: { body: { key: 'acme', name: 'Acme' } } },
  ...USERS.map((name): Step => ({ operation: 'createUser', input: { body: { key: name } } })),
  ...['group:k0', 'group:k1', 'squad:k0'].map((name): Step => ({
    operation: 'createGroup',
    input: { body: { group_instance_key: name, group_tenant: 'default' } },
  })),
  {
    operation: 'createTenantRole',
    input: { body: { key: 'auditor', name: 'Auditor', permissions: ['document:read'] } },
  },
]

function resource(name: string, relations: Record<string, string>) {
  return {
    key: name,
    name,
    actions: { read: {}, write: {} },
    relations,
    roles: {
      editor: { name: 'Editor', permissions: ['write'], extends: ['viewer'] },
      viewer: { name: 'Viewer', permissions: ['read'] },
      owner: { name: 'Owner' },
    },
  }
}

const when = fc.boolean().map(no_direct_roles_on_object => ({ no_direct_roles_on_object }))
const link = fc.constantFrom(...LINKS)
const entry = fc.tuple(role, link, when).map(([source, [from, over], guard]) => ({
  role: source,
  on_resource: from,
  linked_by_relation: over,
  when: guard,
}))
const says = fc.record(
  {
    permissions: fc.subarray([...ACTIONS], { minLength: 1 }),
    extends: fc.subarray([...ROLES], { maxLength: 2 }),
    granted_to: fc.record({ users_with_role: fc.array(entry, { maxLength: 2 }), when }),
  },
  { requiredKeys: [] },
)
const ofGroup = group.map(group_instance_key => ({ group_instance_key }))
const grant = fc.record({ role, resource: mostlyThing, resource_instance: anyKey, tenant })
const tenantPermission = fc.tuple(thing, fc.constantFrom(...ACTIONS)).map(parts => parts.join(':'))

const anyFactStep: Arbitrary<Step> = fc.oneof(
  weighted(1, 'createTenantRole', {
    body: fc
      .tuple(fc.constantFrom(...TENANT_ROLES), fc.array(tenantPermission, { maxLength: 2 }))
      .map(([name, permissions]) => ({ key: name, name, permissions })),
  }),
  weighted(1, 'createResourceRole', {
    params: thing.map(resource_id => ({ resource_id })),
    body: fc.tuple(role, says).map(([name, more]) => ({ key: name, name, ...more })),
  }),
  weighted(3, 'updateResourceRole', {
    params: fc.record({ resource_id: type, role_id: role }),
    body: says,
  }),
  weighted(2, 'createRelation', {
    params: type.map(resource_id => ({ resource_id })),
    body: fc.tuple(relation, type).map(([name, subject]) => ({ key: name, name, subject_resource: subject })),
  }),
  weighted(1, 'createResourceInstance', { body: fc.record({ resource: type, key: anyKey, tenant }) }),
  weighted(4, 'createRoleAssignment', {
    body: fc.record({ user: anyUser, role, resource_instance: instance, tenant }),
  }),
  weighted(1, 'createRoleAssignment', {
    body: fc.record({ user: anyUser, role: fc.constantFrom(...TENANT_ROLES), tenant }),
  }),
  weighted(1, 'createRelationshipTuple', {
    body: fc.record({ subject: instance, relation, object: instance, tenant }),
  }),
  weighted(5, 'createRelationshipTuple', {
    body: fc.tuple(link, anyKey, anyKey, tenant).map(([[from, over, to], subject, object, name]) => ({
      subject: `${from}:${subject}`,
      relation: over,
      object: `${to}:${object}`,
      tenant: name,
    })),
  }),
  weighted(1, 'createGroup', {
    body: fc.record({ group_instance_key: group, group_tenant: tenant }),
  }),
  weighted(1, 'deleteGroup', { params: ofGroup }),
  weighted(4, 'addGroupMember', {
    params: fc.record({ group_instance_key: group, user_id: anyUser }),
    body: tenant.map(name => ({ tenant: name })),
  }),
  weighted(1, 'removeGroupMember', {
    params: fc.record({ group_instance_key: group, user_id: anyUser }),
    body: fc.constant(undefined),
  }),
  weighted(5, 'addGroupRole', { params: ofGroup, body: grant }),
  weighted(2, 'removeGroupRole', { params: ofGroup, body: grant }),
  weighted(3, 'assignGroup', { params: ofGroup, body: ofGroup }),
  weighted(2, 'unassignGroup', { params: ofGroup, body: ofGroup }),
)

const USER_SETS = ['staff', 'chiefs', 'nobody'] as const
const RESOURCE_SETS = ['open', 'closed', 'shelved'] as const

const anyType = fc.constantFrom('folder', 'document', 'document', ...TYPES)
const tenantRole = fc.constantFrom(...TENANT_ROLES)
const actions = fc.subarray([...ACTIONS], { minLength: 1 })
const tenantPermissions = fc.array(tenantPermission, { maxLength: 2 })
const roleBlock = says.map(block => ({ name: 'Some role', ...block }))
const plainRoleBlock = fc.record({ name: fc.constant('Plain role'), permissions: actions })
const onAnyType = anyType.map(resource_id => ({ resource_id }))
const onRole = fc.record({ resource_id: anyType, role_id: role })

/** Initial facts, with which checks are allowed: each user holds a role, and folders contain documents. */
export const FACTS: readonly Step[] = [
  ...['ann/viewer/folder:k0', 'ben/editor/folder:k1', 'cid/owner/document:k0', 'dee/editor/document:k1'].map(
    (text): Step => {
      const [user, held, resource_instance] = text.split('/') as [string, string, string]
      const body = { user, role: held, resource_instance, tenant: 'default' }
      return { operation: 'createRoleAssignment', input: { body } }
    },
  ),
  ...['ann', 'dee'].map((user): Step => {
    const body = { user, role: 'auditor', tenant: 'default' }
    return { operation: 'createRoleAssignment', input: { body } }
  }),
  ...['folder:k0 parent document:k0', 'folder:k1 parent document:k1', 'folder:k0 inside folder:k1'].map(
    (text): Step => {
      const [subject, over, object] = text.split(' ') as [string, string, string]
      const body = { subject, relation: over, object, tenant: 'default' }
      return { operation: 'createRelationshipTuple', input: { body } }
    },
  ),
]

/** Initial condition sets and rules, which the random operations can change. */
const SETS_AT_FIRST = [
  ...USER_SETS.slice(1).map(key => ({ key, name: key, conditions: { 'user.key': { in: ['ben', 'cid'] } } })),
  ...RESOURCE_SETS.slice(1).map(key => ({ key, name: key, type: 'resourceset' as const })),
]
const RULES_AT_FIRST = USER_SETS.slice(1).flatMap(user_set =>
  RESOURCE_SETS.slice(1).flatMap(resource_set =>
    ['folder:read', 'document:read'].map(permission => ({ user_set, permission, resource_set })),
  ),
)
export const RULES: readonly Step[] = [
  ...SETS_AT_FIRST.map((body): Step => ({ operation: 'createConditionSet', input: { body } })),
  ...RULES_AT_FIRST.map((body): Step => ({ operation: 'createSetRule', input: { body } })),
]

const DOCUMENT = { resource_id: 'document' }

/** Changes that always succeed after the initial operations. Each history begins with such a change. */
export const SURE: readonly Step[] = [
  { operation: 'replaceResource', input: { params: DOCUMENT, body: { name: 'D', actions: { read: {} } } } },
  { operation: 'updateResource', input: { params: DOCUMENT, body: { actions: { read: {} } } } },
  { operation: 'deleteResource', input: { params: { resource_id: 'folder' } } },
  { operation: 'deleteAction', input: { params: { ...DOCUMENT, action_id: 'read' } } },
  { operation: 'deleteRelation', input: { params: { ...DOCUMENT, relation_id: 'parent' } } },
  { operation: 'deleteResourceRole', input: { params: { ...DOCUMENT, role_id: 'viewer' } } },
  { operation: 'deleteTenantRole', input: { params: { role_id: 'auditor' } } },
  {
    operation: 'addImplicitGrant',
    input: {
      params: { ...DOCUMENT, role_id: 'viewer' },
      body: { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' },
    },
  },
  { operation: 'putRolesInBulk', input: { body: { operations: [{ key: 'auditor', name: 'Auditor' }] } } },
  { operation: 'createConditionSet', input: { body: { key: 'staff', name: 'Staff', parent_id: 'chiefs' } } },
  {
    operation: 'updateConditionSet',
    input: {
      params: { condition_set_id: 'chiefs' },
      body: { conditions: { 'user.key': { equals: 'ann' } } },
    },
  },
  { operation: 'deleteConditionSet', input: { params: { condition_set_id: 'closed' } } },
  {
    operation: 'createSetRule',
    input: { body: { user_set: 'auditor', permission: 'document:write', resource_set: 'closed' } },
  },
  { operation: 'deleteSetRule', input: { body: RULES_AT_FIRST[0]! } },
]

/** Yields maps with a subset of the keys. */
function someOf<Value>(keys: readonly string[], value: Arbitrary<Value>): Arbitrary<Record<string, Value>> {
  return fc
    .subarray([...keys])
    .chain(chosen => fc.tuple(...chosen.map(() => value)).map(values => zip(chosen, values)))
}

function zip<Value>(keys: readonly string[], values: readonly Value[]): Record<string, Value> {
  return Object.fromEntries(keys.map((key, index) => [key, values[index]!]))
}

const actionMap = fc.subarray([...ACTIONS]).map(keys => Object.fromEntries(keys.map(key => [key, {}])))
const relationMap = someOf(['parent', 'inside'], fc.constantFrom('folder', 'folder', 'document', 'group'))
const roleMap = fc.oneof(
  someOf(ROLES, fc.oneof(plainRoleBlock, roleBlock)),
  fc.tuple(...ROLES.map(() => roleBlock)).map(blocks => zip(ROLES, blocks)),
)
const maps = { actions: actionMap, roles: roleMap, relations: relationMap }
const permissions = actions.map(given => ({ permissions: given }))

const userSet = fc.constantFrom(...USER_SETS)
const resourceSet = fc.constantFrom(...RESOURCE_SETS)
const anySet = fc.oneof(userSet, resourceSet)
/** Conditions that depend only on stored data. */
const userConditions = fc.constantFrom<Record<string, unknown>>(
  {},
  { 'user.key': { in: ['ann', 'cid'] } },
  { 'user.roles': { array_contains: 'auditor' } },
  { not: { 'user.tenants': { array_contains: 'acme' } } },
)
const resourceConditions = fc.constantFrom<Record<string, unknown>>(
  {},
  { 'resource.key': { in: ['k0', 'k2'] } },
  { 'resource.type': { equals: 'folder' } },
)
const rule = fc.record({
  user_set: fc.oneof(userSet, userSet, tenantRole),
  permission: tenantPermission,
  resource_set: fc.oneof(resourceSet, resourceSet, fc.constantFrom('folder', 'document')),
})

/** Mostly schema changes, with enough other changes on which they can have an effect. */
export const anyStep: Arbitrary<Step> = fc.oneof(
  { weight: 70, arbitrary: anyFactStep },
  { weight: 4, arbitrary: fc.constantFrom(...FOUNDATION.slice(0, 2)) },
  { weight: 4, arbitrary: fc.constantFrom(...FACTS) },
  weighted(5, 'replaceResource', {
    params: onAnyType,
    body: fc.record(
      { name: fc.constant('Replaced'), ...maps },
      { requiredKeys: ['name', 'actions', 'roles'] },
    ),
  }),
  weighted(4, 'updateResource', { params: onAnyType, body: fc.record(maps, { requiredKeys: [] }) }),
  weighted(1, 'deleteResource', { params: onAnyType }),
  weighted(3, 'createAction', {
    params: onAnyType,
    body: fc.constantFrom(...ACTIONS).map(key => ({ key, name: key })),
  }),
  weighted(2, 'deleteAction', {
    params: fc.record({ resource_id: type, action_id: fc.constantFrom(...ACTIONS) }),
  }),
  weighted(1, 'createActionGroup', {
    params: onAnyType,
    body: fc.record({ key: fc.constant('both'), name: fc.constant('Both'), actions }),
  }),
  weighted(1, 'updateActionGroup', {
    params: onAnyType.map(({ resource_id }) => ({ resource_id, action_group_id: 'both' })),
    body: fc.record({ actions }),
  }),
  weighted(6, 'deleteRelation', { params: fc.record({ resource_id: type, relation_id: relation }) }),
  weighted(3, 'deleteResourceRole', { params: onRole }),
  weighted(2, 'addResourceRolePermissions', { params: onRole, body: permissions }),
  weighted(1, 'removeResourceRolePermissions', { params: onRole, body: permissions }),
  weighted(14, 'addImplicitGrant', { params: onRole, body: entry }),
  weighted(1, 'removeImplicitGrant', { params: onRole, body: entry }),
  weighted(1, 'setImplicitGrantConditions', {
    params: onRole,
    body: fc.record({ no_direct_roles_on_object: fc.boolean() }),
  }),
  weighted(2, 'deleteTenantRole', { params: tenantRole.map(role_id => ({ role_id })) }),
  weighted(1, 'addTenantRolePermissions', {
    params: tenantRole.map(role_id => ({ role_id })),
    body: tenantPermissions.map(given => ({ permissions: given })),
  }),
  weighted(1, 'updateTenantRole', {
    params: tenantRole.map(role_id => ({ role_id })),
    body: fc.record({
      permissions: tenantPermissions,
      extends: fc.subarray(['auditor', 'admin'], { maxLength: 1 }),
    }),
  }),
  weighted(3, 'createConditionSet', {
    body: fc
      .record({ key: userSet, parent: fc.option(userSet), conditions: userConditions })
      .map(({ key, parent, conditions }) => ({ key, name: key, parent_id: parent, conditions })),
  }),
  weighted(3, 'createConditionSet', {
    body: fc
      .record({
        key: resourceSet,
        parent: fc.option(resourceSet),
        resource: fc.option(fc.constantFrom('folder', 'document')),
        conditions: resourceConditions,
      })
      .map(({ key, parent, resource: resource_id, conditions }) => {
        return { key, name: key, type: 'resourceset', parent_id: parent, resource_id, conditions }
      }),
  }),
  weighted(2, 'updateConditionSet', {
    params: userSet.map(condition_set_id => ({ condition_set_id })),
    body: fc.record(
      { conditions: userConditions, parent_id: fc.option(userSet, { nil: null }) },
      { requiredKeys: ['parent_id'] },
    ),
  }),
  weighted(2, 'updateConditionSet', {
    params: resourceSet.map(condition_set_id => ({ condition_set_id })),
    body: fc.record(
      { conditions: resourceConditions, parent_id: fc.option(resourceSet, { nil: null }) },
      { requiredKeys: ['parent_id'] },
    ),
  }),
  weighted(2, 'deleteConditionSet', { params: anySet.map(condition_set_id => ({ condition_set_id })) }),
  weighted(5, 'createSetRule', { body: rule }),
  weighted(3, 'deleteSetRule', { body: fc.constantFrom(...RULES_AT_FIRST) }),
  weighted(2, 'putRolesInBulk', {
    body: fc
      .array(
        fc.oneof(
          fc.record({ key: tenantRole, name: fc.constant('In bulk'), permissions: tenantPermissions }),
          fc.tuple(role, anyType, roleBlock).map(([key, of, block]) => ({ key, resource: of, ...block })),
        ),
        { maxLength: 3 },
      )
      .map(operations => ({ operations })),
  }),
)

function weighted<Name extends OperationName>(
  weight: number,
  operation: Name,
  parts: { [Part in keyof OperationInput<Name>]: Arbitrary<OperationInput<Name>[Part]> },
): { readonly weight: number; readonly arbitrary: Arbitrary<Step> } {
  // The type of the record is unknown, but it has exactly the parts of the input.
  const input = fc.record(parts as Record<string, Arbitrary<unknown>>)
  return { weight, arbitrary: input.map(values => ({ operation, input: values }) as unknown as Step) }
}

/** Returns the checks for all combinations of the names. */
export function allQuestions(): Query[] {
  const questions: Query[] = []
  for (const name of USERS) {
    for (const action of ACTIONS) {
      for (const typeKey of ['folder', 'document']) {
        for (const instanceKey of [null, ...KEYS]) {
          for (const tenantKey of [null, 'acme']) {
            questions.push({ user: name, action, type: typeKey, key: instanceKey, tenant: tenantKey })
          }
        }
      }
    }
  }
  return questions
}
