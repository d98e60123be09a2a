/** API schemas of tenants (native.md B.6, B.11). */
import { Type, type Static } from 'typebox'
import { BULK_ELEMENTS_MAX } from '#model/limits.ts'
import { AttributeFilters, envelope, pagingQuery, SearchText, TotalCountFlag } from '#model/wire/paging.ts'
import {
  AttributeMap,
  identityFields,
  Name,
  nullable,
  Text,
  Timestamp,
  Uuid,
} from '#model/wire/common-fields.ts'
import { environmentPath, Reference, ShortKey } from '#model/wire/references.ts'
import { nullableField, requiredField, schemasOf } from './entity.ts'

/**
 * Declared fields of tenants. In stored order: append only. Attributes are null if they were never set
 * (native.md 0.12).
 */
export const TENANT = {
  name: requiredField('name', Name, { isSearched: true }),
  description: nullableField('description', Text),
  attributes: nullableField('attributes', AttributeMap),
}

export const TenantCreate = Type.Object({ key: ShortKey, ...schemasOf(TENANT, 'create') })
export type TenantCreate = Static<typeof TenantCreate>

export const Tenant = Type.Object({
  ...identityFields(ShortKey),
  ...schemasOf(TENANT, 'shown'),
  last_action_at: Timestamp,
})
export type Tenant = Static<typeof Tenant>

/** A tenant within the response about another entity. */
export const TenantDetails = Type.Object({
  id: Uuid,
  key: Type.String(),
  name: Type.String(),
  attributes: nullable(AttributeMap),
})

export const TenantUpdate = Type.Object(schemasOf(TENANT, 'update'))
export type TenantUpdate = Static<typeof TenantUpdate>

/** List of tenants. It has an envelope only if the client requests the total (native.md B.1). */
export const TenantList = Type.Union([Type.Array(Tenant), envelope(Tenant)])

export const TenantsPath = Type.Object(environmentPath)
export const TenantPath = Type.Object({ ...environmentPath, tenant_id: Reference })
export const TenantUserPath = Type.Object({ ...environmentPath, tenant_id: Reference, user_id: Reference })

export const TenantsQuery = Type.Object({
  ...pagingQuery,
  search: Type.Optional(SearchText),
  attributes: Type.Optional(AttributeFilters),
  include_total_count: Type.Optional(TotalCountFlag),
})
export type TenantsQuery = Static<typeof TenantsQuery>

export const TenantsBulkCreate = Type.Object({
  operations: Type.Array(TenantCreate, { maxItems: BULK_ELEMENTS_MAX }),
})
export type TenantsBulkCreate = Static<typeof TenantsBulkCreate>
