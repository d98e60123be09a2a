/**
 * Random management of the schema, over the names of `random-operations.ts`: everything is created, replaced, removed
 * and created again, so that what refers to each other comes and goes in every order.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { OperationInput, OperationName } from '#management/environment/operations.ts'
import { anyStep, FOUNDATION, type Step } from './random-operations.ts'

const TYPES = ['folder', 'document', 'group', 'squad'] as const
const ACTIONS = ['read', 'write'] as const
const ROLES = ['viewer', 'editor', 'owner', 'member'] as const
const RELATIONS = ['parent', 'inside', 'group', 'group_group_viewer', 'group_group_editor'] as const

const USER_SETS = ['staff', 'chiefs', 'nobody'] as const
const RESOURCE_SETS = ['open', 'closed', 'shelved'] as const

const type = fc.constantFrom('folder', 'document', 'document', ...TYPES)
const role = fc.constantFrom(...ROLES)
const tenantRole = fc.constantFrom('auditor', 'admin')
const relation = fc.constantFrom(...RELATIONS)
const actions = fc.subarray([...ACTIONS], { minLength: 1 })
const tenantPermissions = fc.array(
  fc.tuple(fc.constantFrom('folder', 'document'), fc.constantFrom(...ACTIONS)).map(parts => parts.join(':')),
  { maxLength: 2 },
)
/** Source type, relation, object type, as they mostly fit. */
const entry = fc
  .record({
    role,
    link: fc.constantFrom(
      ['folder', 'parent'] as const,
      ['folder', 'inside'] as const,
      ['group', 'group_group_viewer'] as const,
    ),
    no_direct_roles_on_object: fc.boolean(),
  })
  .map(({ role: source, link: [on_resource, linked_by_relation], no_direct_roles_on_object }) => ({
    role: source,
    on_resource,
    linked_by_relation,
    when: { no_direct_roles_on_object },
  }))
const roleBlock = fc.record(
  {
    name: fc.constant('Some role'),
    permissions: fc.subarray([...ACTIONS]),
    extends: fc.subarray([...ROLES], { maxLength: 1 }),
    granted_to: fc.record({ users_with_role: fc.array(entry, { maxLength: 2 }) }),
  },
  { requiredKeys: ['name'] },
)
const plainRoleBlock = fc.record({ name: fc.constant('Plain role'), permissions: actions })
const onType = type.map(resource_id => ({ resource_id }))
const onRole = fc.record({ resource_id: type, role_id: role })

/** What gives the schema something to decide: everybody holds something, and folders hold documents. */
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

/** Some of the sets are there from the beginning, with rules on them: what is drawn finds something to change. */
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

/** A map with some of the keys. */
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
/** What can be decided on what is stored. */
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
  permission: fc
    .tuple(fc.constantFrom('folder', 'document'), fc.constantFrom(...ACTIONS))
    .map(parts => parts.join(':')),
  resource_set: fc.oneof(resourceSet, resourceSet, fc.constantFrom('folder', 'document')),
})

/**
 * Changes of the schema, and as many others in between as give them something to act on. The weights are those with which
 * each of them succeeds often enough that `schema-changes.test.ts` cannot miss it by chance.
 */
export const anySchemaStep: Arbitrary<Step> = fc.oneof(
  { weight: 70, arbitrary: anyStep },
  { weight: 4, arbitrary: fc.constantFrom(...FOUNDATION.slice(0, 2)) },
  { weight: 4, arbitrary: fc.constantFrom(...FACTS) },
  step(5, 'replaceResource', {
    params: onType,
    body: fc.record(
      { name: fc.constant('Replaced'), ...maps },
      { requiredKeys: ['name', 'actions', 'roles'] },
    ),
  }),
  step(4, 'updateResource', { params: onType, body: fc.record(maps, { requiredKeys: [] }) }),
  step(1, 'deleteResource', { params: onType }),
  step(3, 'createAction', {
    params: onType,
    body: fc.constantFrom(...ACTIONS).map(key => ({ key, name: key })),
  }),
  step(2, 'deleteAction', {
    params: fc.record({ resource_id: type, action_id: fc.constantFrom(...ACTIONS) }),
  }),
  step(1, 'createActionGroup', {
    params: onType,
    body: fc.record({ key: fc.constant('both'), name: fc.constant('Both'), actions }),
  }),
  step(1, 'updateActionGroup', {
    params: onType.map(({ resource_id }) => ({ resource_id, action_group_id: 'both' })),
    body: fc.record({ actions }),
  }),
  step(6, 'deleteRelation', { params: fc.record({ resource_id: type, relation_id: relation }) }),
  step(3, 'deleteResourceRole', { params: onRole }),
  step(2, 'addResourceRolePermissions', { params: onRole, body: permissions }),
  step(1, 'removeResourceRolePermissions', { params: onRole, body: permissions }),
  step(14, 'addImplicitGrant', { params: onRole, body: entry }),
  step(1, 'removeImplicitGrant', { params: onRole, body: entry }),
  step(1, 'setImplicitGrantConditions', {
    params: onRole,
    body: fc.record({ no_direct_roles_on_object: fc.boolean() }),
  }),
  step(2, 'deleteTenantRole', { params: tenantRole.map(role_id => ({ role_id })) }),
  step(1, 'addTenantRolePermissions', {
    params: tenantRole.map(role_id => ({ role_id })),
    body: tenantPermissions.map(given => ({ permissions: given })),
  }),
  step(1, 'updateTenantRole', {
    params: tenantRole.map(role_id => ({ role_id })),
    body: fc.record({
      permissions: tenantPermissions,
      extends: fc.subarray(['auditor', 'admin'], { maxLength: 1 }),
    }),
  }),
  step(3, 'createConditionSet', {
    body: fc
      .record({ key: userSet, parent: fc.option(userSet), conditions: userConditions })
      .map(({ key, parent, conditions }) => ({ key, name: key, parent_id: parent, conditions })),
  }),
  step(3, 'createConditionSet', {
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
  step(2, 'updateConditionSet', {
    params: userSet.map(condition_set_id => ({ condition_set_id })),
    body: fc.record(
      { conditions: userConditions, parent_id: fc.option(userSet, { nil: null }) },
      { requiredKeys: ['parent_id'] },
    ),
  }),
  step(2, 'updateConditionSet', {
    params: resourceSet.map(condition_set_id => ({ condition_set_id })),
    body: fc.record(
      { conditions: resourceConditions, parent_id: fc.option(resourceSet, { nil: null }) },
      { requiredKeys: ['parent_id'] },
    ),
  }),
  step(2, 'deleteConditionSet', { params: anySet.map(condition_set_id => ({ condition_set_id })) }),
  step(5, 'createSetRule', { body: rule }),
  step(3, 'deleteSetRule', { body: fc.constantFrom(...RULES_AT_FIRST) }),
  step(2, 'putRolesInBulk', {
    body: fc
      .array(
        fc.oneof(
          fc.record({ key: tenantRole, name: fc.constant('In bulk'), permissions: tenantPermissions }),
          fc.tuple(role, type, roleBlock).map(([key, resource, block]) => ({ key, resource, ...block })),
        ),
        { maxLength: 3 },
      )
      .map(operations => ({ operations })),
  }),
)

function step<Name extends OperationName>(
  weight: number,
  operation: Name,
  parts: { [Part in keyof OperationInput<Name>]: Arbitrary<OperationInput<Name>[Part]> },
): { readonly weight: number; readonly arbitrary: Arbitrary<Step> } {
  // The record has exactly the parts of this operation's input.
  const input = fc.record(parts as Record<string, Arbitrary<unknown>>)
  return { weight, arbitrary: input.map(values => ({ operation, input: values }) as unknown as Step) }
}
