/** Operations on the roles of a resource type (native.md B.4). */
import type { ReadContext, WriteContext } from '#management/drafts/context.ts'
import { requireRelation, requireRole, requireType } from '#management/drafts/lookups.ts'
import { pageOf } from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { attributeFilter } from '#management/paging/selection.ts'
import { AuthzError } from '#model/errors.ts'
import type { RoleRecord, TypeRecord } from '#entities/records.ts'
import type {
  DerivationCreate,
  DerivationRead,
  GrantConditions,
  PermissionList,
  ResourceRole,
  RoleCreate,
  ResourceRolesQuery,
  ResourceRoleUpdate,
} from '#entities/role.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { isSameDerivation, resolveDerivation, resolvePermissions } from './role-rules.ts'
import {
  createRole,
  presentDerivation,
  presentResourceRole,
  putRole,
  type ResourceRoleParams,
  updateRole,
} from './roles.ts'
import { removeRoles } from './schema-removals.ts'
import type { TypeParams } from './types.ts'

/** Returns the roles as a bare array in every case. */
export function listResourceRoles(
  context: ReadContext,
  input: { readonly params: TypeParams; readonly query: ResourceRolesQuery },
): ResourceRole[] {
  const type = requireType(context.records, input.params.resource_id)
  return pageOf(context.records, {
    kind: 'role',
    list: lists.rolesOfType(type.id),
    paging: input.query,
    matches: attributeFilter(input.query.attributes)?.matches ?? null,
    present: role => presentResourceRole(context, role, type),
  }).data
}

export function createResourceRole(
  context: WriteContext,
  input: { readonly params: TypeParams; readonly body: RoleCreate },
): ResourceRole {
  const type = requireType(context.records, input.params.resource_id)
  return presentResourceRole(context, createRole(context, type, input.body), type)
}

export function getResourceRole(
  context: ReadContext,
  input: { readonly params: ResourceRoleParams },
): ResourceRole {
  const { type, role } = locate(context.records, input.params)
  return presentResourceRole(context, role, type)
}

export function updateResourceRole(
  context: WriteContext,
  input: { readonly params: ResourceRoleParams; readonly body: ResourceRoleUpdate },
): ResourceRole {
  const { type, role } = locate(context.records, input.params)
  return presentResourceRole(context, updateRole(context, type, role, input.body), type)
}

export function* deleteResourceRole(
  context: WriteContext,
  input: { readonly params: ResourceRoleParams },
): Resumable<void> {
  const { type, role } = locate(context.records, input.params)
  yield* removeRoles(context, [role], type)
}

export function addResourceRolePermissions(
  context: WriteContext,
  input: { readonly params: ResourceRoleParams; readonly body: PermissionList },
): ResourceRole {
  const { type, role } = locate(context.records, input.params)
  const added = resolvePermissions(context.records, type, input.body.permissions)
  const permissions = [...new Set([...role.permissions, ...added])]
  return presentResourceRole(context, updateRole(context, type, role, { permissions }), type)
}

export function removeResourceRolePermissions(
  context: WriteContext,
  input: { readonly params: ResourceRoleParams; readonly body: PermissionList },
): ResourceRole {
  const { type, role } = locate(context.records, input.params)
  const removed = resolvePermissions(context.records, type, input.body.permissions)
  const permissions = role.permissions.filter(action => !removed.includes(action))
  return presentResourceRole(context, updateRole(context, type, role, { permissions }), type)
}

/** Adds a derivation entry. An existing equal entry is a duplicate, even if its guard differs. */
export function addImplicitGrant(
  context: WriteContext,
  input: { readonly params: ResourceRoleParams; readonly body: DerivationCreate },
): DerivationRead {
  const { records } = context
  const { type, role } = locate(records, input.params)
  const entry = resolveDerivation(context, type, input.body)
  const { entries } = role.grantedTo
  if (entries.some(other => isSameDerivation(other, entry))) {
    throw new AuthzError(
      'DUPLICATE_ENTITY',
      `role ${JSON.stringify(role.key)} is already derived from ${JSON.stringify(entry.role)} through ` +
        JSON.stringify(entry.relation),
    )
  }
  const grantedTo = { ...role.grantedTo, entries: [...entries, entry] }
  putRole(context, { ...role, grantedTo, updatedAt: context.now }, type)
  return presentDerivation(context, entry, type)
}

/** Removes a derivation entry, regardless of its guard (native.md D-34). */
export function removeImplicitGrant(
  context: WriteContext,
  input: { readonly params: ResourceRoleParams; readonly body: DerivationCreate },
): void {
  const { records } = context
  const { type, role } = locate(records, input.params)
  const onType = requireType(records, input.body.on_resource)
  const wanted = {
    role: requireRole(records, onType, input.body.role).key,
    onType: onType.key,
    relation: requireRelation(records, type, input.body.linked_by_relation).key,
    guarded: false,
  }
  const entries = role.grantedTo.entries.filter(entry => !isSameDerivation(entry, wanted))
  if (entries.length === role.grantedTo.entries.length) {
    throw new AuthzError(
      'NOT_FOUND',
      `role ${JSON.stringify(role.key)} is not derived from ${JSON.stringify(wanted.role)} through ` +
        JSON.stringify(wanted.relation),
    )
  }
  putRole(context, { ...role, grantedTo: { ...role.grantedTo, entries }, updatedAt: context.now }, type)
}

/** Sets the guard of the whole block; each entry also keeps its own guard. */
export function setImplicitGrantConditions(
  context: WriteContext,
  input: { readonly params: ResourceRoleParams; readonly body: GrantConditions },
): GrantConditions {
  const { type, role } = locate(context.records, input.params)
  const guarded = input.body.no_direct_roles_on_object
  putRole(context, { ...role, grantedTo: { ...role.grantedTo, guarded }, updatedAt: context.now }, type)
  return { no_direct_roles_on_object: guarded }
}

function locate(
  records: RecordReader,
  params: ResourceRoleParams,
): { readonly type: TypeRecord; readonly role: RoleRecord } {
  const type = requireType(records, params.resource_id)
  return { type, role: requireRole(records, type, params.role_id) }
}

export const reads = { getResourceRole, listResourceRoles }

export const writes = {
  addImplicitGrant,
  addResourceRolePermissions,
  createResourceRole,
  deleteResourceRole,
  removeImplicitGrant,
  removeResourceRolePermissions,
  setImplicitGrantConditions,
  updateResourceRole,
}
