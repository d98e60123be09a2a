/**
 * API schemas of attributes that a resource type declares, and of the declared attributes of users and
 * tenants (native.md B.4). Declarations do not affect decisions. They help to find errors when a condition is
 * written.
 */
import { Type, type Static } from 'typebox'
import { environmentPath, Reference, ShortKey } from '#model/wire/references.ts'
import { identityFields, Text, Uuid } from '#model/wire/common-fields.ts'
import { pagingQuery } from '#model/wire/paging.ts'
import { nullableField, requiredField, schemasOf } from './entity.ts'

export const AttributeType = Type.Enum([
  'bool',
  'number',
  'string',
  'time',
  'array',
  'json',
  'object',
  'object_array',
] as const)
export type AttributeType = Static<typeof AttributeType>

/** Declared fields of attributes. */
export const ATTRIBUTE = {
  type: requiredField('type', AttributeType),
  description: nullableField('description', Text),
}

export const AttributeCreate = Type.Object({ key: ShortKey, ...schemasOf(ATTRIBUTE, 'create') })
export type AttributeCreate = Static<typeof AttributeCreate>

export const AttributeUpdate = Type.Object(schemasOf(ATTRIBUTE, 'update'))
export type AttributeUpdate = Static<typeof AttributeUpdate>

export const Attribute = Type.Object({
  ...identityFields(ShortKey),
  ...schemasOf(ATTRIBUTE, 'shown'),
  resource_id: Uuid,
  resource_key: ShortKey,
  built_in: Type.Boolean(),
})
export type Attribute = Static<typeof Attribute>

export const ResourceAttributesPath = Type.Object({ ...environmentPath, resource_id: Reference })
export const ResourceAttributePath = Type.Object({
  ...environmentPath,
  resource_id: Reference,
  attribute_id: Reference,
})
export const UserAttributesPath = Type.Object(environmentPath)
export const UserAttributePath = Type.Object({ ...environmentPath, attribute_id: Reference })
export const AttributesQuery = Type.Object(pagingQuery)
