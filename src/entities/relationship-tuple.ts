/** API schemas of relationship tuples (native.md B.10). */
import { Type, type Static } from 'typebox'
import { BULK_ELEMENTS_MAX } from '#model/limits.ts'
import { DetailFlag, expiryFilter, envelope, pagingQuery, TotalCountFlag } from '#model/wire/paging.ts'
import {
  endField,
  nullable,
  optional,
  scopeFields,
  shownExpiry,
  timeFields,
  Uuid,
} from '#model/wire/common-fields.ts'
import { environmentPath, InstanceReference, Reference } from '#model/wire/references.ts'
import { ResourceInstanceDetails } from './resource-instance.ts'
import { TenantDetails } from './tenant.ts'

export const RelationshipTupleCreate = Type.Object({
  subject: InstanceReference,
  relation: Reference,
  object: InstanceReference,
  tenant: optional(Reference),
  ...endField,
})
export type RelationshipTupleCreate = Static<typeof RelationshipTupleCreate>

export const RelationshipTupleDelete = Type.Object({
  subject: InstanceReference,
  relation: Reference,
  object: InstanceReference,
})
export type RelationshipTupleDelete = Static<typeof RelationshipTupleDelete>

/**
 * One side of a tuple. It contains the tenant. In contrast, role assignments show instances without the
 * tenant, because they have a tenant member themselves.
 */
export const RelationshipTupleInstance = Type.Object({
  ...ResourceInstanceDetails.properties,
  tenant: Type.String({ description: 'Key of the tenant of the tuple.' }),
})

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
  ...shownExpiry,
  subject_details: nullable(RelationshipTupleInstance),
  relation_details: nullable(Type.Object({ id: Uuid, key: Type.String(), name: Type.String() })),
  object_details: nullable(RelationshipTupleInstance),
  tenant_details: nullable(TenantDetails),
})
export type RelationshipTuple = Static<typeof RelationshipTuple>

export const RelationshipTupleEnvelope = envelope(RelationshipTuple)
/** List of tuples. It has an envelope only if the client requests the total (native.md B.1). */
export const RelationshipTupleList = Type.Union([Type.Array(RelationshipTuple), RelationshipTupleEnvelope])

export const RelationshipTuplesPath = Type.Object(environmentPath)

const tupleFilters = {
  ...pagingQuery,
  tenant: Type.Optional(Reference),
  subject: Type.Optional(Reference),
  relation: Type.Optional(Reference),
  object: Type.Optional(Reference),
  subject_type: Type.Optional(Reference),
  object_type: Type.Optional(Reference),
  ...expiryFilter,
}

export const DetailedRelationshipTuplesQuery = Type.Object(tupleFilters)
export type DetailedRelationshipTuplesQuery = Static<typeof DetailedRelationshipTuplesQuery>

export const RelationshipTuplesQuery = Type.Object({
  ...tupleFilters,
  detailed: Type.Optional(DetailFlag),
  include_total_count: Type.Optional(TotalCountFlag),
})
export type RelationshipTuplesQuery = Static<typeof RelationshipTuplesQuery>

export const RelationshipTuplesBulkCreate = Type.Object({
  operations: Type.Array(RelationshipTupleCreate, { maxItems: BULK_ELEMENTS_MAX }),
})
export type RelationshipTuplesBulkCreate = Static<typeof RelationshipTuplesBulkCreate>

export const RelationshipTuplesBulkDelete = Type.Object({
  idents: Type.Array(RelationshipTupleDelete, { maxItems: BULK_ELEMENTS_MAX }),
})
export type RelationshipTuplesBulkDelete = Static<typeof RelationshipTuplesBulkDelete>
