/** Resources with their roles and relations (contract B.4). */
import { Relation, RelationCreate, RelationsPath } from '#model/wire/relation.ts'
import {
  Resource,
  ResourceCreate,
  ResourceList,
  ResourcePath,
  ResourcesPath,
  ResourcesQuery,
} from '#model/wire/resource.ts'
import {
  ResourceRole,
  ResourceRolePath,
  ResourceRolesPath,
  RoleCreate,
  RoleUpdate,
  TenantRole,
  TenantRolesPath,
} from '#model/wire/role.ts'
import type { Route } from '../route.ts'
import { managed, type ManagementGateway, SCHEMA_BASE } from './managed.ts'

const RESOURCES = `${SCHEMA_BASE}/resources`

export function resourceRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  return [
    manage({
      operation: 'createResource',
      method: 'POST',
      path: RESOURCES,
      summary: 'Create a resource, with its actions, roles and relations',
      params: ResourcesPath,
      body: ResourceCreate,
      answer: Resource,
    }),
    manage({
      operation: 'listResources',
      method: 'GET',
      path: RESOURCES,
      summary: 'List resources',
      params: ResourcesPath,
      query: ResourcesQuery,
      answer: ResourceList,
    }),
    manage({
      operation: 'getResource',
      method: 'GET',
      path: `${RESOURCES}/{resource_id}`,
      summary: 'Read a resource',
      params: ResourcePath,
      answer: Resource,
    }),
    manage({
      operation: 'createResourceRole',
      method: 'POST',
      path: `${RESOURCES}/{resource_id}/roles`,
      summary: 'Create a role on a resource',
      params: ResourceRolesPath,
      body: RoleCreate,
      answer: ResourceRole,
    }),
    manage({
      operation: 'updateResourceRole',
      method: 'PATCH',
      path: `${RESOURCES}/{resource_id}/roles/{role_id}`,
      summary: 'Change a role of a resource; each given field replaces the old value whole',
      params: ResourceRolePath,
      body: RoleUpdate,
      answer: ResourceRole,
    }),
    manage({
      operation: 'createRelation',
      method: 'POST',
      path: `${RESOURCES}/{resource_id}/relations`,
      summary: 'Create a relation whose objects are of this resource',
      params: RelationsPath,
      body: RelationCreate,
      answer: Relation,
    }),
    manage({
      operation: 'createTenantRole',
      method: 'POST',
      path: `${SCHEMA_BASE}/roles`,
      summary: 'Create a tenant role',
      params: TenantRolesPath,
      body: RoleCreate,
      answer: TenantRole,
    }),
  ]
}
