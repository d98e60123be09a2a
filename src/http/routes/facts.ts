/** Tenants, users, instances, role assignments and relationship tuples (contract B.6 to B.10). */
import {
  RelationshipTuple,
  RelationshipTupleCreate,
  RelationshipTuplesPath,
} from '#model/wire/relationship-tuple.ts'
import {
  ResourceInstance,
  ResourceInstanceCreate,
  ResourceInstancesPath,
} from '#model/wire/resource-instance.ts'
import { RoleAssignment, RoleAssignmentCreate, RoleAssignmentsPath } from '#model/wire/role-assignment.ts'
import { Tenant, TenantCreate, TenantsPath } from '#model/wire/tenant.ts'
import { User, UserCreate, UsersPath } from '#model/wire/user.ts'
import type { Route } from '../route.ts'
import { FACTS_BASE, managed, type ManagementGateway } from './managed.ts'

export function factRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  return [
    manage({
      operation: 'createTenant',
      method: 'POST',
      path: `${FACTS_BASE}/tenants`,
      summary: 'Create a tenant',
      params: TenantsPath,
      body: TenantCreate,
      answer: Tenant,
    }),
    manage({
      operation: 'createUser',
      method: 'POST',
      path: `${FACTS_BASE}/users`,
      summary: 'Create a user, with role assignments if given',
      params: UsersPath,
      body: UserCreate,
      answer: User,
    }),
    manage({
      operation: 'createResourceInstance',
      method: 'POST',
      path: `${FACTS_BASE}/resource_instances`,
      summary: 'Create a resource instance',
      params: ResourceInstancesPath,
      body: ResourceInstanceCreate,
      answer: ResourceInstance,
    }),
    manage({
      operation: 'createRoleAssignment',
      method: 'POST',
      path: `${FACTS_BASE}/role_assignments`,
      summary: 'Assign a role to a user, in a tenant or on an instance',
      params: RoleAssignmentsPath,
      body: RoleAssignmentCreate,
      answer: RoleAssignment,
    }),
    manage({
      operation: 'createRelationshipTuple',
      method: 'POST',
      path: `${FACTS_BASE}/relationship_tuples`,
      summary: 'Relate two instances, creating them when missing',
      params: RelationshipTuplesPath,
      body: RelationshipTupleCreate,
      answer: RelationshipTuple,
    }),
  ]
}
