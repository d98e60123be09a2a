/** Tenants on the wire (contract B.6). */
import { Type, type Static } from 'typebox'
import {
  AttributeMap,
  environmentPath,
  Name,
  nullable,
  optional,
  scopeFields,
  ShortKey,
  Text,
  timeFields,
  Timestamp,
  Uuid,
} from './building-blocks.ts'

export const TenantCreate = Type.Object({
  key: ShortKey,
  name: Name,
  description: optional(Text),
  attributes: optional(AttributeMap),
})
export type TenantCreate = Static<typeof TenantCreate>

export const Tenant = Type.Object({
  id: Uuid,
  key: ShortKey,
  ...scopeFields,
  ...timeFields,
  name: Name,
  description: nullable(Text),
  /** `null` when never given (contract section 0, row 12). */
  attributes: nullable(AttributeMap),
  last_action_at: Timestamp,
})
export type Tenant = Static<typeof Tenant>

export const TenantsPath = Type.Object(environmentPath)
