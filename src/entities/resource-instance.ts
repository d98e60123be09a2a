/** API schemas of resource instances (native.md B.9). */
import { Type, type Static } from 'typebox'
import { BULK_ELEMENTS_MAX } from '#model/limits.ts'
import {
  AttributeFilters,
  DetailFlag,
  envelope,
  pagingQuery,
  SearchText,
  TotalCountFlag,
} from '#model/wire/paging.ts'
import { AttributeMap, identityFields, nullable, optional, Uuid } from '#model/wire/common-fields.ts'
import { environmentPath, LongKey, Reference, ShortKey } from '#model/wire/references.ts'
import { defaultedField, schemasOf } from './entity.ts'

/** Declared fields of instances, except those that identify them. In stored order: append only. */
export const INSTANCE = {
  attributes: defaultedField('attributes', AttributeMap, {}),
}

export const ResourceInstanceCreate = Type.Object({
  resource: Reference,
  key: LongKey,
  /** If absent, the default tenant. */
  tenant: optional(Reference),
  ...schemasOf(INSTANCE, 'create'),
})
export type ResourceInstanceCreate = Static<typeof ResourceInstanceCreate>

export const ResourceInstance = Type.Object({
  ...identityFields(LongKey),
  resource: ShortKey,
  resource_id: Uuid,
  tenant: ShortKey,
  tenant_id: Uuid,
  ...schemasOf(INSTANCE, 'shown'),
  /**
   * Relationships of the instance; null unless the client requests details. There are at most
   * `INSTANCE_RELATIONSHIPS_MAX`. Those of which the instance is the subject come first.
   */
  relationships: nullable(
    Type.Array(Type.Object({ subject: Type.String(), relation: Type.String(), object: Type.String() })),
  ),
})
export type ResourceInstance = Static<typeof ResourceInstance>

/** An instance within the response about another entity. */
export const ResourceInstanceDetails = Type.Object({
  id: Uuid,
  key: Type.String(),
  resource: Type.String(),
  attributes: AttributeMap,
})

export const ResourceInstanceUpdate = Type.Object(schemasOf(INSTANCE, 'update'))
export type ResourceInstanceUpdate = Static<typeof ResourceInstanceUpdate>

export const ResourceInstanceEnvelope = envelope(ResourceInstance)
/** List of instances. It has an envelope only if the client requests the total (native.md B.1). */
export const ResourceInstanceList = Type.Union([Type.Array(ResourceInstance), ResourceInstanceEnvelope])

export const ResourceInstancesPath = Type.Object(environmentPath)
export const ResourceInstancePath = Type.Object({ ...environmentPath, instance_id: Reference })

const instanceFilters = {
  ...pagingQuery,
  tenant: Type.Optional(Reference),
  resource: Type.Optional(Reference),
  search: Type.Optional(SearchText),
  attributes: Type.Optional(AttributeFilters),
}

export const DetailedResourceInstancesQuery = Type.Object(instanceFilters)
export type DetailedResourceInstancesQuery = Static<typeof DetailedResourceInstancesQuery>

export const ResourceInstanceQuery = Type.Object({ detailed: Type.Optional(DetailFlag) })
export type ResourceInstanceQuery = Static<typeof ResourceInstanceQuery>

export const ResourceInstancesQuery = Type.Object({
  ...instanceFilters,
  ...ResourceInstanceQuery.properties,
  include_total_count: Type.Optional(TotalCountFlag),
})
export type ResourceInstancesQuery = Static<typeof ResourceInstancesQuery>

export const ResourceInstancesBulk = Type.Object({
  operations: Type.Array(ResourceInstanceCreate, { maxItems: BULK_ELEMENTS_MAX }),
})
export type ResourceInstancesBulk = Static<typeof ResourceInstancesBulk>
