/**
 * Roles that are granted to a group on an instance (native.md B.3, C.3, C.4). Each grant is a tuple over the
 * relation of that role.
 */
import type { ReadContext, WriteContext } from '#management/drafts/context.ts'
import {
  findType,
  locateInstanceOf,
  type NamedInstance,
  requireRole,
  requireTenant,
  requireType,
} from '#management/drafts/lookups.ts'
import { type Page, pageFrom, takeInSlices, windowOf } from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { tenantOfInstance } from '#management/facts/role-assignments.ts'
import { checkExpiry, expiresAtIn, presentExpiry } from '#management/drafts/fact-expiry.ts'
import { addInstance } from '#management/facts/resource-instances.ts'
import { findTuple, grantTuple, removeTuple } from '#management/facts/relationship-tuples.ts'
import { AuthzError } from '#model/errors.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import type { TypeRecord } from '#entities/records.ts'
import { isLongKey } from '#model/wire/references.ts'
import type { Paging } from '#model/wire/paging.ts'
import type { GroupAddRole, GroupRead, GroupRole, GroupRoleRemoval } from '#entities/group.ts'
import { assignedRoles, countAssignedRoles, type GroupGrant } from './group-grants.ts'
import { ensureMemberRole, requireGroup } from './group-lookup.ts'
import { presentGroup } from './group-presenter.ts'
import {
  ensureDerivation,
  ensureGrantRelation,
  findGrantRelation,
  memberDerivation,
} from './group-relations.ts'

interface GroupParams {
  readonly group_instance_key: string
}

export function* addGroupRole(
  context: WriteContext,
  input: { readonly params: GroupParams; readonly body: GroupAddRole },
): Resumable<GroupRead> {
  checkExpiry(context, input.body, ['body'])
  const wanted = resolveGrant(context, input)
  const { group, type, role, tenant } = wanted
  tenantOfInstance(context, group.instance, tenant)
  if (!wanted.place.record) requireNoOther(context.records, type, input.body.resource_instance)
  const object = wanted.place.record ?? addInstance(context, { type, key: wanted.place.key, tenant })
  tenantOfInstance(context, object, tenant)
  ensureMemberRole(context, group.type)
  // The granted role can be the `member` role of a group itself. It is read again each time, because the
  // calls below may write it.
  const present = () => requireRole(context.records, type, role.key)
  const relation = yield* ensureGrantRelation(context, group.type, type, present())
  ensureDerivation(context, type, present(), memberDerivation(group.type, relation))
  const parts = { subject: group.instance, relation, object }
  if (grantTuple(context, parts, expiresAtIn(input.body)).outcome === 'unchanged') {
    throw new AuthzError('DUPLICATE_ENTITY', `the group already has role ${JSON.stringify(role.key)} there`)
  }
  return yield* presentGroup(context, group)
}

export function removeGroupRole(
  context: WriteContext,
  input: { readonly params: GroupParams; readonly body: GroupRoleRemoval },
): void {
  const { group, type, role, place, tenant } = resolveGrant(context, input)
  const missing = () =>
    new AuthzError('NOT_FOUND', `the group does not have role ${JSON.stringify(role.key)} there`)
  // Missing entities are reported before mismatches (native.md D-38).
  if (!place.record) throw missing()
  tenantOfInstance(context, group.instance, tenant)
  tenantOfInstance(context, place.record, tenant)
  const relation = findGrantRelation(context.records, group.type, type, role)
  const parts = relation && { subject: group.instance, relation, object: place.record }
  const tuple = parts && findTuple(context, parts)
  if (!tuple) throw missing()
  removeTuple(context, tuple, parts)
}

/** All entities that a grant names. The caller checks that they belong to the same tenant. */
function resolveGrant(
  context: WriteContext,
  input: { readonly params: GroupParams; readonly body: GroupRoleRemoval },
) {
  const { records } = context
  const group = requireGroup(records, input.params.group_instance_key)
  const type = requireType(records, input.body.resource)
  const role = requireRole(records, type, input.body.role)
  const tenant = requireTenant(records, input.body.tenant)
  const place = locateObject(records, type, input.body.resource_instance)
  return { group, type, role, tenant, place }
}

/** The instance by bare key, by `type:key` of that type, or by id (native.md 0.5). */
function locateObject(records: RecordReader, type: TypeRecord, reference: string): NamedInstance {
  const asKey = () => locateInstanceOf(records, type, reference)
  // A name with a type prefix can be longer than a key.
  const bare = isLongKey(reference) ? asKey() : null
  if (bare?.record) return bare
  const named = parseInstanceReference(reference)
  if (named?.type === type.key) return locateInstanceOf(records, type, named.key)
  const byId = records.byReference('instance', reference)
  return byId?.typeId === type.id ? { record: byId, type, key: byId.key } : (bare ?? asKey())
}

/**
 * Throws `INVALID_INPUT` if the reference names an instance of another type, because the reference must not
 * become the key of a new instance.
 */
function requireNoOther(records: RecordReader, type: TypeRecord, reference: string): void {
  const named = parseInstanceReference(reference)
  const byId = records.byReference('instance', reference)
  const other = named && findType(records, named.type)
  if (!byId && (other === null || other.id === type.id)) return
  throw new AuthzError(
    'INVALID_INPUT',
    `resource_instance ${JSON.stringify(reference)} names an instance whose type is not ${JSON.stringify(type.key)}`,
  )
}

export function* listGroupRoles(
  context: ReadContext,
  input: { readonly params: GroupParams; readonly query: Paging },
): Resumable<Page<GroupRole>> {
  const { records } = context
  const group = requireGroup(records, input.params.group_instance_key)
  const { offset, limit } = windowOf(input.query)
  const granted = yield* takeInSlices(assignedRoles(records, group), { offset, limit })
  return pageFrom(granted.map(presentGroupRole), yield* countAssignedRoles(records, group), limit)
}

function presentGroupRole(granted: GroupGrant): GroupRole {
  return {
    key: granted.role.key,
    resource: { id: granted.type.id, key: granted.type.key },
    resource_instance: { id: granted.object.id, key: granted.object.key },
    ...presentExpiry(granted),
  }
}

export const reads = { listGroupRoles }

export const writes = { addGroupRole, removeGroupRole }
