/** Lists of relationship tuples (native.md B.10). */
import type { ReadContext } from '#management/drafts/context.ts'
import {
  instanceFilter,
  relationFilter,
  sideTypeFilter,
  tenantFilter,
  expiryFilters,
} from '#management/paging/fact-filters.ts'
import { arrayOrEnvelope, type Page } from '#management/paging/paging.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { pageOfSelection } from '#management/paging/selection.ts'
import type { TupleRecord } from '#entities/records.ts'
import type {
  DetailedRelationshipTuplesQuery,
  RelationshipTuple,
  RelationshipTuplesQuery,
} from '#entities/relationship-tuple.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { presentDetailedTuple, presentTuple } from './relationship-tuple-presenter.ts'

export function* listRelationshipTuples(
  context: ReadContext,
  input: { readonly query: RelationshipTuplesQuery },
): Resumable<Page<RelationshipTuple> | RelationshipTuple[]> {
  const { detailed, include_total_count: hasTotal = false } = input.query
  const present = detailed ? presentDetailedTuple : presentTuple
  return arrayOrEnvelope(yield* pageOfTuples(context, input.query, hasTotal, present), hasTotal)
}

export function listDetailedRelationshipTuples(
  context: ReadContext,
  input: { readonly query: DetailedRelationshipTuplesQuery },
): Resumable<Page<RelationshipTuple>> {
  return pageOfTuples(context, input.query, true, presentDetailedTuple)
}

function pageOfTuples(
  context: ReadContext,
  query: DetailedRelationshipTuplesQuery,
  hasTotal: boolean,
  present: (context: ReadContext, record: TupleRecord) => RelationshipTuple,
): Resumable<Page<RelationshipTuple>> {
  const { records } = context
  return pageOfSelection(records, {
    kind: 'tuple',
    all: lists.all('tuple'),
    filters: [
      tenantFilter(records, query.tenant, lists.tuplesOfTenant),
      instanceFilter<TupleRecord>(records, query.subject, lists.tuplesFrom, tuple => tuple.subjectId),
      relationFilter(records, query.relation),
      instanceFilter<TupleRecord>(records, query.object, lists.tuplesTo, tuple => tuple.objectId),
      sideTypeFilter(records, query.subject_type, lists.relationsFromType),
      sideTypeFilter(records, query.object_type, lists.relationsOfType),
      ...expiryFilters(query.expires_before, lists.expiringTuples),
    ],
    paging: query,
    hasTotal,
    present: record => present(context, record),
  })
}

export const reads = { listDetailedRelationshipTuples, listRelationshipTuples }
