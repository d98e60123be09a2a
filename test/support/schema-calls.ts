/** One call of every operation on the schema, in an order in which each succeeds; they keep to a resource of their own. */
import { FACTS, RESOURCES, SCHEMA } from '#testing/processes/running-service.ts'

export interface Call {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** Sent as it is, in place of `body`. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Absent: the key of the environment. */
  readonly key?: string
}

const ORDER = `${RESOURCES}/order`
const SETS = `${SCHEMA}/condition_sets`
const RULES = `${FACTS}/set_rules`
const RULE = { user_set: 'chiefs', permission: 'order:ship', resource_set: 'open' }
const CONFIGS = `${FACTS}/proxy_configs`
const ENTRY = { role: 'clerk', on_resource: 'shop', linked_by_relation: 'of' }

export const SCHEMA_CALLS: readonly Call[] = [
  {
    operation: 'replaceResource',
    method: 'PUT',
    path: `${RESOURCES}/shop`,
    body: { name: 'Shop', actions: {}, roles: { clerk: { name: 'Clerk' } } },
  },
  {
    operation: 'replaceResource',
    method: 'PUT',
    path: ORDER,
    body: {
      name: 'Order',
      actions: { ship: {}, cancel: {} },
      attributes: { size: { type: 'number' } },
      roles: { packer: { name: 'Packer', permissions: ['ship'] }, guest: { name: 'Guest' } },
      relations: { at: 'shop' },
    },
  },
  { operation: 'updateResource', method: 'PATCH', path: ORDER, body: { description: 'What is sold' } },
  { operation: 'createAction', method: 'POST', path: `${ORDER}/actions`, body: { key: 'pay', name: 'Pay' } },
  { operation: 'listActions', method: 'GET', path: `${ORDER}/actions?page=1&per_page=2` },
  { operation: 'getAction', method: 'GET', path: `${ORDER}/actions/pay` },
  {
    operation: 'updateAction',
    method: 'PATCH',
    path: `${ORDER}/actions/pay`,
    body: { description: 'With money', attributes: { risk: 1 } },
  },
  {
    operation: 'createActionGroup',
    method: 'POST',
    path: `${ORDER}/action_groups`,
    body: { key: 'all', name: 'All', actions: ['ship', 'cancel', 'ship'] },
  },
  { operation: 'listActionGroups', method: 'GET', path: `${ORDER}/action_groups` },
  { operation: 'getActionGroup', method: 'GET', path: `${ORDER}/action_groups/all` },
  {
    operation: 'updateActionGroup',
    method: 'PATCH',
    path: `${ORDER}/action_groups/all`,
    body: { name: 'Everything', actions: ['ship', 'cancel', 'pay'] },
  },
  {
    operation: 'createAttribute',
    method: 'POST',
    path: `${ORDER}/attributes`,
    body: { key: 'due', type: 'time' },
  },
  { operation: 'listAttributes', method: 'GET', path: `${ORDER}/attributes` },
  { operation: 'getAttribute', method: 'GET', path: `${ORDER}/attributes/due` },
  {
    operation: 'updateAttribute',
    method: 'PATCH',
    path: `${ORDER}/attributes/due`,
    body: { type: 'json', description: 'When' },
  },
  {
    operation: 'createUserAttribute',
    method: 'POST',
    path: `${SCHEMA}/users/attributes`,
    body: { key: 'level', type: 'number' },
  },
  { operation: 'listUserAttributes', method: 'GET', path: `${SCHEMA}/users/attributes` },
  { operation: 'getUserAttribute', method: 'GET', path: `${SCHEMA}/users/attributes/level` },
  {
    operation: 'updateUserAttribute',
    method: 'PATCH',
    path: `${SCHEMA}/users/attributes/level`,
    body: { description: 'How high' },
  },
  { operation: 'listResources', method: 'GET', path: `${RESOURCES}?include_built_in=true` },
  {
    operation: 'createRelation',
    method: 'POST',
    path: `${ORDER}/relations`,
    body: { key: 'of', name: 'Of', subject_resource: 'shop' },
  },
  { operation: 'listRelations', method: 'GET', path: `${ORDER}/relations` },
  { operation: 'listRelations', method: 'GET', path: `${ORDER}/relations?include_total_count=true` },
  { operation: 'getRelation', method: 'GET', path: `${ORDER}/relations/of` },
  { operation: 'listResourceRoles', method: 'GET', path: `${ORDER}/roles?page=1&per_page=100` },
  { operation: 'getResourceRole', method: 'GET', path: `${ORDER}/roles/packer` },
  {
    operation: 'addResourceRolePermissions',
    method: 'POST',
    path: `${ORDER}/roles/packer/permissions`,
    body: { permissions: ['pay', 'order:ship'] },
  },
  {
    operation: 'removeResourceRolePermissions',
    method: 'DELETE',
    path: `${ORDER}/roles/packer/permissions`,
    body: { permissions: ['ship', 'cancel'] },
  },
  {
    operation: 'addImplicitGrant',
    method: 'POST',
    path: `${ORDER}/roles/packer/implicit_grants`,
    body: { ...ENTRY, when: { no_direct_roles_on_object: true } },
  },
  {
    operation: 'setImplicitGrantConditions',
    method: 'PUT',
    path: `${ORDER}/roles/packer/implicit_grants/conditions`,
    body: { no_direct_roles_on_object: true },
  },
  {
    operation: 'removeImplicitGrant',
    method: 'DELETE',
    path: `${ORDER}/roles/packer/implicit_grants`,
    body: ENTRY,
  },
  {
    operation: 'putRolesInBulk',
    method: 'PUT',
    path: `${SCHEMA}/bulk/roles`,
    body: {
      operations: [
        { key: 'keeper', name: 'Keeper', permissions: ['order:pay'] },
        { key: 'guest', name: 'Guest', resource: 'order', permissions: ['pay'] },
        { key: 'elder', name: 'Elder', attributes: { rank: 1 } },
      ],
    },
  },
  ...inheritance('TenantRole', `${SCHEMA}/roles/keeper`, 'elder'),
  ...inheritance('ResourceRole', `${ORDER}/roles/packer`, 'guest'),
  { operation: 'listTenantRoles', method: 'GET', path: `${SCHEMA}/roles?attr_rank=1` },
  { operation: 'listTenantRoles', method: 'GET', path: `${SCHEMA}/roles` },
  { operation: 'listTenantRoles', method: 'GET', path: `${SCHEMA}/roles?include_total_count=true` },
  { operation: 'getTenantRole', method: 'GET', path: `${SCHEMA}/roles/keeper` },
  {
    operation: 'updateTenantRole',
    method: 'PATCH',
    path: `${SCHEMA}/roles/keeper`,
    body: { description: 'Keeps', attributes: {} },
  },
  {
    operation: 'addTenantRolePermissions',
    method: 'POST',
    path: `${SCHEMA}/roles/keeper/permissions`,
    body: { permissions: ['order:ship'] },
  },
  {
    operation: 'removeTenantRolePermissions',
    method: 'DELETE',
    path: `${SCHEMA}/roles/keeper/permissions`,
    body: { permissions: ['order:pay'] },
  },
  {
    operation: 'createConditionSet',
    method: 'POST',
    path: SETS,
    body: { key: 'staff', name: 'Staff', conditions: { 'user.staff': { equals: true } } },
  },
  {
    operation: 'createConditionSet',
    method: 'POST',
    path: SETS,
    body: { key: 'open', name: 'Open orders', type: 'resourceset', resource_id: 'order' },
  },
  {
    operation: 'createConditionSet',
    method: 'POST',
    path: SETS,
    body: { key: 'chiefs', name: 'Chiefs', parent_id: 'staff', description: null },
  },
  { operation: 'exportModel', method: 'GET', path: `${SCHEMA}/model` },
  {
    operation: 'tryConditionSet',
    method: 'POST',
    path: `${SETS}/try`,
    body: {
      conditions: { 'user.level': { 'greater-than': 3 } },
      parent_id: 'staff',
      samples: [{ user: 'nobody', attributes: { level: 4 } }, { resource_instance: 'order:o1' }],
      context: {},
    },
  },
  {
    operation: 'tryConditionSet',
    method: 'POST',
    path: `${SETS}/try`,
    body: { conditions: { 'user.level': { exceeds: 3 } } },
  },
  { operation: 'createSetRule', method: 'POST', path: RULES, body: RULE },
  {
    operation: 'createSetRule',
    method: 'POST',
    path: RULES,
    body: { user_set: 'keeper', permission: 'order:ship', resource_set: 'order', is_role: true },
  },
  {
    operation: 'createSetRules',
    method: 'POST',
    path: `${RULES}/bulk`,
    body: { operations: [RULE, { ...RULE, permission: 'order:pay' }] },
  },
  { operation: 'listSetRules', method: 'GET', path: `${RULES}?user_set=&permission=ship&resource_set=open` },
  { operation: 'listSetRules', method: 'GET', path: `${RULES}?include_total_count=true` },
  { operation: 'listConditionSets', method: 'GET', path: `${SETS}?type=resourceset&search=o` },
  { operation: 'listConditionSets', method: 'GET', path: `${SETS}?include_total_count=true` },
  { operation: 'getConditionSet', method: 'GET', path: `${SETS}/open` },
  { operation: 'getConditionSet', method: 'GET', path: `${SETS}/__autogen_order?type=resourceset` },
  { operation: 'listSetAncestors', method: 'GET', path: `${SETS}/chiefs/ancestors` },
  { operation: 'listSetDescendants', method: 'GET', path: `${SETS}/staff/descendants` },
  { operation: 'listPossibleParents', method: 'GET', path: `${SETS}/chiefs/possible_parents` },
  {
    operation: 'updateConditionSet',
    method: 'PATCH',
    path: `${SETS}/chiefs`,
    body: { name: 'Heads', conditions: { 'user.level': { 'greater-than': 3 } }, parent_id: null },
  },
  {
    operation: 'createProxyConfig',
    method: 'POST',
    path: CONFIGS,
    body: {
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
    },
  },
  { operation: 'listProxyConfigs', method: 'GET', path: `${CONFIGS}?page=1&per_page=5` },
  { operation: 'getProxyConfig', method: 'GET', path: `${CONFIGS}/gateway` },
  {
    operation: 'updateProxyConfig',
    method: 'PATCH',
    path: `${CONFIGS}/gateway`,
    body: {
      name: 'Front door',
      secret: 'y',
      auth_mechanism: 'Basic',
      mapping_rules: [{ url: 'https://api.example.org/orders', http_method: 'get', resource: 'order' }],
    },
  },
]

/** What undoes them; behind these a purge may write on its own. */
export const SCHEMA_DELETIONS: readonly Call[] = [
  { operation: 'deleteProxyConfig', method: 'DELETE', path: `${CONFIGS}/gateway` },
  { operation: 'deleteSetRule', method: 'DELETE', path: RULES, body: RULE },
  {
    operation: 'deleteSetRules',
    method: 'DELETE',
    path: `${RULES}/bulk`,
    body: { idents: [{ ...RULE, permission: 'order:pay' }] },
  },
  { operation: 'deleteConditionSet', method: 'DELETE', path: `${SETS}/chiefs` },
  { operation: 'deleteAction', method: 'DELETE', path: `${ORDER}/actions/pay` },
  { operation: 'deleteActionGroup', method: 'DELETE', path: `${ORDER}/action_groups/all` },
  { operation: 'deleteAttribute', method: 'DELETE', path: `${ORDER}/attributes/due` },
  { operation: 'deleteUserAttribute', method: 'DELETE', path: `${SCHEMA}/users/attributes/level` },
  { operation: 'deleteRelation', method: 'DELETE', path: `${ORDER}/relations/of` },
  { operation: 'deleteResourceRole', method: 'DELETE', path: `${ORDER}/roles/packer` },
  { operation: 'deleteTenantRole', method: 'DELETE', path: `${SCHEMA}/roles/keeper` },
  { operation: 'deleteResource', method: 'DELETE', path: ORDER },
]

/** A role is made to extend another one, and no longer. */
function inheritance(kind: string, role: string, parent: string): Call[] {
  const path = `${role}/parents/${parent}`
  return [
    { operation: `add${kind}Parent`, method: 'PUT', path },
    { operation: `list${kind}Ancestors`, method: 'GET', path: `${role}/ancestors` },
    { operation: `list${kind}Descendants`, method: 'GET', path: `${role}/descendants?page=1&per_page=10` },
    { operation: `remove${kind}Parent`, method: 'DELETE', path },
  ]
}
