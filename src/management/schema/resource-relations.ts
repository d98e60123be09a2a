/**
 * Operations on the relations of a resource type (native.md B.4). A relation can be created and removed, but
 * not changed.
 */
import { recordFrom } from '#entities/entity.ts'
import type { ReadContext, WriteContext } from '#management/drafts/context.ts'
import { requireRelation, requireType } from '#management/drafts/lookups.ts'
import { arrayOrEnvelope, type Page, pageOf } from '#management/paging/paging.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { AuthzError } from '#model/errors.ts'
import { type Relation, RELATION, type RelationCreate, type RelationsQuery } from '#entities/relation.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { addRelation, presentRelation } from './relations.ts'
import { removeRelations } from './schema-removals.ts'

interface RelationParams {
  readonly resource_id: string
  readonly relation_id: string
}

/** Lists relations in an envelope, or as a bare array on request (native.md 0.9). */
export function listRelations(
  context: ReadContext,
  input: { readonly params: { readonly resource_id: string }; readonly query: RelationsQuery },
): Page<Relation> | Relation[] {
  const type = requireType(context.records, input.params.resource_id)
  const page = pageOf(context.records, {
    kind: 'relation',
    list: lists.relationsOfType(type.id),
    paging: input.query,
    matches: null,
    present: relation => presentRelation(context, relation),
  })
  return arrayOrEnvelope(page, input.query.include_total_count ?? true)
}

export function getRelation(context: ReadContext, input: { readonly params: RelationParams }): Relation {
  const type = requireType(context.records, input.params.resource_id)
  return presentRelation(context, requireRelation(context.records, type, input.params.relation_id))
}

export function createRelation(
  context: WriteContext,
  input: { readonly params: { readonly resource_id: string }; readonly body: RelationCreate },
): Relation {
  const { records } = context
  const { body } = input
  const objectType = requireType(records, input.params.resource_id)
  const subjectType = requireType(records, body.subject_resource)
  if (records.get('relation', rowKeys.relation(objectType.id, body.key))) {
    throw new AuthzError(
      'DUPLICATE_ENTITY',
      `resource ${JSON.stringify(objectType.key)} has a relation ${JSON.stringify(body.key)} already`,
    )
  }
  const record = addRelation(context, {
    objectType,
    subjectType,
    key: body.key,
    ...recordFrom(RELATION, body),
    groupUse: null,
  })
  return presentRelation(context, record)
}

/**
 * Removes a relation with its tuples and derivation entries. This can be a relation of the groups API; a
 * later grant re-creates it.
 */
export function* deleteRelation(
  context: WriteContext,
  input: { readonly params: RelationParams },
): Resumable<void> {
  const type = requireType(context.records, input.params.resource_id)
  yield* removeRelations(context, [requireRelation(context.records, type, input.params.relation_id)], type)
}

export const reads = { getRelation, listRelations }

export const writes = { createRelation, deleteRelation }
