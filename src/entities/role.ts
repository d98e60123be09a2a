/** API schemas of resource roles and tenant roles (native.md B.4, B.5). */
import { Type, type Static, type TSchema } from 'typebox'
import { BULK_ELEMENTS_MAX, PARTS_PER_BODY_MAX } from '#model/limits.ts'
import { AttributeFilters, envelope, pagingQuery, SearchText, TotalCountFlag } from '#model/wire/paging.ts'
import {
  AttributeMap,
  identityFields,
  Name,
  NULL_HINT,
  optional,
  Text,
  Uuid,
} from '#model/wire/common-fields.ts'
import { environmentPath, Reference, ShortKey } from '#model/wire/references.ts'
import { defaultedField, nullableField, requiredField, schemasOf } from './entity.ts'

export const DerivationCondition = Type.Object({
  no_direct_roles_on_object: Type.Optional(Type.Boolean({ default: false })),
})

const derivationFields = { role: Reference, on_resource: Reference, linked_by_relation: Reference }

export const DerivationCreate = Type.Object({ ...derivationFields, when: optional(DerivationCondition) })
export type DerivationCreate = Static<typeof DerivationCreate>

export const DerivationBlock = Type.Object({
  when: optional(DerivationCondition),
  users_with_role: Type.Optional(Type.Array(DerivationCreate, { default: [], maxItems: PARTS_PER_BODY_MAX })),
})
export type DerivationBlock = Static<typeof DerivationBlock>

const DerivationWhen = Type.Object({ no_direct_roles_on_object: Type.Boolean() })

/** Guard of the whole derivation block of a role. */
export const GrantConditions = DerivationWhen
export type GrantConditions = Static<typeof GrantConditions>

export const DerivationRead = Type.Object({
  ...derivationFields,
  when: DerivationWhen,
  role_id: Uuid,
  resource_id: Uuid,
  relation_id: Uuid,
})
export type DerivationRead = Static<typeof DerivationRead>

/**
 * Permissions. They are checked against the model and not by the schema, because an unknown action results in
 * 404.
 */
const Permissions = Type.Array(Type.String(), {
  description: '`resource:action`. For a resource role, the action alone is also accepted.',
})

/** Declared fields of roles. In stored order: append only. */
export const ROLE = {
  name: requiredField('name', Name, { isSearched: true }),
  description: nullableField('description', Text),
  permissions: defaultedField('permissions', Type.Array(Type.String()), [], { sent: Permissions }),
  attributes: nullableField('attributes', AttributeMap),
  extends: defaultedField('extends', Type.Array(ShortKey), [], {
    sent: Type.Array(Reference, { maxItems: PARTS_PER_BODY_MAX }),
  }),
}

const roleFields = { ...schemasOf(ROLE, 'create'), granted_to: optional(DerivationBlock) }

/** A role within the body that creates its resource type. */
export const RoleBlock = Type.Object(roleFields)
export type RoleBlock = Static<typeof RoleBlock>

export const RoleCreate = Type.Object({ key: ShortKey, ...roleFields })
export type RoleCreate = Static<typeof RoleCreate>

export const RoleUpdate = Type.Object({ ...schemasOf(ROLE, 'update'), granted_to: optional(DerivationBlock) })
export type RoleUpdate = Static<typeof RoleUpdate>

/**
 * Body of a request that changes a resource role. If it removes the derivations of a role, it also removes
 * those that were created by granting the role to groups. Therefore null is rejected, because many clients
 * send null for members that they do not intend to change.
 */
export const ResourceRoleUpdate = Type.Object({
  ...RoleUpdate.properties,
  granted_to: Type.Optional(
    Type.Object(DerivationBlock.properties, {
      [NULL_HINT]: 'omit it to change nothing, or send {} to remove all derivations and roles of groups',
    }),
  ),
})
export type ResourceRoleUpdate = Static<typeof ResourceRoleUpdate>

/** Permissions to add to or remove from a role. */
export const PermissionList = Type.Object({ permissions: Permissions })
export type PermissionList = Static<typeof PermissionList>

/**
 * Roles to create or replace together. A role with a `resource` is a role of that type, and the other roles
 * are tenant roles.
 */
export const BulkRoles = Type.Object({
  operations: Type.Array(Type.Object({ key: ShortKey, ...roleFields, resource: optional(Reference) }), {
    maxItems: BULK_ELEMENTS_MAX,
  }),
})
export type BulkRoles = Static<typeof BulkRoles>

/** Result of the bulk call. A tenant role is named by its key, and a resource role as `resource#role`. */
export const BulkRolesDone = Type.Object({
  created: Type.Array(Type.String()),
  updated: Type.Array(Type.String()),
})
export type BulkRolesDone = Static<typeof BulkRolesDone>

const roleReadFields = {
  ...identityFields(ShortKey),
  ...schemasOf(ROLE, 'shown'),
}

const grantedTo = <Entry extends TSchema>(entry: Entry) =>
  Type.Object({ id: Uuid, when: DerivationWhen, users_with_role: Type.Array(entry) })

/** A tenant role. Its derivation block is stored but has no effect (native.md D-22, D-23). */
export const TenantRole = Type.Object({
  ...roleReadFields,
  granted_to: grantedTo(Type.Object({ ...derivationFields, when: DerivationWhen })),
})
export type TenantRole = Static<typeof TenantRole>

export const ResourceRole = Type.Object({
  ...roleReadFields,
  granted_to: grantedTo(DerivationRead),
  resource: ShortKey,
  resource_id: Uuid,
})
export type ResourceRole = Static<typeof ResourceRole>

/** Ancestors or descendants of a role. */
export const TenantRoleFamily = Type.Object({ roles: Type.Array(TenantRole) })
export type TenantRoleFamily = Static<typeof TenantRoleFamily>

export const ResourceRoleFamily = Type.Object({ roles: Type.Array(ResourceRole) })
export type ResourceRoleFamily = Static<typeof ResourceRoleFamily>

/** Parameters of the list. It contains all roles unless the client requests a page. */
export const RoleFamilyQuery = Type.Object(pagingQuery)

export const TenantRolesPath = Type.Object(environmentPath)
export const TenantRolePath = Type.Object({ ...environmentPath, role_id: Reference })
export const TenantRoleParentPath = Type.Object({
  ...environmentPath,
  role_id: Reference,
  parent_role_id: Reference,
})
export const BulkRolesPath = Type.Object(environmentPath)
export const TenantRolesQuery = Type.Object({
  ...pagingQuery,
  search: Type.Optional(SearchText),
  attributes: Type.Optional(AttributeFilters),
  include_total_count: Type.Optional(TotalCountFlag),
})
export type TenantRolesQuery = Static<typeof TenantRolesQuery>
export const TenantRoleList = Type.Union([Type.Array(TenantRole), envelope(TenantRole)])

export const ResourceRolesQuery = Type.Object({ ...pagingQuery, attributes: Type.Optional(AttributeFilters) })
export type ResourceRolesQuery = Static<typeof ResourceRolesQuery>
export const ResourceRolesPath = Type.Object({ ...environmentPath, resource_id: Reference })
export const ResourceRolePath = Type.Object({
  ...environmentPath,
  resource_id: Reference,
  role_id: Reference,
})
export const ResourceRoleParentPath = Type.Object({
  ...ResourceRolePath.properties,
  parent_role_id: Reference,
})
