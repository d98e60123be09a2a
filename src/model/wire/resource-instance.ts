/** Resource instances on the wire (contract B.9). */
import { Type, type Static } from 'typebox'
import {
  AttributeMap,
  environmentPath,
  LongKey,
  nullable,
  optional,
  Reference,
  scopeFields,
  ShortKey,
  timeFields,
  Uuid,
} from './building-blocks.ts'

export const ResourceInstanceCreate = Type.Object({
  resource: Reference,
  key: LongKey,
  /** Absent: the default tenant. */
  tenant: optional(Reference),
  attributes: optional(AttributeMap),
})
export type ResourceInstanceCreate = Static<typeof ResourceInstanceCreate>

export const ResourceInstance = Type.Object({
  id: Uuid,
  key: LongKey,
  ...scopeFields,
  ...timeFields,
  resource: ShortKey,
  resource_id: Uuid,
  tenant: ShortKey,
  tenant_id: Uuid,
  attributes: AttributeMap,
  relationships: nullable(
    Type.Array(Type.Object({ subject: Type.String(), relation: Type.String(), object: Type.String() })),
  ),
})
export type ResourceInstance = Static<typeof ResourceInstance>

export const ResourceInstancesPath = Type.Object(environmentPath)
