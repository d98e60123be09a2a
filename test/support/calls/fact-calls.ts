/** One call of every operation on facts, in an order in which each succeeds with the sample facts. */
import { FACTS } from '#testing/processes/running-service.ts'
import { type Call, call } from './schema-calls.ts'

const INSTANCES = `${FACTS}/resource_instances`
const ASSIGNMENTS = `${FACTS}/role_assignments`
const TUPLES = `${FACTS}/relationship_tuples`
const assigned = { user: 'carol', role: 'auditor', tenant: 'acme' }
const related = { subject: 'document:d2', relation: 'parent', object: 'document:d3' }

export const FACT_CALLS: readonly Call[] = [
  call('streamChanges', 'GET', `${FACTS}/changes?kinds=user`),
  call('createTenants', 'POST', `${FACTS}/bulk/tenants`, {
    operations: [{ key: 'umbrella', name: 'Umbrella' }],
  }),
  call('createUsers', 'POST', `${FACTS}/bulk/users`, { operations: [{ key: 'bob' }] }),
  call('completeKeys', 'GET', `${FACTS}/key_completions?kind=user&prefix=a`),
  call('searchKeys', 'GET', `${FACTS}/key_searches?kind=user&text=a`),
  call('replaceUsers', 'PUT', `${FACTS}/bulk/users`, {
    operations: [{ key: 'bob', email: 'bob@example.com' }, { key: 'carol' }],
  }),
  call('replaceUser', 'PUT', `${FACTS}/users/dave`, { key: 'dave' }),
  call('replaceUser', 'PUT', `${FACTS}/users/dave`, { key: 'dave', first_name: 'D' }),
  call('updateUser', 'PATCH', `${FACTS}/users/dave`, { attributes: { age: 7 } }),
  call('createTenantUser', 'POST', `${FACTS}/tenants/acme/users`, {
    key: 'eve',
    role_assignments: [{ role: 'auditor' }],
  }),
  call('assignUserRole', 'POST', `${FACTS}/users/dave/roles`, {
    role: 'viewer',
    resource_instance: 'document:d2',
  }),
  call('updateTenant', 'PATCH', `${FACTS}/tenants/acme`, { attributes: { tier: 1 } }),
  call('assignRoles', 'POST', `${ASSIGNMENTS}/bulk`, [assigned]),
  call('replaceResourceInstances', 'PUT', `${FACTS}/bulk/resource_instances`, {
    operations: [{ resource: 'document', key: 'd3', tenant: 'default', attributes: { a: 1 } }],
  }),
  call('updateResourceInstance', 'PATCH', `${INSTANCES}/document:d3`, { attributes: { b: 2 } }),
  call('createRelationshipTuples', 'POST', `${TUPLES}/bulk`, { operations: [related] }),
  call('listTenants', 'GET', `${FACTS}/tenants`),
  call('listTenants', 'GET', `${FACTS}/tenants?include_total_count=true&search=ac`),
  call('getTenant', 'GET', `${FACTS}/tenants/acme`),
  call('listTenantUsers', 'GET', `${FACTS}/tenants/acme/users?role=auditor`),
  call('listUsers', 'GET', `${FACTS}/users?include_resource_instance_roles=true`),
  call('getUser', 'GET', `${FACTS}/users/dave`),
  ...['', '?detailed=true', '?include_total_count=true', '?detailed=true&include_total_count=true'].flatMap(
    query => [
      call('listRoleAssignments', 'GET', `${ASSIGNMENTS}${query}`),
      call('listResourceInstances', 'GET', `${INSTANCES}${query}`),
      call('listRelationshipTuples', 'GET', `${TUPLES}${query}`),
    ],
  ),
  call('listDetailedRoleAssignments', 'GET', `${ASSIGNMENTS}/detailed`),
  call('listDetailedResourceInstances', 'GET', `${INSTANCES}/detailed`),
  call('getResourceInstance', 'GET', `${INSTANCES}/document:d2?detailed=true`),
  call('listDetailedRelationshipTuples', 'GET', `${TUPLES}/detailed`),
  call('deleteRelationshipTuple', 'DELETE', TUPLES, related),
  call('deleteRelationshipTuples', 'DELETE', `${TUPLES}/bulk`, {
    idents: [{ subject: 'document:d1', relation: 'parent', object: 'document:d2' }],
  }),
  call('deleteRoleAssignment', 'DELETE', ASSIGNMENTS, assigned),
  call('createRoleAssignment', 'POST', ASSIGNMENTS, assigned),
  call('deleteRoleAssignment', 'DELETE', `${ASSIGNMENTS}?return_deleted=true`, assigned),
  call('unassignRoles', 'DELETE', `${ASSIGNMENTS}/bulk`, [{ user: 'eve', role: 'auditor', tenant: 'acme' }]),
  call('assignUserRole', 'POST', `${FACTS}/users/dave/roles`, {
    role: 'editor',
    resource_instance: 'document:d2',
  }),
  call('unassignUserRole', 'DELETE', `${FACTS}/users/dave/roles`, {
    role: 'editor',
    resource_instance: 'document:d2',
  }),
  call('unassignUserRole', 'DELETE', `${FACTS}/users/dave/roles?return_deleted=true`, {
    role: 'viewer',
    resource_instance: 'document:d2',
  }),
  call('removeTenantUser', 'DELETE', `${FACTS}/tenants/acme/users/auth0%7Celon`),
  call('deleteResourceInstance', 'DELETE', `${INSTANCES}/document:d3`),
  call('deleteResourceInstances', 'DELETE', `${FACTS}/bulk/resource_instances`, { idents: ['document:d2'] }),
  call('deleteUser', 'DELETE', `${FACTS}/users/dave`),
  call('deleteUsers', 'DELETE', `${FACTS}/bulk/users`, { idents: ['bob'] }),
  call('deleteTenant', 'DELETE', `${FACTS}/tenants/acme`),
  call('deleteTenants', 'DELETE', `${FACTS}/bulk/tenants`, { idents: ['umbrella'] }),
]
