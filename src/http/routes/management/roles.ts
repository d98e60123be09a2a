/** Roles of resources and of tenants, with their permissions and derivations (native.md B.4, B.5, B.11). */
import { Type } from 'typebox'
import type { Route } from '#http/routing/route.ts'
import {
  BulkRoles,
  BulkRolesDone,
  BulkRolesPath,
  DerivationCreate,
  DerivationRead,
  GrantConditions,
  PermissionList,
  ResourceRole,
  ResourceRoleFamily,
  ResourceRoleParentPath,
  ResourceRolePath,
  ResourceRolesPath,
  ResourceRolesQuery,
  RoleCreate,
  ResourceRoleUpdate,
  RoleFamilyQuery,
  RoleUpdate,
  TenantRole,
  TenantRoleFamily,
  TenantRoleList,
  TenantRoleParentPath,
  TenantRolePath,
  TenantRolesPath,
  TenantRolesQuery,
} from '#entities/role.ts'
import { managed, type ManagementGateway, SCHEMA_BASE } from './managed.ts'

export function roleRoutes(gateway: ManagementGateway): Route[] {
  return [
    ...resourceRoleRoutes(gateway),
    ...derivationRoutes(gateway),
    ...tenantRoleRoutes(gateway),
    ...inheritanceRoutes(gateway),
  ]
}

const RESOURCE_ROLES = `${SCHEMA_BASE}/resources/{resource_id}/roles`
const TENANT_ROLES = `${SCHEMA_BASE}/roles`

function resourceRoleRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  const all = { path: RESOURCE_ROLES, params: ResourceRolesPath }
  const one = {
    path: `${RESOURCE_ROLES}/{role_id}`,
    params: ResourceRolePath,
    thing: 'getResourceRole',
  } as const
  const permissions = { ...one, path: `${one.path}/permissions` }
  return [
    manage({
      ...all,
      operation: 'listResourceRoles',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      summary: 'List the roles of a resource',
      query: ResourceRolesQuery,
      answer: Type.Array(ResourceRole),
    }),
    manage({
      ...all,
      operation: 'createResourceRole',
      level: 'write',
      method: 'POST',
      summary: 'Create a role on a resource',
      body: RoleCreate,
      answer: ResourceRole,
    }),
    manage({
      ...one,
      operation: 'getResourceRole',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      summary: 'Read a role of a resource',
      answer: ResourceRole,
    }),
    manage({
      ...one,
      operation: 'updateResourceRole',
      level: 'write',
      method: 'PATCH',
      summary: 'Change a role of a resource; each given field replaces the whole old value',
      body: ResourceRoleUpdate,
      answer: ResourceRole,
    }),
    manage({
      ...one,
      operation: 'deleteResourceRole',
      level: 'write',
      method: 'DELETE',
      summary: 'Delete a role of a resource, its assignments and all references to it',
    }),
    manage({
      ...permissions,
      operation: 'addResourceRolePermissions',
      level: 'write',
      method: 'POST',
      summary: 'Add permissions to a role of a resource',
      body: PermissionList,
      answer: ResourceRole,
    }),
    manage({
      ...permissions,
      operation: 'removeResourceRolePermissions',
      level: 'write',
      method: 'DELETE',
      summary: 'Remove permissions from a role of a resource',
      body: PermissionList,
      answer: ResourceRole,
    }),
  ]
}

function derivationRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  const all = {
    path: `${RESOURCE_ROLES}/{role_id}/implicit_grants`,
    params: ResourceRolePath,
    thing: 'getResourceRole',
    answersPart: true,
  } as const
  const setConditions = manage({
    ...all,
    path: `${all.path}/conditions`,
    operation: 'setImplicitGrantConditions',
    level: 'write',
    method: 'PUT',
    summary: 'Set the condition of the derivations of a role of a resource',
    body: GrantConditions,
    answer: GrantConditions,
  })
  return [
    manage({
      ...all,
      operation: 'addImplicitGrant',
      level: 'write',
      method: 'POST',
      summary: 'Derive a role of a resource from another role through a relation',
      body: DerivationCreate,
      answer: DerivationRead,
    }),
    manage({
      ...all,
      operation: 'removeImplicitGrant',
      level: 'write',
      method: 'DELETE',
      summary: 'Remove a derivation of a role of a resource from another role',
      body: DerivationCreate,
    }),
    setConditions,
    // The Java client uses POST for this operation.
    { ...setConditions, method: 'POST', isDescribed: false },
  ]
}

function tenantRoleRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  const all = { path: TENANT_ROLES, params: TenantRolesPath }
  const one = { path: `${TENANT_ROLES}/{role_id}`, params: TenantRolePath, thing: 'getTenantRole' } as const
  const permissions = { ...one, path: `${one.path}/permissions` }
  return [
    manage({
      ...all,
      operation: 'listTenantRoles',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      summary: 'List tenant roles',
      query: TenantRolesQuery,
      answer: TenantRoleList,
    }),
    manage({
      ...all,
      operation: 'createTenantRole',
      level: 'write',
      method: 'POST',
      summary: 'Create a tenant role',
      body: RoleCreate,
      answer: TenantRole,
    }),
    manage({
      ...one,
      operation: 'getTenantRole',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      summary: 'Read a tenant role',
      answer: TenantRole,
    }),
    manage({
      ...one,
      operation: 'updateTenantRole',
      level: 'write',
      method: 'PATCH',
      summary: 'Change a tenant role; each given field replaces the whole old value',
      body: RoleUpdate,
      answer: TenantRole,
    }),
    manage({
      ...one,
      operation: 'deleteTenantRole',
      level: 'write',
      method: 'DELETE',
      summary: 'Delete a tenant role and its assignments',
    }),
    manage({
      ...permissions,
      operation: 'addTenantRolePermissions',
      level: 'write',
      method: 'POST',
      summary: 'Add permissions to a tenant role',
      body: PermissionList,
      answer: TenantRole,
    }),
    manage({
      ...permissions,
      operation: 'removeTenantRolePermissions',
      level: 'write',
      method: 'DELETE',
      summary: 'Remove permissions from a tenant role',
      body: PermissionList,
      answer: TenantRole,
    }),
    manage({
      operation: 'putRolesInBulk',
      level: 'write',
      method: 'PUT',
      path: `${SCHEMA_BASE}/bulk/roles`,
      params: BulkRolesPath,
      summary: 'Create or replace many roles, all or none',
      body: BulkRoles,
      answer: BulkRolesDone,
    }),
  ]
}

/** Routes for the parents of a role, which are the roles that it `extends`. */
function inheritanceRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  const ofTenant = {
    path: `${TENANT_ROLES}/{role_id}/parents/{parent_role_id}`,
    params: TenantRoleParentPath,
    thing: 'getTenantRole',
  } as const
  const ofResource = {
    path: `${RESOURCE_ROLES}/{role_id}/parents/{parent_role_id}`,
    params: ResourceRoleParentPath,
    thing: 'getResourceRole',
  } as const
  return [
    manage({
      ...ofTenant,
      operation: 'addTenantRoleParent',
      level: 'write',
      method: 'PUT',
      summary: 'Make a tenant role extend another one',
      answer: TenantRole,
    }),
    manage({
      ...ofTenant,
      operation: 'removeTenantRoleParent',
      level: 'write',
      method: 'DELETE',
      summary: 'Make a tenant role no longer extend another one',
      answer: TenantRole,
    }),
    manage({
      ...ofResource,
      operation: 'addResourceRoleParent',
      level: 'write',
      method: 'PUT',
      summary: 'Make a role of a resource extend another role of the resource',
      answer: ResourceRole,
    }),
    manage({
      ...ofResource,
      operation: 'removeResourceRoleParent',
      level: 'write',
      method: 'DELETE',
      summary: 'Make a role of a resource no longer extend another role of the resource',
      answer: ResourceRole,
    }),
    ...familyRoutes(gateway),
  ]
}

function familyRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  const ofTenant = {
    method: 'GET',
    params: TenantRolePath,
    query: RoleFamilyQuery,
    answer: TenantRoleFamily,
  } as const
  const ofResource = { ...ofTenant, params: ResourceRolePath, answer: ResourceRoleFamily }
  return [
    manage({
      ...ofTenant,
      operation: 'listTenantRoleAncestors',
      level: 'read',
      path: `${TENANT_ROLES}/{role_id}/ancestors`,
      summary: 'List the roles that a tenant role extends, directly and through others, nearest first',
    }),
    manage({
      ...ofTenant,
      operation: 'listTenantRoleDescendants',
      level: 'read',
      path: `${TENANT_ROLES}/{role_id}/descendants`,
      summary: 'List the roles that extend a tenant role, directly and through others, nearest first',
    }),
    manage({
      ...ofResource,
      operation: 'listResourceRoleAncestors',
      level: 'read',
      path: `${RESOURCE_ROLES}/{role_id}/ancestors`,
      summary: 'List the roles that a role of a resource extends, directly and through others, nearest first',
    }),
    manage({
      ...ofResource,
      operation: 'listResourceRoleDescendants',
      level: 'read',
      path: `${RESOURCE_ROLES}/{role_id}/descendants`,
      summary: 'List the roles that extend a role of a resource, directly and through others, nearest first',
    }),
  ]
}
