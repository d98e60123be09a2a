/**
 * Finds groups for the other group operations. A group is an instance that is marked as a group, with its
 * type and its `member` role.
 */
import type { WriteContext } from '#management/drafts/context.ts'
import { findRole, findType } from '#management/drafts/lookups.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { addRole } from '#management/schema/roles.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import type { InstanceRecord, RoleRecord, TypeRecord } from '#entities/records.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'

export const GROUP_TYPE_DEFAULT = 'group'
export const MEMBER_ROLE = 'member'

/** A group and its type. */
export interface Group {
  readonly instance: InstanceRecord
  readonly type: TypeRecord
}

/** The role that members hold. It is re-created if it was deleted (native.md D-40). */
export function ensureMemberRole(context: WriteContext, type: TypeRecord): RoleRecord {
  return (
    findRole(context.records, type, MEMBER_ROLE) ?? addRole(context, type, MEMBER_ROLE, { name: MEMBER_ROLE })
  )
}

/** Finds a group by `type:key`, by the bare key of the default type, or by id. Throws `NOT_FOUND`. */
export function requireGroup(records: RecordReader, reference: string): Group {
  const named = parseInstanceReference(reference) ?? { type: GROUP_TYPE_DEFAULT, key: reference }
  const type = findType(records, named.type)
  const byKey = type && records.get('instance', rowKeys.instance(type.id, named.key))
  const instance = byKey ?? records.byReference('instance', reference)
  if (!instance?.isGroup) throw new AuthzError('NOT_FOUND', `there is no group ${JSON.stringify(reference)}`)
  return { instance, type: typeOfInstance(records, instance) }
}

export function typeOfInstance(records: RecordReader, instance: InstanceRecord): TypeRecord {
  const type = records.byId('type', instance.typeId)
  assert(type, 'the type of an instance exists')
  return type
}
