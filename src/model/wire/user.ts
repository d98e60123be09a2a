/** Users on the wire (contract B.7). */
import { Type, type Static } from 'typebox'
import {
  AttributeMap,
  environmentPath,
  LongKey,
  nullable,
  optional,
  scopeFields,
  Text,
  timeFields,
  Uuid,
} from './building-blocks.ts'
import { UserRoleAssignment } from './role-assignment.ts'

export const UserCreate = Type.Object({
  key: LongKey,
  email: optional(Text),
  first_name: optional(Text),
  last_name: optional(Text),
  attributes: optional(AttributeMap),
  role_assignments: optional(Type.Array(UserRoleAssignment)),
})
export type UserCreate = Static<typeof UserCreate>

export const User = Type.Object({
  id: Uuid,
  key: LongKey,
  ...scopeFields,
  ...timeFields,
  email: nullable(Text),
  first_name: nullable(Text),
  last_name: nullable(Text),
  attributes: AttributeMap,
  associated_tenants: Type.Array(
    Type.Object({
      tenant: Type.String(),
      roles: Type.Array(Type.String()),
      status: Type.Literal('active'),
      resource_instance_roles: Type.Array(
        Type.Object({ resource: Type.String(), resource_instance: Type.String(), role: Type.String() }),
      ),
    }),
  ),
  /** Tenant roles only. */
  roles: Type.Array(Type.Object({ role: Type.String(), tenant: Type.String() })),
})
export type User = Static<typeof User>

export const UsersPath = Type.Object(environmentPath)
