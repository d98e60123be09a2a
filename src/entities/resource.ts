/**
 * API schemas of resource types, with their actions, attributes, roles and relations (native.md B.4). The API
 * calls a resource type a resource.
 */
import { Type, type Static } from 'typebox'
import { PARTS_PER_BODY_MAX } from '#model/limits.ts'
import { ATTRIBUTE } from './attribute.ts'
import { AttributeFilters, envelope, pagingQuery, SearchText, TotalCountFlag } from '#model/wire/paging.ts'
import {
  AttributeMap,
  identityFields,
  Name,
  NULL_HINT,
  nullable,
  optional,
  Text,
  Uuid,
} from '#model/wire/common-fields.ts'
import { environmentPath, Reference, ShortKey } from '#model/wire/references.ts'
import { ACTION } from './action.ts'
import { nullableField, requiredField, schemasOf } from './entity.ts'
import { ResourceRole, RoleBlock } from './role.ts'

/** Declared fields of resource types, except their parts. In stored order: append only. */
export const RESOURCE = {
  name: requiredField('name', Name),
  urn: nullableField('urn', Text),
  description: nullableField('description', Text),
  type_attributes: nullableField('typeAttributes', AttributeMap),
}

export const ActionBlock = Type.Object({ ...schemasOf(ACTION, 'create'), name: optional(Name) })
export type ActionBlock = Static<typeof ActionBlock>

export const AttributeBlock = Type.Object(schemasOf(ATTRIBUTE, 'create'))
export type AttributeBlock = Static<typeof AttributeBlock>

/**
 * A map whose keys the client chooses. A key that does not match the pattern is rejected; it is not ignored.
 */
const keyedOptions = { additionalProperties: false, maxProperties: PARTS_PER_BODY_MAX } as const
const keyed = <Schema extends Parameters<typeof Type.Record>[1]>(schema: Schema) =>
  Type.Record(ShortKey, schema, keyedOptions)

const { name, ...described } = schemasOf(RESOURCE, 'create')
const describingFields = {
  ...described,
  attributes: optional(keyed(AttributeBlock)),
  roles: optional(keyed(RoleBlock)),
  relations: optional(keyed(Reference)),
}

/** Body of a request that replaces a resource type. Members that it omits become empty. */
export const ResourceReplace = Type.Object({ name, actions: keyed(ActionBlock), ...describingFields })
export type ResourceReplace = Static<typeof ResourceReplace>

export const ResourceCreate = Type.Object({ key: ShortKey, ...ResourceReplace.properties })
export type ResourceCreate = Static<typeof ResourceCreate>

/**
 * Parts of a resource type whose removal also deletes dependents. Only an empty map removes all of them: null
 * is rejected, because many clients send null for members that they do not intend to change.
 */
const emptiedByMap = <Schema extends Parameters<typeof Type.Record>[1]>(schema: Schema, what: string) =>
  Type.Optional(
    Type.Record(ShortKey, schema, {
      ...keyedOptions,
      [NULL_HINT]: `omit it to change nothing, or send {} to remove ${what}`,
    }),
  )

/**
 * Body of a request that changes a resource type. If it removes actions, roles or relations, their
 * permissions, assignments or tuples are also deleted.
 */
export const ResourceUpdate = Type.Object({
  name: Type.Optional(Name),
  ...describingFields,
  actions: emptiedByMap(ActionBlock, 'all actions and the permissions for them'),
  roles: emptiedByMap(RoleBlock, 'all roles and their assignments'),
  relations: emptiedByMap(Reference, 'all relations and their tuples'),
})
export type ResourceUpdate = Static<typeof ResourceUpdate>

const { type_attributes, ...shown } = schemasOf(RESOURCE, 'shown')

export const Resource = Type.Object({
  ...identityFields(ShortKey),
  ...shown,
  actions: Type.Record(
    Type.String(),
    Type.Object({ id: Uuid, key: ShortKey, ...schemasOf(ACTION, 'shown') }),
  ),
  type_attributes,
  attributes: Type.Record(
    Type.String(),
    Type.Object({ id: Uuid, key: ShortKey, ...schemasOf(ATTRIBUTE, 'shown') }),
  ),
  roles: Type.Record(Type.String(), ResourceRole),
  relations: Type.Record(
    Type.String(),
    Type.Object({
      resource_id: Uuid,
      relation_name: Name,
      resource: ShortKey,
      description: nullable(Text),
    }),
  ),
  action_groups: Type.Record(Type.String(), Type.Array(ShortKey)),
})
export type Resource = Static<typeof Resource>

export const ResourcesPath = Type.Object(environmentPath)
export const ResourcePath = Type.Object({ ...environmentPath, resource_id: Reference })

export const ResourcesQuery = Type.Object({
  ...pagingQuery,
  search: Type.Optional(SearchText),
  /**
   * Filters by `type_attributes`. They are not named after `attributes`, because the `attributes` of a
   * resource type are declarations.
   */
  attributes: Type.Optional(AttributeFilters),
  include_built_in: Type.Optional(
    Type.Boolean({ description: 'Include the resources that every environment has.' }),
  ),
  include_total_count: Type.Optional(TotalCountFlag),
})
export type ResourcesQuery = Static<typeof ResourcesQuery>

export const ResourceList = Type.Union([Type.Array(Resource), envelope(Resource)])
