/** API schemas of actions of a resource type and of action groups (native.md B.4). */
import { Type, type Static } from 'typebox'
import { AttributeFilters, pagingQuery } from '#model/wire/paging.ts'
import { AttributeMap, identityFields, Name, optional, Text, Uuid } from '#model/wire/common-fields.ts'
import { environmentPath, Reference, ShortKey } from '#model/wire/references.ts'
import { nullableField, requiredField, schemasOf } from './entity.ts'

/** Declared fields of actions. Action groups have the same fields. */
export const ACTION = {
  name: requiredField('name', Name),
  description: nullableField('description', Text),
  attributes: nullableField('attributes', AttributeMap),
}

export const ActionCreate = Type.Object({ key: ShortKey, ...schemasOf(ACTION, 'create') })
export type ActionCreate = Static<typeof ActionCreate>

export const ActionUpdate = Type.Object(schemasOf(ACTION, 'update'))
export type ActionUpdate = Static<typeof ActionUpdate>

const readFields = {
  ...identityFields(ShortKey),
  ...schemasOf(ACTION, 'shown'),
  resource_id: Uuid,
}

export const Action = Type.Object({
  ...readFields,
  /** Form in which tenant roles name the action: `type:action`. */
  permission_name: Type.String(),
})
export type Action = Static<typeof Action>

export const ActionGroupCreate = Type.Object({
  key: ShortKey,
  ...schemasOf(ACTION, 'create'),
  actions: optional(Type.Array(Reference)),
})
export type ActionGroupCreate = Static<typeof ActionGroupCreate>

export const ActionGroupUpdate = Type.Object({
  ...schemasOf(ACTION, 'update'),
  actions: optional(Type.Array(Reference)),
})
export type ActionGroupUpdate = Static<typeof ActionGroupUpdate>

export const ActionGroup = Type.Object({ ...readFields, actions: Type.Array(ShortKey) })
export type ActionGroup = Static<typeof ActionGroup>

const resourcePath = { ...environmentPath, resource_id: Reference }

export const ActionsPath = Type.Object(resourcePath)
export const ActionPath = Type.Object({ ...resourcePath, action_id: Reference })
export const ActionGroupsPath = Type.Object(resourcePath)
export const ActionGroupPath = Type.Object({ ...resourcePath, action_group_id: Reference })
export const ActionsQuery = Type.Object({ ...pagingQuery, attributes: Type.Optional(AttributeFilters) })
export type ActionsQuery = Static<typeof ActionsQuery>
