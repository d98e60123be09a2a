/** Tenants and the users that have roles in them (native.md B.6, B.11). */
import type { Route } from '#http/routing/route.ts'
import { BulkIdents } from '#model/wire/references.ts'
import { Empty } from '#model/wire/common-fields.ts'
import {
  Tenant,
  TenantCreate,
  TenantList,
  TenantPath,
  TenantsBulkCreate,
  TenantsPath,
  TenantsQuery,
  TenantUpdate,
  TenantUserPath,
} from '#entities/tenant.ts'
import { TenantUsersQuery, User, UserCreate, UserEnvelope } from '#entities/user.ts'
import { FACTS_BASE, type Manage } from './managed.ts'

const TENANTS = `${FACTS_BASE}/tenants`
const TENANT = `${TENANTS}/{tenant_id}`
const BULK = `${FACTS_BASE}/bulk/tenants`

export function tenantRoutes(manage: Manage): Route[] {
  return [
    manage({
      operation: 'listTenants',
      level: 'read',
      method: 'GET',
      path: TENANTS,
      summary: 'List tenants',
      params: TenantsPath,
      query: TenantsQuery,
      answer: TenantList,
    }),
    manage({
      operation: 'createTenant',
      level: 'write_facts',
      method: 'POST',
      path: TENANTS,
      summary: 'Create a tenant',
      params: TenantsPath,
      body: TenantCreate,
      answer: Tenant,
    }),
    manage({
      operation: 'getTenant',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      path: TENANT,
      summary: 'Read a tenant',
      params: TenantPath,
      thing: 'getTenant',
      answer: Tenant,
    }),
    manage({
      operation: 'updateTenant',
      level: 'write_facts',
      method: 'PATCH',
      path: TENANT,
      summary: 'Change a tenant; each given field replaces the whole old value',
      params: TenantPath,
      thing: 'getTenant',
      body: TenantUpdate,
      answer: Tenant,
    }),
    manage({
      operation: 'deleteTenant',
      level: 'write_facts',
      method: 'DELETE',
      path: TENANT,
      summary: 'Delete a tenant and everything in it',
      params: TenantPath,
      thing: 'getTenant',
    }),
    manage({
      operation: 'listTenantUsers',
      level: 'read',
      method: 'GET',
      path: `${TENANT}/users`,
      summary: 'List the users who have a role in a tenant',
      params: TenantPath,
      query: TenantUsersQuery,
      answer: UserEnvelope,
    }),
    manage({
      operation: 'createTenantUser',
      level: 'write_facts',
      method: 'POST',
      path: `${TENANT}/users`,
      summary: 'Create a user; its tenant roles are in this tenant unless they name another',
      params: TenantPath,
      body: UserCreate,
      answer: User,
    }),
    manage({
      operation: 'removeTenantUser',
      level: 'write_facts',
      method: 'DELETE',
      path: `${TENANT}/users/{user_id}`,
      summary: 'Revoke all roles of a user in a tenant',
      params: TenantUserPath,
    }),
    manage({
      operation: 'createTenants',
      level: 'write_facts',
      method: 'POST',
      path: BULK,
      summary: 'Create tenants, all or none',
      params: TenantsPath,
      body: TenantsBulkCreate,
      answer: Empty,
    }),
    manage({
      operation: 'deleteTenants',
      level: 'write_facts',
      method: 'DELETE',
      path: BULK,
      summary: 'Delete tenants, all or none',
      params: TenantsPath,
      body: BulkIdents,
      answer: Empty,
    }),
  ]
}
