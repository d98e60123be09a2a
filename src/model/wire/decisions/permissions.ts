/** API schemas of lists of permissions (native.md A.4, A.5). */
import { Type, type Static } from 'typebox'
import { AttributeMap, optional } from '#model/wire/common-fields.ts'
import { ResourceInQuery, UserInQuery } from './decision.ts'

const Names = optional(Type.Array(Type.String()))

export const UserPermissionsQuery = Type.Object({
  user: UserInQuery,
  /** Tenants, as `tenant` or `__tenant:tenant`. */
  tenants: Names,
  /** Resources, as `type:key`, a key alone, or `__tenant:tenant`. */
  resources: Names,
  /** Resource types; `__tenant` stands for tenants. */
  resource_types: Names,
  context: optional(AttributeMap),
})
export type UserPermissionsQuery = Static<typeof UserPermissionsQuery>

/**
 * Selects a page of the entries, which are in ascending order by name. Either both parameters are given or
 * neither.
 */
export const UserPermissionsPage = Type.Object({
  page: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Number of the page, from 1; only with `per_page`.' }),
  ),
  per_page: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Number of entries per page; only with `page`.' }),
  ),
})
export type UserPermissionsPage = Static<typeof UserPermissionsPage>

const PermissionScope = Type.Object({ key: Type.String(), attributes: AttributeMap })

/** Permissions by entry. The names of the entries are `__tenant:<tenant>` or `<type>:<key>`. */
export const UserPermissions = Type.Record(
  Type.String(),
  Type.Object({
    tenant: Type.Optional(PermissionScope),
    resource: Type.Optional(Type.Object({ ...PermissionScope.properties, type: Type.String() })),
    permissions: Type.Array(Type.String()),
    roles: Type.Array(Type.String()),
    userset: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Keys of the user sets whose rules grant these permissions.',
      }),
    ),
    resourceset: Type.Optional(Type.Array(Type.String())),
    more: Type.Optional(Type.Boolean({ description: 'More sets exist than are listed.' })),
  }),
)

/** The requests and responses of this route, in the envelopes of Open Policy Agent. */
export const OpaPermissionsQuery = Type.Object({ input: UserPermissionsQuery })
export const OpaPermissions = Type.Object({ result: UserPermissions })
export const OpaPackage = Type.Object({ result: Type.Object({ permissions: UserPermissions }) })

export const AuthorizedUsersQuery = Type.Object({
  action: Type.String({ minLength: 1 }),
  resource: ResourceInQuery,
  context: optional(AttributeMap),
  sdk: optional(Type.String()),
})
export type AuthorizedUsersQuery = Static<typeof AuthorizedUsersQuery>

export const AuthorizedUserGrant = Type.Object({
  user: Type.String(),
  tenant: Type.String(),
  /**
   * Scope of the role, as `type:key` or `__tenant:<tenant>`. If a rule allows, the key of its resource set.
   */
  resource: Type.String(),
  /** Key of the role. If a rule allows, the key of its user set. */
  role: Type.String(),
})
export type AuthorizedUserGrant = Static<typeof AuthorizedUserGrant>

export const AuthorizedUsers = Type.Object({
  resource: Type.String(),
  tenant: Type.String(),
  users: Type.Record(Type.String(), Type.Array(AuthorizedUserGrant)),
})
