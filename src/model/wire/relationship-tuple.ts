/** Relationship tuples on the wire (contract B.10). */
import { Type, type Static } from 'typebox'
import {
  environmentPath,
  nullable,
  optional,
  Reference,
  scopeFields,
  timeFields,
  Uuid,
} from './building-blocks.ts'

export const RelationshipTupleCreate = Type.Object({
  /** `type:key` or id. */
  subject: Reference,
  relation: Reference,
  /** `type:key` or id. */
  object: Reference,
  tenant: optional(Reference),
})
export type RelationshipTupleCreate = Static<typeof RelationshipTupleCreate>

const Details = nullable(Type.Object({ id: Uuid, key: Type.String() }))

export const RelationshipTuple = Type.Object({
  id: Uuid,
  subject: Type.String(),
  relation: Type.String(),
  object: Type.String(),
  tenant: Type.String(),
  subject_id: Uuid,
  relation_id: Uuid,
  object_id: Uuid,
  tenant_id: Uuid,
  ...scopeFields,
  ...timeFields,
  subject_details: Details,
  relation_details: Details,
  object_details: Details,
  tenant_details: Details,
})
export type RelationshipTuple = Static<typeof RelationshipTuple>

export const RelationshipTuplesPath = Type.Object(environmentPath)
