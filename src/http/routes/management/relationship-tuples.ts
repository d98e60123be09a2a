/** Relationship tuples (native.md B.10). */
import type { Route } from '#http/routing/route.ts'
import { Empty } from '#model/wire/common-fields.ts'
import {
  DetailedRelationshipTuplesQuery,
  RelationshipTuple,
  RelationshipTupleCreate,
  RelationshipTupleDelete,
  RelationshipTupleEnvelope,
  RelationshipTupleList,
  RelationshipTuplesBulkCreate,
  RelationshipTuplesBulkDelete,
  RelationshipTuplesPath,
  RelationshipTuplesQuery,
} from '#entities/relationship-tuple.ts'
import { FACTS_BASE, type Manage } from './managed.ts'

const TUPLES = `${FACTS_BASE}/relationship_tuples`
const params = RelationshipTuplesPath

export function relationshipTupleRoutes(manage: Manage): Route[] {
  return [
    manage({
      operation: 'listRelationshipTuples',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      path: TUPLES,
      summary: 'List relationship tuples',
      params,
      query: RelationshipTuplesQuery,
      answer: RelationshipTupleList,
    }),
    manage({
      operation: 'listDetailedRelationshipTuples',
      level: 'read',
      method: 'GET',
      path: `${TUPLES}/detailed`,
      summary: 'List relationship tuples with their subjects and objects',
      params,
      query: DetailedRelationshipTuplesQuery,
      answer: RelationshipTupleEnvelope,
    }),
    manage({
      operation: 'createRelationshipTuple',
      level: 'write_facts',
      delegated: 'write',
      method: 'POST',
      path: TUPLES,
      summary: 'Create a relationship tuple, and its instances if they do not exist',
      params,
      grant: 'made',
      body: RelationshipTupleCreate,
      answer: RelationshipTuple,
    }),
    manage({
      operation: 'deleteRelationshipTuple',
      level: 'write_facts',
      delegated: 'write',
      method: 'DELETE',
      path: TUPLES,
      summary: 'Delete a relationship tuple',
      params,
      grant: 'removed',
      body: RelationshipTupleDelete,
    }),
    manage({
      operation: 'createRelationshipTuples',
      level: 'write_facts',
      delegated: 'write',
      method: 'POST',
      path: `${TUPLES}/bulk`,
      summary: 'Create relationship tuples, all or none; existing ones get the new expiration time',
      params,
      body: RelationshipTuplesBulkCreate,
      answer: Empty,
    }),
    manage({
      operation: 'deleteRelationshipTuples',
      level: 'write_facts',
      delegated: 'write',
      method: 'DELETE',
      path: `${TUPLES}/bulk`,
      summary: 'Delete relationship tuples, all or none; missing ones are skipped',
      params,
      body: RelationshipTuplesBulkDelete,
      answer: Empty,
    }),
  ]
}
