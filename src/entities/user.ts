/** API schemas of users (native.md B.7, B.11). */
import { Type, type Static } from 'typebox'
import { BULK_ELEMENTS_MAX, TEXT_LENGTH_MAX } from '#model/limits.ts'
import { AttributeFilters, envelope, pagingQuery, SearchText } from '#model/wire/paging.ts'
import {
  AttributeMap,
  endField,
  identityFields,
  optional,
  shownExpiry,
  Text,
} from '#model/wire/common-fields.ts'
import { environmentPath, InstanceReference, LongKey, Reference } from '#model/wire/references.ts'
import { defaultedField, nullableField, schemasOf } from './entity.ts'

/**
 * An e-mail address. The schema only checks that it has two parts, because mail servers decide which
 * addresses are valid.
 */
const EmailAddress = Type.String({
  maxLength: TEXT_LENGTH_MAX,
  pattern: '^[^@ ]+@[^@ ]+$',
  description: 'An e-mail address.',
})

/** Declared fields of users. In stored order: append only. */
export const USER = {
  email: nullableField('email', Text, { sent: EmailAddress, isSearched: true }),
  first_name: nullableField('firstName', Text, { file: Type.String(), isSearched: true }),
  last_name: nullableField('lastName', Text, { file: Type.String(), isSearched: true }),
  attributes: defaultedField('attributes', AttributeMap, {}),
}

/** Members that identify an assignment of a user. The expiration time is not one of them. */
export const assignedFields = {
  role: Reference,
  tenant: optional(
    Reference,
    'Tenant of a tenant role, which requires it. For a role on an instance: optional, the tenant of that instance.',
  ),
  resource_instance: optional(
    InstanceReference,
    'Instance of a resource role, as `type:key` or by its id. Absent: a tenant role.',
  ),
}

/** An assignment within the body that creates its user. */
export const UserRoleAssignment = Type.Object({ ...assignedFields, ...endField })
export type UserRoleAssignment = Static<typeof UserRoleAssignment>

export const UserCreate = Type.Object({
  key: LongKey,
  ...schemasOf(USER, 'create'),
  role_assignments: optional(Type.Array(UserRoleAssignment, { maxItems: BULK_ELEMENTS_MAX })),
})
export type UserCreate = Static<typeof UserCreate>

export const UserUpdate = Type.Object(schemasOf(USER, 'update'))
export type UserUpdate = Static<typeof UserUpdate>

export const User = Type.Object({
  ...identityFields(LongKey),
  ...schemasOf(USER, 'shown'),
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
