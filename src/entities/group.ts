/**
 * API schemas of groups (native.md B.3). Responses contain keys only; requests can also contain `type:key`.
 */
import { Type, type Static } from 'typebox'
import { endField, optional, shownExpiry, Uuid } from '#model/wire/common-fields.ts'
import { envelope, pagingQuery, SearchText, TotalCountFlag } from '#model/wire/paging.ts'
import { environmentPath, LongKey, QualifiedShortKey, Reference, ShortKey } from '#model/wire/references.ts'

export const GroupCreate = Type.Object({
  group_instance_key: QualifiedShortKey,
  group_tenant: Reference,
  group_resource_type_key: optional(ShortKey),
})
export type GroupCreate = Static<typeof GroupCreate>

const groupKeys = {
  id: Uuid,
  group_resource_type_key: ShortKey,
  group_instance_key: LongKey,
  group_tenant: ShortKey,
}
export type GroupKeys = Pick<GroupRecord, keyof typeof groupKeys>

/** Fields with which a client can show a tree of groups without further requests. */
const treeFields = {
  users_count: Type.Integer({ minimum: 0, description: 'Direct members of the group.' }),
  has_children: Type.Boolean({ description: 'Whether it has direct child groups.' }),
}

export const GroupRecord = Type.Object({ ...groupKeys, ...treeFields })
export type GroupRecord = Static<typeof GroupRecord>

export const GroupRead = Type.Object({
  ...groupKeys,
  /** Roles as `type:instance#role`, the oldest first. There are at most `GROUP_READ_ENTRIES_MAX`. */
  assigned_roles: Type.Array(Type.String()),
  assigned_roles_count: Type.Integer({ minimum: 0 }),
  /** User ids, the oldest members first. There are at most `GROUP_READ_ENTRIES_MAX`. */
  users: Type.Array(Uuid),
  users_count: Type.Integer({ minimum: 0 }),
})
export type GroupRead = Static<typeof GroupRead>

const grantFields = {
  role: Reference,
  resource: Reference,
  resource_instance: Reference,
  tenant: Reference,
}

export const GroupAddRole = Type.Object({ ...grantFields, ...endField })
export type GroupAddRole = Static<typeof GroupAddRole>
export const GroupRoleRemoval = Type.Object(grantFields)
export type GroupRoleRemoval = Static<typeof GroupRoleRemoval>

/** Body of a PUT request that adds a member. */
export const GroupMemberBody = Type.Object({ tenant: Reference, ...endField })
export type GroupMemberBody = Static<typeof GroupMemberBody>
export const GroupMemberRemoval = Type.Object({ tenant: optional(Reference) })
export const GroupNesting = Type.Object({ group_instance_key: Reference, ...endField })
export type GroupNesting = Static<typeof GroupNesting>
export const GroupNestingRemoval = Type.Object({ group_instance_key: Reference })
export type GroupNestingRemoval = Static<typeof GroupNestingRemoval>

export const KeyedId = Type.Object({ id: Uuid, key: Type.String() })

export const GroupRole = Type.Object({
  key: ShortKey,
  resource: KeyedId,
  resource_instance: KeyedId,
  ...shownExpiry,
})
export type GroupRole = Static<typeof GroupRole>

export const GroupUser = Type.Object({ id: Uuid, key: LongKey, ...shownExpiry })
export type GroupUser = Static<typeof GroupUser>

/** A child or a parent of a group. */
export const GroupLink = Type.Object({ ...groupKeys, ...treeFields, ...shownExpiry })
export type GroupLink = Static<typeof GroupLink>

export const GroupsPath = Type.Object(environmentPath)
export const GroupPath = Type.Object({ ...environmentPath, group_instance_key: Reference })
export const GroupMemberPath = Type.Object({
  ...environmentPath,
  group_instance_key: Reference,
  user_id: Reference,
})

export const GroupsQuery = Type.Object({
  ...pagingQuery,
  tenant: Type.Optional(Reference),
  resource: Type.Optional(Reference),
  search: Type.Optional(SearchText),
  top_level: Type.Optional(
    Type.Boolean({
      description: 'Only groups without a parent group. Examines each group up to the page.',
    }),
  ),
  /** Selects the groups of which this user is a direct member, in the order in which the user joined them. */
  user: Type.Optional(Reference),
})
export type GroupsQuery = Static<typeof GroupsQuery>

export const GroupRecordsQuery = Type.Object({
  ...GroupsQuery.properties,
  include_total_count: Type.Optional(
    Type.Boolean({
      description:
        'Return an envelope with the total (default). False: return an array, and read a filtered list only up to the end of the page.',
    }),
  ),
})
export type GroupRecordsQuery = Static<typeof GroupRecordsQuery>

export const DeprecatedGroupsQuery = Type.Object({
  ...GroupsQuery.properties,
  include_total_count: Type.Optional(TotalCountFlag),
})
export type DeprecatedGroupsQuery = Static<typeof DeprecatedGroupsQuery>
export const PageQuery = Type.Object(pagingQuery)

export const ListedGroup = Type.Object({
  ...GroupRecord.properties,
  ...shownExpiry,
})
export type ListedGroup = Static<typeof ListedGroup>

export const ListedGroupEnvelope = envelope(ListedGroup)
export const ListedGroups = Type.Union([ListedGroupEnvelope, Type.Array(ListedGroup)])
export const GroupLinkEnvelope = envelope(GroupLink)
export const GroupRoleEnvelope = envelope(GroupRole)
export const GroupUserEnvelope = envelope(GroupUser)
