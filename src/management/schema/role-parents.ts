/**
 * Operations on role inheritance. The parents of a role are the roles that it `extends`. Its ancestors are
 * all roles that it extends, directly and through others. This applies to tenant roles and to the roles of a
 * resource type (native.md D-21). `extends/check-extends.ts` checks which roles a role may extend.
 */
import type { ReadContext, WriteContext } from '#management/drafts/context.ts'
import { requireRole, requireType } from '#management/drafts/lookups.ts'
import { PageBytes, windowOf } from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { AuthzError } from '#model/errors.ts'
import type { RoleRecord, TypeRecord } from '#entities/records.ts'
import type { Paging } from '#model/wire/paging.ts'
import type { ResourceRole, ResourceRoleFamily, TenantRole, TenantRoleFamily } from '#entities/role.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import {
  presentResourceRole,
  presentTenantRole,
  type ResourceRoleParams,
  type RoleParams,
  updateRole,
} from './roles.ts'

interface ParentParams {
  readonly parent_role_id: string
}

export function addTenantRoleParent(
  context: WriteContext,
  { params }: { readonly params: RoleParams & ParentParams },
): TenantRole {
  return presentTenantRole(context, addParent(context, null, params))
}

export function addResourceRoleParent(
  context: WriteContext,
  { params }: { readonly params: ResourceRoleParams & ParentParams },
): ResourceRole {
  const type = requireType(context.records, params.resource_id)
  return presentResourceRole(context, addParent(context, type, params), type)
}

export function removeTenantRoleParent(
  context: WriteContext,
  { params }: { readonly params: RoleParams & ParentParams },
): TenantRole {
  return presentTenantRole(context, removeParent(context, null, params))
}

export function removeResourceRoleParent(
  context: WriteContext,
  { params }: { readonly params: ResourceRoleParams & ParentParams },
): ResourceRole {
  const type = requireType(context.records, params.resource_id)
  return presentResourceRole(context, removeParent(context, type, params), type)
}

/**
 * Adds a parent to a role; an existing parent stays. Throws `INVALID_INPUT` for a cycle, and `LIMIT_EXCEEDED`
 * for too many ancestors.
 */
function addParent(
  context: WriteContext,
  type: TypeRecord | null,
  params: RoleParams & ParentParams,
): RoleRecord {
  const role = requireRole(context.records, type, params.role_id)
  const parent = requireRole(context.records, type, params.parent_role_id)
  if (role.extends.includes(parent.key)) return role
  return updateRole(context, type, role, { extends: [...role.extends, parent.key] })
}

/** Removes a parent from a role. Throws `NOT_FOUND` if the role does not extend that parent. */
function removeParent(
  context: WriteContext,
  type: TypeRecord | null,
  params: RoleParams & ParentParams,
): RoleRecord {
  const role = requireRole(context.records, type, params.role_id)
  const parent = requireRole(context.records, type, params.parent_role_id)
  if (!role.extends.includes(parent.key)) {
    const [child, other] = [role, parent].map(({ key }) => JSON.stringify(key))
    throw new AuthzError('NOT_FOUND', `role ${child} does not extend role ${other} itself`)
  }
  return updateRole(context, type, role, { extends: role.extends.filter(key => key !== parent.key) })
}

interface FamilyInput<Params> {
  readonly params: Params
  readonly query: Paging
}

export function* listTenantRoleAncestors(
  context: ReadContext,
  input: FamilyInput<RoleParams>,
): Resumable<TenantRoleFamily> {
  const role = requireRole(context.records, null, input.params.role_id)
  return yield* ofTenant(context, ancestorsOf(context.records, role), input.query)
}

export function* listTenantRoleDescendants(
  context: ReadContext,
  input: FamilyInput<RoleParams>,
): Resumable<TenantRoleFamily> {
  const role = requireRole(context.records, null, input.params.role_id)
  return yield* ofTenant(context, yield* descendantsOf(context.records, role), input.query)
}

export function* listResourceRoleAncestors(
  context: ReadContext,
  input: FamilyInput<ResourceRoleParams>,
): Resumable<ResourceRoleFamily> {
  const type = requireType(context.records, input.params.resource_id)
  const role = requireRole(context.records, type, input.params.role_id)
  return yield* ofResource(context, type, ancestorsOf(context.records, role), input.query)
}

export function* listResourceRoleDescendants(
  context: ReadContext,
  input: FamilyInput<ResourceRoleParams>,
): Resumable<ResourceRoleFamily> {
  const type = requireType(context.records, input.params.resource_id)
  const role = requireRole(context.records, type, input.params.role_id)
  return yield* ofResource(context, type, yield* descendantsOf(context.records, role), input.query)
}

/** All roles that the role extends, nearest first. At most `EXTENDS_REACH_MAX`. */
function ancestorsOf(records: RecordReader, { typeId, extends: parents }: RoleRecord): RoleRecord[] {
  const found = new Map<string, RoleRecord>()
  const keys = new Set(parents)
  // The set is also the worklist: a `Set` iterates over elements that are added during the iteration.
  for (const key of keys) {
    const role = records.get('role', rowKeys.role(typeId, key))
    if (role === null) continue
    found.set(key, role)
    for (const further of role.extends) keys.add(further)
  }
  return [...found.values()]
}

/** All roles that extend the role, nearest first. O(roles of its scope). */
function* descendantsOf(records: RecordReader, { typeId, key }: RoleRecord): Resumable<RoleRecord[]> {
  const childrenOf = new Map<string, RoleRecord[]>()
  let rows = 0
  for (const role of records.list('role', lists.rolesOfType(typeId))) {
    for (const parent of role.extends) {
      const known = childrenOf.get(parent)
      if (known) known.push(role)
      else childrenOf.set(parent, [role])
    }
    if (++rows % YIELD_ROWS === 0) yield
  }
  const found = new Map<string, RoleRecord>()
  const keys = new Set([key])
  for (const each of keys) {
    for (const child of childrenOf.get(each) ?? []) {
      found.set(child.key, child)
      keys.add(child.key)
    }
  }
  return [...found.values()]
}

function* ofTenant(
  context: ReadContext,
  found: readonly RoleRecord[],
  paging: Paging,
): Resumable<TenantRoleFamily> {
  return { roles: yield* presented(context, found, paging, role => presentTenantRole(context, role)) }
}

function* ofResource(
  context: ReadContext,
  { id }: TypeRecord,
  found: readonly RoleRecord[],
  paging: Paging,
): Resumable<ResourceRoleFamily> {
  const present = (role: RoleRecord): ResourceRole | null => {
    const type = context.records.byId('type', id)
    return type && presentResourceRole(context, role, type)
  }
  return { roles: yield* presented(context, found, paging, present) }
}

/**
 * The roles in the form of responses: all of them, unless the caller requests a page. Omits roles that were
 * removed during a pause.
 */
function* presented<Shown>(
  context: ReadContext,
  found: readonly RoleRecord[],
  paging: Paging,
  present: (role: RoleRecord) => Shown | null,
): Resumable<Shown[]> {
  const isPaged = paging.page !== undefined || paging.per_page !== undefined
  const { offset, limit } = isPaged ? windowOf(paging) : { offset: 0, limit: found.length }
  const bytes = new PageBytes()
  const shown: Shown[] = []
  for (const { id } of found.slice(offset, offset + limit)) {
    const role = context.records.byId('role', id)
    const item = role && present(role)
    if (item !== null) {
      bytes.add(item)
      shown.push(item)
    }
    yield
  }
  return shown
}

export const reads = {
  listResourceRoleAncestors,
  listResourceRoleDescendants,
  listTenantRoleAncestors,
  listTenantRoleDescendants,
}

export const writes = {
  addResourceRoleParent,
  addTenantRoleParent,
  removeResourceRoleParent,
  removeTenantRoleParent,
}
