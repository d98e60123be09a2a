/** Relations: defined on the object type, with the type of their subjects (native.md B.4, C.1). */
import { presented, type RecordFields } from '#entities/entity.ts'
import {
  newIdentity,
  presentIdentity,
  type ReadContext,
  type Scoped,
  type WriteContext,
} from '#management/drafts/context.ts'
import { assert } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
import type { GroupUse, RelationRecord, TypeRecord } from '#entities/records.ts'
import { type Relation, RELATION } from '#entities/relation.ts'

interface NewRelation extends RecordFields<typeof RELATION> {
  readonly objectType: TypeRecord
  readonly subjectType: TypeRecord
  readonly key: string
  readonly groupUse: GroupUse | null
}

/** Adds a relation. The caller has checked that the key is not in use. */
export function addRelation(context: WriteContext, relation: NewRelation): RelationRecord {
  const record: RelationRecord = {
    kind: 'relation',
    ...newIdentity(context, relation.key),
    typeId: relation.objectType.id,
    name: relation.name,
    description: relation.description,
    subjectTypeId: relation.subjectType.id,
    groupUse: relation.groupUse,
    retiring: false,
  }
  // This causes a conflict with a concurrent removal of either type, which then runs again.
  context.records.touch(relation.objectType)
  context.records.touch(relation.subjectType)
  context.records.put(record, relationChange(context, record))
  return record
}

/** The change for the engine that puts a relation. */
export function relationChange(context: ReadContext, relation: RelationRecord): Change {
  const { objectType, subjectType } = typesOf(context, relation)
  return {
    kind: 'relation-put',
    type: objectType.key,
    relation: relation.key,
    subjectType: subjectType.key,
  }
}

/**
 * Protects a relation from removal because it gets a tuple or a derivation entry. If the relation is retiring
 * (its last tuple was removed), deletes the mark of that. The pending removal requires the mark, so it is not
 * made.
 */
export function keepRelation(context: WriteContext, relation: RelationRecord): void {
  context.records.requireUnchanged(relation)
  if (!relation.retiring) return
  const kept = { ...relation, retiring: false }
  context.records.put(kept, relationChange(context, kept))
}

/** The two types that a relation connects. */
function typesOf(context: ReadContext, relation: RelationRecord) {
  const objectType = context.records.byId('type', relation.typeId)
  const subjectType = context.records.byId('type', relation.subjectTypeId)
  assert(objectType && subjectType, 'the two types of a relation exist')
  return { objectType, subjectType }
}

export function presentRelation(context: ReadContext, record: RelationRecord): Relation {
  const { objectType, subjectType } = typesOf(context, record)
  return presentRelationFields(context, record, { object: objectType.key, subject: subjectType.key })
}

export function presentRelationFields(
  { scope }: Scoped,
  record: RelationRecord,
  { object, subject }: { readonly object: string; readonly subject: string },
): Relation {
  return {
    ...presentIdentity(scope, record),
    ...presented(RELATION, record),
    subject_resource: subject,
    subject_resource_id: record.subjectTypeId,
    object_resource: object,
    object_resource_id: record.typeId,
  }
}
