/** Role assignments (contract B.8): a tenant role in a tenant, or a resource role on an instance. */
import { assert } from '#model/assert.ts'
import type { AssignmentScope } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import type {
  AssignmentRecord,
  InstanceRecord,
  RoleRecord,
  TenantRecord,
  UserRecord,
} from '#model/records.ts'
import type { RoleAssignment, RoleAssignmentCreate, UserRoleAssignment } from '#model/wire/role-assignment.ts'
import { rowKeys } from '#store/keyspace.ts'
import { presentInstant, presentScope, type WriteContext } from './context.ts'
import { locateInstance, requireRole, requireTenant, requireUser } from './lookups.ts'
import { addInstance, instanceKeyOf } from './resource-instances.ts'

/** Everything an assignment ties together. */
interface AssignmentParts {
  readonly user: UserRecord
  readonly role: RoleRecord
  readonly tenant: TenantRecord
  readonly instance: InstanceRecord | null
}

export function createRoleAssignment(
  context: WriteContext,
  input: { readonly body: RoleAssignmentCreate },
): RoleAssignment {
  checkTenantNamed(input.body, ['body'])
  const user = requireUser(context.records, input.body.user)
  return assignRole(context, user, input.body)
}

/** Assigns what the body asks for to the user. Throws `DUPLICATE_ENTITY` when the user has it already. */
export function assignRole(
  context: WriteContext,
  user: UserRecord,
  wanted: UserRoleAssignment,
): RoleAssignment {
  const parts = resolveParts(context, user, wanted)
  if (findAssignment(context, parts)) {
    throw new AuthzError(
      'DUPLICATE_ENTITY',
      `user ${JSON.stringify(user.key)} has role ${JSON.stringify(parts.role.key)} there already`,
    )
  }
  return presentAssignment(context, addAssignment(context, parts), parts)
}

function resolveParts(context: WriteContext, user: UserRecord, wanted: UserRoleAssignment): AssignmentParts {
  const { records } = context
  if (!wanted.resource_instance) {
    assert(wanted.tenant, 'a tenant role was checked to name its tenant')
    const role = requireRole(records, null, wanted.role)
    return { user, role, tenant: requireTenant(records, wanted.tenant), instance: null }
  }
  const place = locateInstance(records, wanted.resource_instance)
  const role = requireRole(records, place.type, wanted.role)
  const tenant = wanted.tenant ? requireTenant(records, wanted.tenant) : null
  if (place.record) {
    return { user, role, tenant: tenantOfInstance(context, place.record, tenant), instance: place.record }
  }
  if (!tenant) {
    throw new AuthzError(
      'NOT_FOUND',
      `there is no resource instance ${JSON.stringify(wanted.resource_instance)}; name a tenant to create it`,
    )
  }
  return { user, role, tenant, instance: addInstance(context, { type: place.type, key: place.key, tenant }) }
}

/** The tenant an instance lives in, which must be the one that was named, if one was. */
export function tenantOfInstance(
  context: WriteContext,
  instance: InstanceRecord,
  named: TenantRecord | null,
): TenantRecord {
  const tenant = context.records.byId('tenant', instance.tenantId)
  assert(tenant, 'an instance that is read lives no longer than its tenant')
  if (named && named.id !== tenant.id) {
    const name = formatInstanceReference(instanceKeyOf(context.records, instance))
    throw new AuthzError(
      'MISMATCH_RESOURCE_INSTANCES_TENANTS',
      `${JSON.stringify(name)} lives in tenant ${JSON.stringify(tenant.key)}, not ${JSON.stringify(named.key)}`,
    )
  }
  return tenant
}

/** What schemas cannot say: a tenant role names its tenant. `place` is where the assignment stands in the request. */
export function checkTenantNamed(wanted: UserRoleAssignment, place: readonly (string | number)[]): void {
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

/** Adds an assignment that is not there yet, and tells the engine. */
export function addAssignment(context: WriteContext, parts: AssignmentParts): AssignmentRecord {
  const record: AssignmentRecord = {
    kind: 'assignment',
    id: context.newId(),
    userId: parts.user.id,
    roleId: parts.role.id,
    tenantId: parts.tenant.id,
    instanceId: parts.instance?.id ?? null,
    createdAt: context.now,
  }
  context.records.put(record, { kind: 'assignment-put', ...assignmentChange(context, parts) })
  return record
}

export function removeAssignment(
  context: WriteContext,
  record: AssignmentRecord,
  parts: AssignmentParts,
): void {
  context.records.delete(record, { kind: 'assignment-removed', ...assignmentChange(context, parts) })
}

function assignmentChange(context: WriteContext, parts: AssignmentParts) {
  const scope: AssignmentScope = parts.instance
    ? { instance: instanceKeyOf(context.records, parts.instance) }
    : { tenant: parts.tenant.key }
  return { user: parts.user.key, role: parts.role.key, scope }
}

function presentAssignment(
  context: WriteContext,
  record: AssignmentRecord,
  parts: AssignmentParts,
): RoleAssignment {
  const { user, role, tenant, instance } = parts
  return {
    id: record.id,
    user: user.key,
    role: role.key,
    tenant: tenant.key,
    resource_instance: instance && formatInstanceReference(instanceKeyOf(context.records, instance)),
    user_id: user.id,
    role_id: role.id,
    tenant_id: tenant.id,
    resource_instance_id: record.instanceId,
    ...presentScope(context.scope),
    created_at: presentInstant(record.createdAt),
  }
}
