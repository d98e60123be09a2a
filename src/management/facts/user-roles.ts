/** Operations on the role assignments of one user (native.md B.7). */
import type { WriteContext } from '#management/drafts/context.ts'
import { requireUser } from '#management/drafts/lookups.ts'
import { assignRole, checkTenantNamed, checkWanted, unassignRole } from './role-assignments.ts'
import type { ReturnDeletedQuery, RoleAssignment, UserRoleRemoval } from '#entities/role-assignment.ts'
import type { UserRoleAssignment } from '#entities/user.ts'
import type { UserParams } from './users.ts'

export function assignUserRole(
  context: WriteContext,
  input: { readonly params: UserParams; readonly body: UserRoleAssignment },
): RoleAssignment {
  checkWanted(context, input.body, ['body'])
  return assignRole(context, requireUser(context.records, input.params.user_id), input.body)
}

/** Returns the removed assignment if the caller requests it. */
export function unassignUserRole(
  context: WriteContext,
  input: {
    readonly params: UserParams
    readonly body: UserRoleRemoval
    readonly query: ReturnDeletedQuery
  },
): RoleAssignment | undefined {
  checkTenantNamed(input.body, ['body'])
  const user = requireUser(context.records, input.params.user_id)
  const removed = unassignRole(context, user, input.body)
  return input.query.return_deleted ? removed : undefined
}

export const writes = { assignUserRole, unassignUserRole }
