/** Creates, replaces and updates resource roles (native.md B.4) and tenant roles (native.md B.5). */
import { presented, recordFrom, updated } from '#entities/entity.ts'
import {
  newIdentity,
  presentIdentity,
  type ReadContext,
  type Scoped,
  type WriteContext,
} from '#management/drafts/context.ts'
import { findRole, requireRelation, requireType } from '#management/drafts/lookups.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import type { DerivationRecord, GrantedToRecord, RoleRecord, TypeRecord } from '#entities/records.ts'
import {
  type DerivationBlock,
  type DerivationRead,
  type ResourceRole,
  ROLE,
  type RoleBlock,
  type RoleCreate,
  type RoleUpdate,
  type TenantRole,
} from '#entities/role.ts'
import { roleChange } from '#replica/record-changes.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'
import { resolveExtends } from '#management/schema/extends/check-extends.ts'
import { requireMentions, resolveGrantedTo, resolvePermissions } from './role-rules.ts'
import type { TypeParams } from './types.ts'

export interface RoleParams {
  readonly role_id: string
}

export interface ResourceRoleParams extends RoleParams, TypeParams {}

/**
 * Creates a complete resource role of `type`, or a tenant role. Throws `DUPLICATE_ENTITY` if the key is in
 * use, and `LIMIT_EXCEEDED` if the maximum is reached.
 */
export function createRole(context: WriteContext, type: TypeRecord | null, body: RoleCreate): RoleRecord {
  const taken = context.records.get('role', rowKeys.role(type?.id ?? null, body.key))
  // Missing entities and mismatches are reported before duplicates (native.md D-38).
  const role = updateRole(context, type, addRole(context, type, body.key, body), body)
  if (taken) {
    const place = type ? ` on resource ${JSON.stringify(type.key)}` : ''
    throw new AuthzError('DUPLICATE_ENTITY', `there is a role ${JSON.stringify(body.key)}${place} already`)
  }
  return role
}

/**
 * Adds a bare role, without `extends` and `granted_to`. Roles that are created together can reference each
 * other, so `updateRole` sets these fields after all roles exist.
 */
export function addRole(
  context: WriteContext,
  type: TypeRecord | null,
  key: string,
  block: RoleBlock,
): RoleRecord {
  const role: RoleRecord = {
    kind: 'role',
    ...newIdentity(context, key),
    typeId: type?.id ?? null,
    ...recordFrom(ROLE, block),
    permissions: resolvePermissions(context.records, type, block.permissions ?? []),
    extends: [],
    grantedTo: { id: context.newId(), guarded: false, entries: [] },
  }
  // This causes a conflict with a concurrent removal of the type, which then runs again.
  if (type !== null) context.records.touch(type)
  putRole(context, role, type)
  return role
}

/** A role that was reset to a bare one and must still get the content of its block. */
export interface ReplacedRole {
  readonly isNew: boolean
  /** The second step. Call it after all roles that the role can reference exist. */
  readonly complete: () => RoleRecord
}

/**
 * Replaces a role so that it has only the content of its block. An existing role keeps its id and its
 * assignments. There are two steps, so that roles that are replaced together can reference each other: the
 * first one leaves the role bare.
 */
export function replaceRole(
  context: WriteContext,
  type: TypeRecord | null,
  key: string,
  block: RoleBlock,
): ReplacedRole {
  const existing = context.records.get('role', rowKeys.role(type?.id ?? null, key))
  const bare = existing
    ? updateRole(context, type, existing, { ...blankOf(block), extends: null, granted_to: null })
    : addRole(context, type, key, block)
  return { isNew: existing === null, complete: () => updateRole(context, type, bare, blankOf(block)) }
}

/** The block as an update that sets each omitted field to null, which clears it. */
function blankOf(block: RoleBlock): RoleUpdate {
  return {
    name: block.name,
    description: block.description ?? null,
    permissions: block.permissions ?? null,
    attributes: block.attributes ?? null,
    extends: block.extends ?? null,
    granted_to: block.granted_to ?? null,
  }
}

/**
 * Updates a role. Each field in the body replaces the whole old value, and null clears it (native.md B.4,
 * D-48).
 */
export function updateRole(
  context: WriteContext,
  type: TypeRecord | null,
  role: RoleRecord,
  update: RoleUpdate,
): RoleRecord {
  const { records } = context
  const permissions =
    update.permissions === undefined
      ? role.permissions
      : resolvePermissions(records, type, update.permissions ?? [])
  requireMentions(records, type, {
    extends: update.extends ?? [],
    entries: update.granted_to?.users_with_role ?? [],
  })
  const changed: RoleRecord = {
    ...role,
    ...updated(ROLE, role, update),
    permissions,
    extends:
      update.extends === undefined
        ? role.extends
        : resolveExtends(records, type, role.key, update.extends ?? []),
    grantedTo:
      update.granted_to === undefined
        ? role.grantedTo
        : grantedToOf(context, type, role.grantedTo, update.granted_to ?? {}),
    updatedAt: context.now,
  }
  putRole(context, changed, type)
  return changed
}

function grantedToOf(
  context: WriteContext,
  type: TypeRecord | null,
  previous: GrantedToRecord,
  block: DerivationBlock,
): GrantedToRecord {
  if (type !== null) return resolveGrantedTo(context, type, block, previous.id)
  // The block of a tenant role has no effect and is not checked (native.md D-22, D-23).
  const entries = (block.users_with_role ?? []).map(entry => ({
    role: entry.role,
    onType: entry.on_resource,
    relation: entry.linked_by_relation,
    guarded: entry.when?.no_direct_roles_on_object ?? false,
  }))
  return { id: previous.id, guarded: block.when?.no_direct_roles_on_object ?? false, entries }
}

/** Writes a role and notifies the engine. */
export function putRole(context: WriteContext, role: RoleRecord, type: TypeRecord | null): void {
  context.records.put(role, roleChange(role, type))
}

export function presentTenantRole(context: Scoped, role: RoleRecord): TenantRole {
  return {
    ...presentCommonFields(context, role),
    granted_to: {
      id: role.grantedTo.id,
      when: { no_direct_roles_on_object: role.grantedTo.guarded },
      users_with_role: role.grantedTo.entries.map(presentEntry),
    },
  }
}

export function presentResourceRole(context: ReadContext, role: RoleRecord, type: TypeRecord): ResourceRole {
  return {
    ...presentCommonFields(context, role),
    granted_to: {
      id: role.grantedTo.id,
      when: { no_direct_roles_on_object: role.grantedTo.guarded },
      users_with_role: role.grantedTo.entries.map(entry => presentDerivation(context, entry, type)),
    },
    resource: type.key,
    resource_id: type.id,
  }
}

function presentCommonFields({ scope }: Scoped, role: RoleRecord) {
  return {
    ...presentIdentity(scope, role),
    ...presented(ROLE, role),
  }
}

/** A derivation with keys, as in responses, exports and requests. */
export function presentEntry(entry: DerivationRecord) {
  return {
    role: entry.role,
    on_resource: entry.onType,
    linked_by_relation: entry.relation,
    when: { no_direct_roles_on_object: entry.guarded },
  }
}

export function presentDerivation(
  context: ReadContext,
  entry: DerivationRecord,
  type: TypeRecord,
): DerivationRead {
  const onType = requireType(context.records, entry.onType)
  const role = findRole(context.records, onType, entry.role)
  assert(role, 'a derivation entry is deleted with its source role')
  return {
    ...presentEntry(entry),
    role_id: role.id,
    resource_id: onType.id,
    relation_id: requireRelation(context.records, type, entry.relation).id,
  }
}
