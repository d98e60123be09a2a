/** Bulk operations on relationship tuples (native.md B.10, D-26, D-39). */
import { forEachElement } from '#management/operations/bulk.ts'
import type { WriteContext } from '#management/drafts/context.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import type { Empty } from '#model/wire/common-fields.ts'
import type {
  RelationshipTuplesBulkCreate,
  RelationshipTuplesBulkDelete,
} from '#entities/relationship-tuple.ts'
import { ensureTuple, findNamed, removeTuple } from './relationship-tuples.ts'

/** Creates the missing tuples, and updates the expiration times of existing ones. */
export function* createRelationshipTuples(
  context: WriteContext,
  input: { readonly body: RelationshipTuplesBulkCreate },
): Resumable<Empty> {
  yield* forEachElement(input.body.operations, ['body', 'operations'], (body, place) =>
    ensureTuple(context, body, place),
  )
  return {}
}

/** Removes the existing tuples. Tuples that do not exist are skipped. */
export function* deleteRelationshipTuples(
  context: WriteContext,
  input: { readonly body: RelationshipTuplesBulkDelete },
): Resumable<Empty> {
  yield* forEachElement(input.body.idents, ['body', 'idents'], body => {
    const named = findNamed(context, body)
    if (named) removeTuple(context, named.record, named.parts)
  })
  return {}
}

export const writes = { createRelationshipTuples, deleteRelationshipTuples }
