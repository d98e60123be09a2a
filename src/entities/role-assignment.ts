/** API schemas of role assignments (native.md B.8). */
import { Type, type Static } from 'typebox'
import { ASSIGNMENT_PAGE_SIZE_MAX, BULK_ELEMENTS_MAX } from '#model/limits.ts'
import {
  DetailFlag,
  expiryFilter,
  envelope,
  pageSize,
  pagingQuery,
  TotalCountFlag,
} from '#model/wire/paging.ts'
import { environmentPath, Reference } from '#model/wire/references.ts'
import { nullable, scopeFields, shownExpiry, Timestamp, Uuid } from '#model/wire/common-fields.ts'
import { schemasOf } from './entity.ts'
import { ResourceInstanceDetails } from './resource-instance.ts'
import { TenantDetails } from './tenant.ts'
import { assignedFields, USER, UserRoleAssignment } from './user.ts'

export const RoleAssignmentCreate = Type.Object({ user: Reference, ...UserRoleAssignment.properties })
export type RoleAssignmentCreate = Static<typeof RoleAssignmentCreate>

export const UserRoleRemoval = Type.Object(assignedFields)
export type UserRoleRemoval = Static<typeof UserRoleRemoval>

export const RoleAssignmentRemoval = Type.Object({ user: Reference, ...assignedFields })
export type RoleAssignmentRemoval = Static<typeof RoleAssignmentRemoval>

export const RoleAssignment = Type.Object({
  id: Uuid,
  user: Type.String(),
  role: Type.String(),
  tenant: Type.String(),
  resource_instance: nullable(Type.String()),
  user_id: Uuid,
  role_id: Uuid,
  tenant_id: Uuid,
  resource_instance_id: nullable(Uuid),
  ...scopeFields,
  created_at: Timestamp,
  ...shownExpiry,
})
export type RoleAssignment = Static<typeof RoleAssignment>

/** An assignment that contains the user, role, tenant and instance themselves instead of their keys. */
export const DetailedRoleAssignment = Type.Object({
  id: Uuid,
  user: Type.Object({ id: Uuid, key: Type.String(), ...schemasOf(USER, 'shown') }),
  role: Type.Object({
    id: Uuid,
    key: Type.String(),
    name: Type.String(),
    permissions: Type.Array(Type.String()),
  }),
  tenant: TenantDetails,
  resource_instance: nullable(ResourceInstanceDetails),
  ...scopeFields,
  created_at: Timestamp,
  ...shownExpiry,
})
export type DetailedRoleAssignment = Static<typeof DetailedRoleAssignment>

export const DetailedRoleAssignmentEnvelope = envelope(DetailedRoleAssignment)

export const RoleAssignmentList = Type.Union([
  Type.Array(RoleAssignment),
  Type.Array(DetailedRoleAssignment),
  envelope(RoleAssignment),
  DetailedRoleAssignmentEnvelope,
])

export const RoleAssignmentsPath = Type.Object(environmentPath)

function repeatable(meaning: string) {
  const references = Type.Array(Reference, {
    maxItems: ASSIGNMENT_PAGE_SIZE_MAX,
    description: `Can be repeated: ${meaning}`,
  })
  return Type.Optional(references)
}

const assignmentFilters = {
  ...pagingQuery,
  per_page: pageSize(ASSIGNMENT_PAGE_SIZE_MAX),
  user: repeatable('only assignments of these users.'),
  role: repeatable('only assignments of these roles.'),
  tenant: repeatable('only assignments in these tenants.'),
  /** Resource type of the instance. */
  resource: Type.Optional(Reference),
  resource_instance: Type.Optional(Reference),
  ...expiryFilter,
}

export const DetailedRoleAssignmentsQuery = Type.Object(assignmentFilters)
export type DetailedRoleAssignmentsQuery = Static<typeof DetailedRoleAssignmentsQuery>

export const RoleAssignmentsQuery = Type.Object({
  ...assignmentFilters,
  detailed: Type.Optional(DetailFlag),
  include_total_count: Type.Optional(TotalCountFlag),
})
export type RoleAssignmentsQuery = Static<typeof RoleAssignmentsQuery>

export const ReturnDeletedQuery = Type.Object({
  return_deleted: Type.Optional(
    Type.Boolean({ description: 'Return the deleted assignment, with status 200.' }),
  ),
})
export type ReturnDeletedQuery = Static<typeof ReturnDeletedQuery>

export const RoleAssignmentsBulk = Type.Array(RoleAssignmentCreate, { maxItems: BULK_ELEMENTS_MAX })
export type RoleAssignmentsBulk = Static<typeof RoleAssignmentsBulk>

export const RoleAssignmentsBulkRemoval = Type.Array(RoleAssignmentRemoval, { maxItems: BULK_ELEMENTS_MAX })
export type RoleAssignmentsBulkRemoval = Static<typeof RoleAssignmentsBulkRemoval>

export const RoleAssignmentsBulkQuery = Type.Object({
  missing_user_policy: Type.Optional(
    Type.Union([Type.Literal('fail'), Type.Literal('ignore'), Type.Literal('create')], {
      default: 'fail',
      description: 'Handling of users that do not exist.',
    }),
  ),
})
export type RoleAssignmentsBulkQuery = Static<typeof RoleAssignmentsBulkQuery>

export const AssignmentsCreated = Type.Object({ assignments_created: Type.Integer({ minimum: 0 }) })
export type AssignmentsCreated = Static<typeof AssignmentsCreated>
export const AssignmentsRemoved = Type.Object({ assignments_removed: Type.Integer({ minimum: 0 }) })
export type AssignmentsRemoved = Static<typeof AssignmentsRemoved>
