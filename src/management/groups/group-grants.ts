/**
 * Roles that a group has been granted (native.md C.3, C.4). They are its tuples over grant relations whose
 * role still exists and is still derived from `member` over that relation. Inherited roles and `member`
 * itself are not listed.
 */
import { findRole } from '#management/drafts/lookups.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import type { InstanceRecord, RelationRecord, RoleRecord, TypeRecord } from '#entities/records.ts'
import type { Instant } from '#entities/instant.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import type { Group } from './group-lookup.ts'
import { grantRelations, isStillDerived } from './group-relations.ts'

export interface GroupGrant {
  readonly role: RoleRecord
  readonly type: TypeRecord
  readonly object: InstanceRecord
  readonly expiresAt: Instant | null
}

/** The group's grants in creation order. */
export function* assignedRoles(records: RecordReader, group: Group): Iterable<GroupGrant> {
  const meanings = new Map(
    [...meaningfulRelations(records, group.type)].map(found => [found.relation.id, found]),
  )
  const tupleLists = [...meanings.keys()].map(id => lists.tuplesFromOver(group.instance.id, id))
  for (const tuple of records.mergedLists('tuple', tupleLists)) {
    const meaning = meanings.get(tuple.relationId)
    const object = records.byId('instance', tuple.objectId)
    // The tuple was read before a pause, so its object may no longer exist.
    if (!meaning || !object) continue
    yield { role: meaning.role, type: meaning.type, object, expiresAt: tuple.expiresAt }
  }
}

export function* countAssignedRoles(records: RecordReader, group: Group): Resumable<number> {
  let count = 0
  for (const { relation } of meaningfulRelations(records, group.type)) {
    count += yield* records.liveCount('tuple', lists.tuplesFromOver(group.instance.id, relation.id))
  }
  return count
}

interface MeaningfulRelation {
  readonly relation: RelationRecord
  readonly role: RoleRecord
  readonly type: TypeRecord
}

function* meaningfulRelations(records: RecordReader, groupType: TypeRecord): Iterable<MeaningfulRelation> {
  for (const relation of grantRelations(records, groupType)) {
    const type = records.byId('type', relation.typeId)
    if (!type || relation.groupUse?.use !== 'grant') continue
    const role = findRole(records, type, relation.groupUse.role)
    if (isStillDerived(relation, groupType, role)) yield { relation, role, type }
  }
}
