/** Groups in the form of responses, with bounded lists (native.md B.3). */
import type { ReadContext } from '#management/drafts/context.ts'
import { findRole } from '#management/drafts/lookups.ts'
import { takeInSlices } from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { assert } from '#model/assert.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import { GROUP_READ_ENTRIES_MAX } from '#model/limits.ts'
import type { InstanceRecord } from '#entities/records.ts'
import type { GroupKeys, GroupRead } from '#entities/group.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { assignedRoles, countAssignedRoles } from './group-grants.ts'
import { type Group, MEMBER_ROLE, typeOfInstance } from './group-lookup.ts'

/** The part of each list that a response shows. */
const FIRST = { offset: 0, limit: GROUP_READ_ENTRIES_MAX }

/** The identifying fields of a group, without its position in the tree (`group-tree.ts`). */
export function presentGroupKeys(records: RecordReader, instance: InstanceRecord): GroupKeys {
  const tenant = records.byId('tenant', instance.tenantId)
  assert(tenant, 'the tenant of an instance exists')
  return {
    id: instance.id,
    group_resource_type_key: typeOfInstance(records, instance).key,
    group_instance_key: instance.key,
    group_tenant: tenant.key,
  }
}

/** A group with the first entries of its lists, so that the size is bounded for groups of any size. */
export function* presentGroup(context: ReadContext, group: Group): Resumable<GroupRead> {
  const { records } = context
  const memberRole = findRole(records, group.type, MEMBER_ROLE)
  const members = memberRole && lists.holders(group.instance.id, memberRole.id)
  const named = (type: string, key: string, role: string): string =>
    `${formatInstanceReference({ type, key })}#${role}`
  const granted = yield* takeInSlices(assignedRoles(records, group), FIRST)
  return {
    ...presentGroupKeys(records, group.instance),
    // The `member` role of the group is listed first and is not counted.
    assigned_roles: [
      ...(memberRole ? [named(group.type.key, group.instance.key, MEMBER_ROLE)] : []),
      ...granted.map(({ type, object, role }) => named(type.key, object.key, role.key)),
    ],
    assigned_roles_count: yield* countAssignedRoles(records, group),
    users: members
      ? (yield* takeInSlices(records.list('assignment', members), FIRST)).map(({ userId }) => userId)
      : [],
    users_count: members ? yield* records.liveCount('assignment', members) : 0,
  }
}
