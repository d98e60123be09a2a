/** Role assignments (native.md B.8): a tenant role in a tenant, or a resource role on an instance. */
import {
  presentInstant,
  presentScope,
  type ReadContext,
  type Scoped,
  type WriteContext,
} from '#management/drafts/context.ts'
import {
  locateInstance,
  notFound,
  requireRole,
  requireTenant,
  requireUser,
} from '#management/drafts/lookups.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import {
  checkExpiry,
  expiresAtIn,
  expirationOf,
  type Granted,
  presentExpiry,
} from '#management/drafts/fact-expiry.ts'
import { checkGrant } from '#management/conditional/grant-conditions.ts'
import { addInstance, instanceKeyOf } from './resource-instances.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import type {
  AssignmentRecord,
  InstanceRecord,
  RoleRecord,
  TenantRecord,
  UserRecord,
} from '#entities/records.ts'
import type { Instant } from '#entities/instant.ts'
import type {
  ReturnDeletedQuery,
  RoleAssignment,
  RoleAssignmentCreate,
  RoleAssignmentRemoval,
  UserRoleRemoval,
} from '#entities/role-assignment.ts'
import type { UserRoleAssignment } from '#entities/user.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'

/** The records that an assignment refers to. */
export interface AssignmentParts {
  readonly user: UserRecord
  readonly role: RoleRecord
  readonly tenant: TenantRecord
  readonly instance: InstanceRecord | null
}

export function createRoleAssignment(
  context: WriteContext,
  input: { readonly body: RoleAssignmentCreate },
): RoleAssignment {
  checkWanted(context, input.body, ['body'])
  const user = requireUser(context.records, input.body.user)
  return assignRole(context, user, input.body)
}

/** Returns the removed assignment if the caller requests it. */
export function deleteRoleAssignment(
  context: WriteContext,
  input: { readonly body: RoleAssignmentRemoval; readonly query: ReturnDeletedQuery },
): RoleAssignment | undefined {
  checkTenantNamed(input.body, ['body'])
  const user = requireUser(context.records, input.body.user)
  const removed = unassignRole(context, user, input.body)
  return input.query.return_deleted ? removed : undefined
}

/**
 * Creates the assignment in the body, or updates the expiration time of the existing one. Throws
 * `DUPLICATE_ENTITY` if the user already has it with that expiration time.
 */
export function assignRole(
  context: WriteContext,
  user: UserRecord,
  wanted: UserRoleAssignment,
): RoleAssignment {
  const parts = resolveParts(context, user, wanted)
  const { record, outcome } = grantAssignment(context, parts, expiresAtIn(wanted))
  if (outcome === 'unchanged') {
    throw new AuthzError(
      'DUPLICATE_ENTITY',
      `user ${JSON.stringify(user.key)} already has role ${JSON.stringify(parts.role.key)} there`,
    )
  }
  return presentAssignment(context, record, parts)
}

/**
 * Ensures that the user has the assignment in the body, with that expiration time. Returns whether it was
 * missing.
 */
export function ensureRole(context: WriteContext, user: UserRecord, wanted: UserRoleAssignment): boolean {
  const parts = resolveParts(context, user, wanted)
  return grantAssignment(context, parts, expiresAtIn(wanted)).outcome === 'added'
}

/** Removes the assignment in the body from the user. Throws `NOT_FOUND` if the user does not have it. */
export function unassignRole(
  context: WriteContext,
  user: UserRecord,
  wanted: UserRoleRemoval,
): RoleAssignment {
  const held = findHeld(context, user, wanted)
  if (!held) {
    throw new AuthzError(
      'NOT_FOUND',
      `user ${JSON.stringify(user.key)} does not have role ${JSON.stringify(wanted.role)} there`,
    )
  }
  removeAssignment(context, held.record, held.parts)
  return presentAssignment(context, held.record, held.parts)
}

/**
 * The assignment in the body, if the user has it. Throws `NOT_FOUND` for a role, tenant or type that does not
 * exist.
 */
export function findHeld(context: WriteContext, user: UserRecord, wanted: UserRoleRemoval) {
  const named = nameParts(context, user, wanted)
  if ('place' in named) return null
  const record = findAssignment(context, named)
  return record && { record, parts: named }
}

function resolveParts(context: WriteContext, user: UserRecord, wanted: UserRoleAssignment): AssignmentParts {
  const named = nameParts(context, user, wanted)
  if (!('place' in named)) return named
  const { place, tenant, role } = named
  if (!tenant) {
    const hint = context.records.isLimited ? '' : '; name a tenant to create it'
    throw notFound('resource instance', wanted.resource_instance ?? '', hint)
  }
  return { user, role, tenant, instance: addInstance(context, { ...place, tenant }) }
}

/** The records that a body names, as far as they exist. `place` is the type and key of a missing instance. */
function nameParts(context: WriteContext, user: UserRecord, wanted: UserRoleRemoval) {
  const { records } = context
  if (!wanted.resource_instance) {
    assert(wanted.tenant, 'the assignment of a tenant role names its tenant')
    const role = requireRole(records, null, wanted.role)
    return { user, role, tenant: requireTenant(records, wanted.tenant), instance: null }
  }
  const { record, ...place } = locateInstance(records, wanted.resource_instance)
  const role = requireRole(records, place.type, wanted.role)
  const tenant = wanted.tenant ? requireTenant(records, wanted.tenant) : null
  if (!record) return { place, tenant, role }
  return { user, role, tenant: tenantOfInstance(context, record, tenant), instance: record }
}

/** The tenant of an instance. If the body also names a tenant, it must be the same. */
export function tenantOfInstance(
  context: WriteContext,
  instance: InstanceRecord,
  named: TenantRecord | null,
): TenantRecord {
  const tenant = context.records.byId('tenant', instance.tenantId)
  assert(tenant, 'the tenant of an instance exists')
  if (named && named.id !== tenant.id) {
    const name = formatInstanceReference(instanceKeyOf(context.records, instance))
    throw new AuthzError(
      'MISMATCH_RESOURCE_INSTANCES_TENANTS',
      `${JSON.stringify(name)} is in tenant ${JSON.stringify(tenant.key)}, not ${JSON.stringify(named.key)}`,
    )
  }
  return tenant
}

/** Checks a new assignment for rules that schemas cannot express. `place` is its location in the request. */
export function checkWanted(
  context: WriteContext,
  wanted: UserRoleAssignment,
  place: readonly (string | number)[],
): void {
  checkTenantNamed(wanted, place)
  checkExpiry(context, wanted, place)
}

/** Requires that a tenant role has a tenant. */
export function checkTenantNamed(wanted: UserRoleRemoval, place: readonly (string | number)[]): void {
  if (wanted.resource_instance || wanted.tenant) return
  const msg = 'is required for a tenant role'
  throw new AuthzError('INVALID_SHAPE', `tenant: ${msg}`, {
    detail: [{ loc: [...place, 'tenant'], msg, type: 'missing' }],
  })
}

export function findAssignment(context: WriteContext, parts: AssignmentParts): AssignmentRecord | null {
  const scopeId = parts.instance?.id ?? parts.tenant.id
  return context.records.get('assignment', rowKeys.assignment(parts.user.id, scopeId, parts.role.id))
}

/** Creates the assignment, or sets the expiration time of the existing one, and notifies the engine. */
export function grantAssignment(
  context: WriteContext,
  parts: AssignmentParts,
  expiresAt: Instant | null,
): Granted<AssignmentRecord> {
  const held = findAssignment(context, parts)
  checkGrant(context.grantCondition, held)
  if (held?.expiresAt === expiresAt) return { record: held, outcome: 'unchanged' }
  const record: AssignmentRecord = held
    ? { ...held, expiresAt }
    : {
        kind: 'assignment',
        id: context.newId(),
        userId: parts.user.id,
        roleId: parts.role.id,
        tenantId: parts.tenant.id,
        instanceId: parts.instance?.id ?? null,
        createdAt: context.now,
        expiresAt,
      }
  const change = {
    kind: 'assignment-put',
    ...assignmentChange(context, parts),
    ...expirationOf(record),
  } as const
  context.records.put(record, change)
  return { record, outcome: held ? 'moved' : 'added' }
}

export function removeAssignment(
  context: WriteContext,
  record: AssignmentRecord,
  parts: AssignmentParts,
): void {
  checkGrant(context.grantCondition, record)
  context.records.delete(record, { kind: 'assignment-removed', ...assignmentChange(context, parts) })
}

function assignmentChange(context: WriteContext, parts: AssignmentParts) {
  const tenant = parts.tenant.key
  const named = { user: parts.user.key, role: parts.role.key }
  if (!parts.instance) return { ...named, scope: { tenant } }
  return { ...named, scope: { instance: instanceKeyOf(context.records, parts.instance) }, tenant }
}

/** The records that an assignment refers to. All of them exist as long as the assignment does. */
export function partsOf(records: RecordReader, record: AssignmentRecord): AssignmentParts {
  const user = records.byId('user', record.userId)
  const role = records.byId('role', record.roleId)
  const tenant = records.byId('tenant', record.tenantId)
  const instance = record.instanceId === null ? null : records.byId('instance', record.instanceId)
  assert(user && role && tenant, 'the user, role and tenant that an assignment refers to exist')
  assert(instance || record.instanceId === null, 'the instance of an assignment exists')
  return { user, role, tenant, instance }
}

export function presentAssignment(
  context: ReadContext,
  record: AssignmentRecord,
  parts: AssignmentParts,
): RoleAssignment {
  const { user, role, tenant, instance } = parts
  return presentAssignmentFields(context, record, {
    user: user.key,
    role: role.key,
    tenant: tenant.key,
    resource_instance: instance && formatInstanceReference(instanceKeyOf(context.records, instance)),
  })
}

export function presentAssignmentFields(
  { scope }: Scoped,
  record: AssignmentRecord,
  names: Pick<RoleAssignment, 'user' | 'role' | 'tenant' | 'resource_instance'>,
): RoleAssignment {
  return {
    id: record.id,
    ...names,
    user_id: record.userId,
    role_id: record.roleId,
    tenant_id: record.tenantId,
    resource_instance_id: record.instanceId,
    ...presentScope(scope),
    created_at: presentInstant(record.createdAt),
    ...presentExpiry(record),
  }
}

export const writes = { createRoleAssignment, deleteRoleAssignment }
