/** API schemas of users (native.md B.7, B.11). */
import { Type, type Static } from 'typebox'
import { BULK_ELEMENTS_MAX, TEXT_LENGTH_MAX } from '#model/limits.ts'
import {
  AttributeFilters,
  AttributeMap,
  envelope,
  environmentPath,
  LongKey,
  nullable,
  optional,
  pagingQuery,
  Reference,
  scopeFields,
  SearchText,
  shownExpiry,
  Text,
  timeFields,
  Uuid,
} from '#model/wire/building-blocks.ts'
import { UserRoleAssignment } from './role-assignment.ts'

/**
 * An optional e-mail address. The schema only checks that it has two parts, because mail servers decide which
 * addresses are valid.
 */
export function emailField() {
  return optional(
    Type.String({
      maxLength: TEXT_LENGTH_MAX,
      pattern: '^[^@ ]+@[^@ ]+$',
      description: 'An e-mail address.',
    }),
  )
}

const profileFields = {
  email: emailField(),
  first_name: optional(Text),
  last_name: optional(Text),
  attributes: optional(AttributeMap),
}

export const UserCreate = Type.Object({
  key: LongKey,
  ...profileFields,
  role_assignments: optional(Type.Array(UserRoleAssignment, { maxItems: BULK_ELEMENTS_MAX })),
})
export type UserCreate = Static<typeof UserCreate>

export const UserUpdate = Type.Object(profileFields)
export type UserUpdate = Static<typeof UserUpdate>

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
        Type.Object({
          resource: Type.String(),
          resource_instance: Type.String(),
          role: Type.String(),
          ...shownExpiry,
        }),
      ),
    }),
  ),
  /** Tenant roles of the user. Roles on instances are not included. */
  roles: Type.Array(Type.Object({ role: Type.String(), tenant: Type.String(), ...shownExpiry })),
})
export type User = Static<typeof User>

export const UserEnvelope = envelope(User)

export const UsersPath = Type.Object(environmentPath)
export const UserPath = Type.Object({ ...environmentPath, user_id: Reference })

const holderFilters = {
  search: Type.Optional(SearchText),
  attributes: Type.Optional(AttributeFilters),
  role: Type.Optional(
    Type.String({
      description:
        'Only users with this role, by key or id. In the list of all users, an empty value selects users without roles.',
    }),
  ),
  include_resource_instance_roles: Type.Optional(
    Type.Boolean({ description: 'Include roles on instances.' }),
  ),
}

export const UsersQuery = Type.Object({
  ...pagingQuery,
  ...holderFilters,
  search_operator: Type.Optional(
    Type.Union([Type.Literal('contains'), Type.Literal('startswith'), Type.Literal('endswith')], {
      default: 'contains',
      description: 'Fields in which `search` is applied.',
    }),
  ),
})
export type UsersQuery = Static<typeof UsersQuery>

export const TenantUsersQuery = Type.Object({ ...pagingQuery, ...holderFilters })
export type TenantUsersQuery = Static<typeof TenantUsersQuery>

export const UsersBulkCreate = Type.Object({
  operations: Type.Array(UserCreate, { maxItems: BULK_ELEMENTS_MAX }),
})
export type UsersBulkCreate = Static<typeof UsersBulkCreate>
