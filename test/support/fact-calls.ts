/** One call of every operation on facts, in an order in which each succeeds, after those that made the sample facts. */
import { FACTS } from '#testing/processes/running-service.ts'
import type { Call } from './schema-calls.ts'

const INSTANCES = `${FACTS}/resource_instances`
const ASSIGNMENTS = `${FACTS}/role_assignments`
const TUPLES = `${FACTS}/relationship_tuples`
const assigned = { user: 'carol', role: 'auditor', tenant: 'acme' }
const related = { subject: 'document:d2', relation: 'parent', object: 'document:d3' }

/** What needs a body, with one of the right shape about things that need not exist. */
export const FACT_BODIES: Readonly<Record<string, unknown>> = {
  updateTenant: {},
  createTenantUser: { key: 'someone' },
  createTenants: { operations: [] },
  deleteTenants: { idents: [] },
  replaceUser: { key: 'nothing' },
  updateUser: {},
  assignUserRole: { role: 'nothing', tenant: 'default' },
  unassignUserRole: { role: 'nothing', tenant: 'default' },
  createUsers: { operations: [] },
  replaceUsers: { operations: [] },
  deleteUsers: { idents: [] },
  deleteRoleAssignment: { user: 'nobody', role: 'nothing', tenant: 'default' },
  assignRoles: [{ user: 'nobody', role: 'nothing', tenant: 'default' }],
  unassignRoles: [{ user: 'nobody', role: 'nothing', tenant: 'default' }],
  updateResourceInstance: {},
  replaceResourceInstances: { operations: [] },
  deleteResourceInstances: { idents: [] },
  deleteRelationshipTuple: { subject: 'nothing:n1', relation: 'none', object: 'nothing:n2' },
  createRelationshipTuples: { operations: [] },
  deleteRelationshipTuples: { idents: [] },
}

export const FACT_CALLS: readonly Call[] = [
  { operation: 'streamChanges', method: 'GET', path: `${FACTS}/changes?kinds=user` },
  {
    operation: 'createTenants',
    method: 'POST',
    path: `${FACTS}/bulk/tenants`,
    body: { operations: [{ key: 'umbrella', name: 'Umbrella' }] },
  },
  {
    operation: 'createUsers',
    method: 'POST',
    path: `${FACTS}/bulk/users`,
    body: { operations: [{ key: 'bob' }] },
  },
  { operation: 'completeKeys', method: 'GET', path: `${FACTS}/key_completions?kind=user&prefix=a` },
  { operation: 'searchKeys', method: 'GET', path: `${FACTS}/key_searches?kind=user&text=a` },
  {
    operation: 'replaceUsers',
    method: 'PUT',
    path: `${FACTS}/bulk/users`,
    body: { operations: [{ key: 'bob', email: 'bob@example.com' }, { key: 'carol' }] },
  },
  { operation: 'replaceUser', method: 'PUT', path: `${FACTS}/users/dave`, body: { key: 'dave' } },
  {
    operation: 'replaceUser',
    method: 'PUT',
    path: `${FACTS}/users/dave`,
    body: { key: 'dave', first_name: 'D' },
  },
  {
    operation: 'updateUser',
    method: 'PATCH',
    path: `${FACTS}/users/dave`,
    body: { attributes: { age: 7 } },
  },
  {
    operation: 'createTenantUser',
    method: 'POST',
    path: `${FACTS}/tenants/acme/users`,
    body: { key: 'eve', role_assignments: [{ role: 'auditor' }] },
  },
  {
    operation: 'assignUserRole',
    method: 'POST',
    path: `${FACTS}/users/dave/roles`,
    body: { role: 'viewer', resource_instance: 'document:d2' },
  },
  {
    operation: 'updateTenant',
    method: 'PATCH',
    path: `${FACTS}/tenants/acme`,
    body: { attributes: { tier: 1 } },
  },
  { operation: 'assignRoles', method: 'POST', path: `${ASSIGNMENTS}/bulk`, body: [assigned] },
  {
    operation: 'replaceResourceInstances',
    method: 'PUT',
    path: `${FACTS}/bulk/resource_instances`,
    body: { operations: [{ resource: 'document', key: 'd3', tenant: 'default', attributes: { a: 1 } }] },
  },
  {
    operation: 'updateResourceInstance',
    method: 'PATCH',
    path: `${INSTANCES}/document:d3`,
    body: { attributes: { b: 2 } },
  },
  {
    operation: 'createRelationshipTuples',
    method: 'POST',
    path: `${TUPLES}/bulk`,
    body: { operations: [related] },
  },
  { operation: 'listTenants', method: 'GET', path: `${FACTS}/tenants` },
  {
    operation: 'listTenants',
    method: 'GET',
    path: `${FACTS}/tenants?include_total_count=true&search=ac`,
  },
  { operation: 'getTenant', method: 'GET', path: `${FACTS}/tenants/acme` },
  { operation: 'listTenantUsers', method: 'GET', path: `${FACTS}/tenants/acme/users?role=auditor` },
  { operation: 'listUsers', method: 'GET', path: `${FACTS}/users?include_resource_instance_roles=true` },
  { operation: 'getUser', method: 'GET', path: `${FACTS}/users/dave` },
  ...['', '?detailed=true', '?include_total_count=true', '?detailed=true&include_total_count=true'].flatMap(
    query => [
      { operation: 'listRoleAssignments', method: 'GET', path: `${ASSIGNMENTS}${query}` },
      { operation: 'listResourceInstances', method: 'GET', path: `${INSTANCES}${query}` },
      { operation: 'listRelationshipTuples', method: 'GET', path: `${TUPLES}${query}` },
    ],
  ),
  { operation: 'listDetailedRoleAssignments', method: 'GET', path: `${ASSIGNMENTS}/detailed` },
  { operation: 'listDetailedResourceInstances', method: 'GET', path: `${INSTANCES}/detailed` },
  { operation: 'getResourceInstance', method: 'GET', path: `${INSTANCES}/document:d2?detailed=true` },
  { operation: 'listDetailedRelationshipTuples', method: 'GET', path: `${TUPLES}/detailed` },
  { operation: 'deleteRelationshipTuple', method: 'DELETE', path: TUPLES, body: related },
  {
    operation: 'deleteRelationshipTuples',
    method: 'DELETE',
    path: `${TUPLES}/bulk`,
    body: { idents: [{ subject: 'document:d1', relation: 'parent', object: 'document:d2' }] },
  },
  { operation: 'deleteRoleAssignment', method: 'DELETE', path: ASSIGNMENTS, body: assigned },
  { operation: 'createRoleAssignment', method: 'POST', path: ASSIGNMENTS, body: assigned },
  {
    operation: 'deleteRoleAssignment',
    method: 'DELETE',
    path: `${ASSIGNMENTS}?return_deleted=true`,
    body: assigned,
  },
  {
    operation: 'unassignRoles',
    method: 'DELETE',
    path: `${ASSIGNMENTS}/bulk`,
    body: [{ user: 'eve', role: 'auditor', tenant: 'acme' }],
  },
  {
    operation: 'assignUserRole',
    method: 'POST',
    path: `${FACTS}/users/dave/roles`,
    body: { role: 'editor', resource_instance: 'document:d2' },
  },
  {
    operation: 'unassignUserRole',
    method: 'DELETE',
    path: `${FACTS}/users/dave/roles`,
    body: { role: 'editor', resource_instance: 'document:d2' },
  },
  {
    operation: 'unassignUserRole',
    method: 'DELETE',
    path: `${FACTS}/users/dave/roles?return_deleted=true`,
    body: { role: 'viewer', resource_instance: 'document:d2' },
  },
  { operation: 'removeTenantUser', method: 'DELETE', path: `${FACTS}/tenants/acme/users/auth0%7Celon` },
  { operation: 'deleteResourceInstance', method: 'DELETE', path: `${INSTANCES}/document:d3` },
  {
    operation: 'deleteResourceInstances',
    method: 'DELETE',
    path: `${FACTS}/bulk/resource_instances`,
    body: { idents: ['document:d2'] },
  },
  { operation: 'deleteUser', method: 'DELETE', path: `${FACTS}/users/dave` },
  { operation: 'deleteUsers', method: 'DELETE', path: `${FACTS}/bulk/users`, body: { idents: ['bob'] } },
  { operation: 'deleteTenant', method: 'DELETE', path: `${FACTS}/tenants/acme` },
  {
    operation: 'deleteTenants',
    method: 'DELETE',
    path: `${FACTS}/bulk/tenants`,
    body: { idents: ['umbrella'] },
  },
]
