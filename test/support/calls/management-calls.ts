/** One call of every management operation of an environment, in an order in which each succeeds. */
import { FACT_CALLS } from './fact-calls.ts'
import { FACTS, grantBody, GROUPS, RESOURCES, SCHEMA } from '#testing/processes/running-service.ts'
import { type Call, call, SCHEMA_CALLS, SCHEMA_DELETIONS } from './schema-calls.ts'

export const MANAGEMENT_CALLS: readonly Call[] = [
  ...SCHEMA_CALLS,
  call('createResource', 'POST', RESOURCES, {
    key: 'document',
    name: 'Document',
    urn: 'urn:document',
    description: 'Something written',
    actions: { read: {}, update: { name: 'Update', description: 'Change it', attributes: { cost: 2 } } },
    attributes: { pages: { type: 'number', description: 'How long' }, tags: { type: 'array' } },
    type_attributes: { kind: 'text' },
    roles: {
      viewer: { name: 'Viewer', permissions: ['read'], attributes: { rank: 1 } },
      editor: {
        name: 'Editor',
        permissions: ['document:update'],
        extends: ['viewer'],
        granted_to: {
          when: { no_direct_roles_on_object: true },
          users_with_role: [{ role: 'viewer', on_resource: 'document', linked_by_relation: 'parent' }],
        },
      },
    },
    relations: { parent: 'document' },
  }),
  call('listResources', 'GET', `${RESOURCES}?include_total_count=true`),
  call('listResources', 'GET', `${RESOURCES}?page=1&per_page=100`),
  call('getResource', 'GET', `${RESOURCES}/document`),
  call('createResourceRole', 'POST', `${RESOURCES}/document/roles`, { key: 'reader', name: 'Reader' }),
  call('updateResourceRole', 'PATCH', `${RESOURCES}/document/roles/reader`, {
    permissions: ['read'],
    description: 'Reads',
  }),
  call('createRelation', 'POST', `${RESOURCES}/document/relations`, {
    key: 'sibling',
    name: 'Sibling',
    subject_resource: 'document',
  }),
  call('createTenantRole', 'POST', `${SCHEMA}/roles`, {
    key: 'auditor',
    name: 'Auditor',
    permissions: ['document:read'],
    granted_to: { users_with_role: [{ role: 'a', on_resource: 'b', linked_by_relation: 'c' }] },
  }),
  call('createTenant', 'POST', `${FACTS}/tenants`, { key: 'acme', name: 'Acme' }),
  call('createUser', 'POST', `${FACTS}/users`, {
    key: 'auth0|elon',
    role_assignments: [{ role: 'auditor', tenant: 'acme' }],
  }),
  call('createResourceInstance', 'POST', `${FACTS}/resource_instances`, {
    resource: 'document',
    key: 'd1',
    tenant: 'default',
  }),
  call('createRoleAssignment', 'POST', `${FACTS}/role_assignments`, {
    user: 'auth0|elon',
    role: 'viewer',
    resource_instance: 'document:d1',
  }),
  call('createRelationshipTuple', 'POST', `${FACTS}/relationship_tuples`, {
    subject: 'document:d1',
    relation: 'parent',
    object: 'document:d2',
  }),
  call('createGroup', 'POST', GROUPS, { group_instance_key: 'outer', group_tenant: 'default' }),
  call('createGroup', 'POST', GROUPS, { group_instance_key: 'inner', group_tenant: 'default' }),
  call('addGroupMember', 'PUT', `${GROUPS}/inner/users/auth0%7Celon`, { tenant: 'default' }),
  call('addGroupRole', 'POST', `${GROUPS}/outer/roles`, grantBody('editor', 'document:d1')),
  call('assignGroup', 'PUT', `${GROUPS}/outer/assign_group`, { group_instance_key: 'inner' }),
  call('listGroupRecords', 'GET', `${GROUPS}/direct`),
  call('getGroupRecord', 'GET', `${GROUPS}/direct/outer`),
  call('listGroups', 'GET', GROUPS),
  call('getGroup', 'GET', `${GROUPS}/outer`),
  call('listGroupUsers', 'GET', `${GROUPS}/inner/users`),
  call('listGroupRoles', 'GET', `${GROUPS}/outer/roles`),
  call('listGroupChildren', 'GET', `${GROUPS}/outer/children`),
  call('listGroupParents', 'GET', `${GROUPS}/inner/parents`),
  call('unassignGroup', 'DELETE', `${GROUPS}/outer/assign_group`, { group_instance_key: 'inner' }),
  call('removeGroupRole', 'DELETE', `${GROUPS}/outer/roles`, grantBody('editor', 'document:d1')),
  call('removeGroupMember', 'DELETE', `${GROUPS}/inner/users/auth0%7Celon`),
  call('deleteGroup', 'DELETE', `${GROUPS}/inner`),
  ...FACT_CALLS,
  ...SCHEMA_DELETIONS,
]
