/** One call of every operation on the schema, in an order in which each succeeds. */
import { FACTS, RESOURCES, SCHEMA } from '#testing/processes/running-service.ts'

export interface Call {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** A text that is sent unchanged, instead of `body`. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** By default, the key of the environment. Null: none. */
  readonly key?: string | null
}

export function call(
  operation: string,
  method: string,
  path: string,
  body?: unknown,
  rest: Pick<Call, 'text' | 'headers' | 'key'> = {},
): Call {
  return { operation, method, path, ...(body !== undefined && { body }), ...rest }
}

const ORDER = `${RESOURCES}/order`
const SETS = `${SCHEMA}/condition_sets`
const RULES = `${FACTS}/set_rules`
const RULE = { user_set: 'chiefs', permission: 'order:ship', resource_set: 'open' }
const CONFIGS = `${FACTS}/proxy_configs`
const ENTRY = { role: 'clerk', on_resource: 'shop', linked_by_relation: 'of' }

export const SCHEMA_CALLS: readonly Call[] = [
  call('replaceResource', 'PUT', `${RESOURCES}/shop`, {
    name: 'Shop',
    actions: {},
    roles: { clerk: { name: 'Clerk' } },
  }),
  call('replaceResource', 'PUT', ORDER, {
    name: 'Order',
    actions: { ship: {}, cancel: {} },
    attributes: { size: { type: 'number' } },
    roles: { packer: { name: 'Packer', permissions: ['ship'] }, guest: { name: 'Guest' } },
    relations: { at: 'shop' },
  }),
  call('updateResource', 'PATCH', ORDER, { description: 'What is sold' }),
  call('createAction', 'POST', `${ORDER}/actions`, { key: 'pay', name: 'Pay' }),
  call('listActions', 'GET', `${ORDER}/actions?page=1&per_page=2`),
  call('getAction', 'GET', `${ORDER}/actions/pay`),
  call('updateAction', 'PATCH', `${ORDER}/actions/pay`, {
    description: 'With money',
    attributes: { risk: 1 },
  }),
  call('createActionGroup', 'POST', `${ORDER}/action_groups`, {
    key: 'all',
    name: 'All',
    actions: ['ship', 'cancel', 'ship'],
  }),
  call('listActionGroups', 'GET', `${ORDER}/action_groups`),
  call('getActionGroup', 'GET', `${ORDER}/action_groups/all`),
  call('updateActionGroup', 'PATCH', `${ORDER}/action_groups/all`, {
    name: 'Everything',
    actions: ['ship', 'cancel', 'pay'],
  }),
  call('createAttribute', 'POST', `${ORDER}/attributes`, { key: 'due', type: 'time' }),
  call('listAttributes', 'GET', `${ORDER}/attributes`),
  call('getAttribute', 'GET', `${ORDER}/attributes/due`),
  call('updateAttribute', 'PATCH', `${ORDER}/attributes/due`, { type: 'json', description: 'When' }),
  call('createUserAttribute', 'POST', `${SCHEMA}/users/attributes`, { key: 'level', type: 'number' }),
  call('listUserAttributes', 'GET', `${SCHEMA}/users/attributes`),
  call('getUserAttribute', 'GET', `${SCHEMA}/users/attributes/level`),
  call('updateUserAttribute', 'PATCH', `${SCHEMA}/users/attributes/level`, { description: 'How high' }),
  call('listResources', 'GET', `${RESOURCES}?include_built_in=true`),
  call('createRelation', 'POST', `${ORDER}/relations`, { key: 'of', name: 'Of', subject_resource: 'shop' }),
  call('listRelations', 'GET', `${ORDER}/relations`),
  call('listRelations', 'GET', `${ORDER}/relations?include_total_count=true`),
  call('getRelation', 'GET', `${ORDER}/relations/of`),
  call('listResourceRoles', 'GET', `${ORDER}/roles?page=1&per_page=100`),
  call('getResourceRole', 'GET', `${ORDER}/roles/packer`),
  call('addResourceRolePermissions', 'POST', `${ORDER}/roles/packer/permissions`, {
    permissions: ['pay', 'order:ship'],
  }),
  call('removeResourceRolePermissions', 'DELETE', `${ORDER}/roles/packer/permissions`, {
    permissions: ['ship', 'cancel'],
  }),
  call('addImplicitGrant', 'POST', `${ORDER}/roles/packer/implicit_grants`, {
    ...ENTRY,
    when: { no_direct_roles_on_object: true },
  }),
  call('setImplicitGrantConditions', 'PUT', `${ORDER}/roles/packer/implicit_grants/conditions`, {
    no_direct_roles_on_object: true,
  }),
  call('removeImplicitGrant', 'DELETE', `${ORDER}/roles/packer/implicit_grants`, ENTRY),
  call('putRolesInBulk', 'PUT', `${SCHEMA}/bulk/roles`, {
    operations: [
      { key: 'keeper', name: 'Keeper', permissions: ['order:pay'] },
      { key: 'guest', name: 'Guest', resource: 'order', permissions: ['pay'] },
      { key: 'elder', name: 'Elder', attributes: { rank: 1 } },
    ],
  }),
  ...inheritance('TenantRole', `${SCHEMA}/roles/keeper`, 'elder'),
  ...inheritance('ResourceRole', `${ORDER}/roles/packer`, 'guest'),
  call('listTenantRoles', 'GET', `${SCHEMA}/roles?attr_rank=1`),
  call('listTenantRoles', 'GET', `${SCHEMA}/roles`),
  call('listTenantRoles', 'GET', `${SCHEMA}/roles?include_total_count=true`),
  call('getTenantRole', 'GET', `${SCHEMA}/roles/keeper`),
  call('updateTenantRole', 'PATCH', `${SCHEMA}/roles/keeper`, { description: 'Keeps', attributes: {} }),
  call('addTenantRolePermissions', 'POST', `${SCHEMA}/roles/keeper/permissions`, {
    permissions: ['order:ship'],
  }),
  call('removeTenantRolePermissions', 'DELETE', `${SCHEMA}/roles/keeper/permissions`, {
    permissions: ['order:pay'],
  }),
  call('createConditionSet', 'POST', SETS, {
    key: 'staff',
    name: 'Staff',
    conditions: { 'user.staff': { equals: true } },
  }),
  call('createConditionSet', 'POST', SETS, {
    key: 'open',
    name: 'Open orders',
    type: 'resourceset',
    resource_id: 'order',
  }),
  call('createConditionSet', 'POST', SETS, {
    key: 'chiefs',
    name: 'Chiefs',
    parent_id: 'staff',
    description: null,
  }),
  call('exportModel', 'GET', `${SCHEMA}/model`),
  call('tryConditionSet', 'POST', `${SETS}/try`, {
    conditions: { 'user.level': { 'greater-than': 3 } },
    parent_id: 'staff',
    samples: [{ user: 'nobody', attributes: { level: 4 } }, { resource_instance: 'order:o1' }],
    context: {},
  }),
  call('tryConditionSet', 'POST', `${SETS}/try`, { conditions: { 'user.level': { exceeds: 3 } } }),
  call('createSetRule', 'POST', RULES, RULE),
  call('createSetRule', 'POST', RULES, {
    user_set: 'keeper',
    permission: 'order:ship',
    resource_set: 'order',
    is_role: true,
  }),
  call('createSetRules', 'POST', `${RULES}/bulk`, {
    operations: [RULE, { ...RULE, permission: 'order:pay' }],
  }),
  call('listSetRules', 'GET', `${RULES}?user_set=&permission=ship&resource_set=open`),
  call('listSetRules', 'GET', `${RULES}?include_total_count=true`),
  call('listConditionSets', 'GET', `${SETS}?type=resourceset&search=o`),
  call('listConditionSets', 'GET', `${SETS}?include_total_count=true`),
  call('getConditionSet', 'GET', `${SETS}/open`),
  call('getConditionSet', 'GET', `${SETS}/__autogen_order?type=resourceset`),
  call('listSetAncestors', 'GET', `${SETS}/chiefs/ancestors`),
  call('listSetDescendants', 'GET', `${SETS}/staff/descendants`),
  call('listPossibleParents', 'GET', `${SETS}/chiefs/possible_parents`),
  call('updateConditionSet', 'PATCH', `${SETS}/chiefs`, {
    name: 'Heads',
    conditions: { 'user.level': { 'greater-than': 3 } },
    parent_id: null,
  }),
  call('createProxyConfig', 'POST', CONFIGS, {
    key: 'gateway',
    name: 'Gateway',
    secret: { header: 'x' },
    auth_mechanism: 'Headers',
    mapping_rules: [
      {
        url: 'https://api.example.org/orders/{id}?by={who}',
        http_method: 'post',
        resource: 'order',
        action: 'ship',
        headers: { 'X-Via': 'gateway' },
        priority: 3,
      },
    ],
  }),
  call('listProxyConfigs', 'GET', `${CONFIGS}?page=1&per_page=5`),
  call('getProxyConfig', 'GET', `${CONFIGS}/gateway`),
  call('updateProxyConfig', 'PATCH', `${CONFIGS}/gateway`, {
    name: 'Front door',
    secret: 'y',
    auth_mechanism: 'Basic',
    mapping_rules: [{ url: 'https://api.example.org/orders', http_method: 'get', resource: 'order' }],
  }),
]

/**
 * Calls that delete the entities that `SCHEMA_CALLS` creates. After these calls, background purges can still
 * write.
 */
export const SCHEMA_DELETIONS: readonly Call[] = [
  call('deleteProxyConfig', 'DELETE', `${CONFIGS}/gateway`),
  call('deleteSetRule', 'DELETE', RULES, RULE),
  call('deleteSetRules', 'DELETE', `${RULES}/bulk`, { idents: [{ ...RULE, permission: 'order:pay' }] }),
  call('deleteConditionSet', 'DELETE', `${SETS}/chiefs`),
  call('deleteAction', 'DELETE', `${ORDER}/actions/pay`),
  call('deleteActionGroup', 'DELETE', `${ORDER}/action_groups/all`),
  call('deleteAttribute', 'DELETE', `${ORDER}/attributes/due`),
  call('deleteUserAttribute', 'DELETE', `${SCHEMA}/users/attributes/level`),
  call('deleteRelation', 'DELETE', `${ORDER}/relations/of`),
  call('deleteResourceRole', 'DELETE', `${ORDER}/roles/packer`),
  call('deleteTenantRole', 'DELETE', `${SCHEMA}/roles/keeper`),
  call('deleteResource', 'DELETE', ORDER),
]

/** Two calls that add a parent to a role and remove this parent again. */
function inheritance(kind: string, role: string, parent: string): Call[] {
  const path = `${role}/parents/${parent}`
  return [
    call(`add${kind}Parent`, 'PUT', path),
    call(`list${kind}Ancestors`, 'GET', `${role}/ancestors`),
    call(`list${kind}Descendants`, 'GET', `${role}/descendants?page=1&per_page=10`),
    call(`remove${kind}Parent`, 'DELETE', path),
  ]
}
