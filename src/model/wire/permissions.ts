/** Permission listings on the wire (contract A.4, A.5). */
import { Type, type Static } from 'typebox'
import { AttributeMap, optional } from './building-blocks.ts'
import { ResourceInQuery, UserInQuery } from './decision.ts'

const Names = optional(Type.Array(Type.String()))

export const UserPermissionsQuery = Type.Object({
  user: UserInQuery,
  /** `tenant` or `__tenant:tenant`. */
  tenants: Names,
  /** `type:key`, a bare key, or `__tenant:tenant`. */
  resources: Names,
  /** Types, and `__tenant` for tenants. */
  resource_types: Names,
  context: optional(AttributeMap),
})
export type UserPermissionsQuery = Static<typeof UserPermissionsQuery>

const Place = Type.Object({ key: Type.String(), attributes: AttributeMap })

/** By `__tenant:<tenant>` or `<type>:<key>`. */
export const UserPermissions = Type.Record(
  Type.String(),
  Type.Object({
    tenant: Type.Optional(Place),
    resource: Type.Optional(Type.Object({ ...Place.properties, type: Type.String() })),
    permissions: Type.Array(Type.String()),
    roles: Type.Array(Type.String()),
  }),
)

/** The same in the envelopes of an Open Policy Agent. */
export const OpaPermissionsQuery = Type.Object({ input: UserPermissionsQuery })
export const OpaPermissions = Type.Object({ result: UserPermissions })

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
  /** Where the role is held: `type:key`, or `__tenant:<tenant>`. */
  resource: Type.String(),
  role: Type.String(),
})
export type AuthorizedUserGrant = Static<typeof AuthorizedUserGrant>

export const AuthorizedUsers = Type.Object({
  resource: Type.String(),
  tenant: Type.String(),
  users: Type.Record(Type.String(), Type.Array(AuthorizedUserGrant)),
})
