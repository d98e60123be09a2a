/** Operations on tenant roles (native.md B.5). */
import { searchedTexts } from '#entities/entity.ts'
import type { ReadContext, WriteContext } from '#management/drafts/context.ts'
import { requireRole } from '#management/drafts/lookups.ts'
import { arrayOrEnvelope, type Page } from '#management/paging/paging.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { attributeFilter, pageOfSelection, searchFilter } from '#management/paging/selection.ts'
import type { RoleRecord } from '#entities/records.ts'
import {
  type PermissionList,
  ROLE,
  type RoleCreate,
  type RoleUpdate,
  type TenantRole,
  type TenantRolesQuery,
} from '#entities/role.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { checkTenantPermissions, resolvePermissions } from './role-rules.ts'
import { createRole, presentTenantRole, type RoleParams, updateRole } from './roles.ts'
import { removeRoles } from './schema-removals.ts'

export function* listTenantRoles(
  context: ReadContext,
  input: { readonly query: TenantRolesQuery },
): Resumable<Page<TenantRole> | TenantRole[]> {
  const { search, attributes, include_total_count } = input.query
  const page = yield* pageOfSelection(context.records, {
    kind: 'role',
    all: lists.rolesOfType(null),
    paging: input.query,
    filters: [
      searchFilter(search, (role: RoleRecord) => searchedTexts(ROLE, role)),
      attributeFilter(attributes),
    ],
    hasTotal: include_total_count === true,
    present: role => presentTenantRole(context, role),
  })
  return arrayOrEnvelope(page, include_total_count)
}

export function createTenantRole(context: WriteContext, input: { readonly body: RoleCreate }): TenantRole {
  return presentTenantRole(context, createRole(context, null, input.body))
}

export function getTenantRole(context: ReadContext, input: { readonly params: RoleParams }): TenantRole {
  return presentTenantRole(context, requireRole(context.records, null, input.params.role_id))
}

export function updateTenantRole(
  context: WriteContext,
  input: { readonly params: RoleParams; readonly body: RoleUpdate },
): TenantRole {
  checkTenantPermissions(input.body.permissions ?? [])
  const role = requireRole(context.records, null, input.params.role_id)
  return presentTenantRole(context, updateRole(context, null, role, input.body))
}

export function* deleteTenantRole(
  context: WriteContext,
  input: { readonly params: RoleParams },
): Resumable<void> {
  yield* removeRoles(context, [requireRole(context.records, null, input.params.role_id)], null)
}

export function addTenantRolePermissions(
  context: WriteContext,
  input: { readonly params: RoleParams; readonly body: PermissionList },
): TenantRole {
  checkTenantPermissions(input.body.permissions)
  const role = requireRole(context.records, null, input.params.role_id)
  const added = resolvePermissions(context.records, null, input.body.permissions)
  const permissions = [...new Set([...role.permissions, ...added])]
  return presentTenantRole(context, updateRole(context, null, role, { permissions }))
}

export function removeTenantRolePermissions(
  context: WriteContext,
  input: { readonly params: RoleParams; readonly body: PermissionList },
): TenantRole {
  checkTenantPermissions(input.body.permissions)
  const role = requireRole(context.records, null, input.params.role_id)
  const removed = resolvePermissions(context.records, null, input.body.permissions)
  const permissions = role.permissions.filter(name => !removed.includes(name))
  return presentTenantRole(context, updateRole(context, null, role, { permissions }))
}

export const reads = { getTenantRole, listTenantRoles }

export const writes = {
  addTenantRolePermissions,
  createTenantRole,
  deleteTenantRole,
  removeTenantRolePermissions,
  updateTenantRole,
}
