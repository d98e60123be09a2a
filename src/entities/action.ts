/** API schemas of actions of a resource type and of action groups (native.md B.4). */
import { Type, type Static } from 'typebox'
import {
  AttributeFilters,
  AttributeMap,
  environmentPath,
  Name,
  nullable,
  optional,
  pagingQuery,
  Reference,
  scopeFields,
  ShortKey,
  Text,
  timeFields,
  Uuid,
} from '#model/wire/building-blocks.ts'

const describingFields = { description: optional(Text), attributes: optional(AttributeMap) }

export const ActionCreate = Type.Object({ key: ShortKey, name: Name, ...describingFields })
export type ActionCreate = Static<typeof ActionCreate>

export const ActionUpdate = Type.Object({ name: Type.Optional(Name), ...describingFields })
export type ActionUpdate = Static<typeof ActionUpdate>

const readFields = {
  id: Uuid,
  key: ShortKey,
  ...scopeFields,
  ...timeFields,
  name: Name,
  description: nullable(Text),
  attributes: nullable(AttributeMap),
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
  name: Name,
  ...describingFields,
  actions: optional(Type.Array(Reference)),
})
export type ActionGroupCreate = Static<typeof ActionGroupCreate>

export const ActionGroupUpdate = Type.Object({
  name: Type.Optional(Name),
  ...describingFields,
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
