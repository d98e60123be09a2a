/** Bulk operations on role assignments (native.md B.8, D-26, D-27). */
import { type ElementPlace, forEachElement } from '#management/operations/bulk.ts'
import type { WriteContext } from '#management/drafts/context.ts'
import { findUser, requireUser } from '#management/drafts/lookups.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { addUser } from './users.ts'
import { AuthzError } from '#model/errors.ts'
import { LONG_KEY_BYTES_MAX } from '#model/limits.ts'
import type { UserRecord } from '#entities/records.ts'
import { isLongKey } from '#model/wire/references.ts'
import type {
  AssignmentsCreated,
  AssignmentsRemoved,
  RoleAssignmentsBulk,
  RoleAssignmentsBulkQuery,
  RoleAssignmentsBulkRemoval,
} from '#entities/role-assignment.ts'
import { checkTenantNamed, checkWanted, ensureRole, findHeld, removeAssignment } from './role-assignments.ts'

/**
 * Creates the missing assignments, and updates the expiration times of existing ones. Only new assignments
 * are counted.
 */
export function* assignRoles(
  context: WriteContext,
  input: { readonly body: RoleAssignmentsBulk; readonly query: RoleAssignmentsBulkQuery },
): Resumable<AssignmentsCreated> {
  const policy = input.query.missing_user_policy ?? 'fail'
  if (policy === 'create' && context.records.isLimited) {
    const message = 'this grant is limited to tenants and cannot create users: leave out missing_user_policy'
    throw new AuthzError('FORBIDDEN', message)
  }
  let created = 0
  yield* forEachElement(input.body, ['body'], (wanted, place) => {
    checkWanted(context, wanted, place)
    const user = userFor(context, wanted.user, policy, place)
    if (user && ensureRole(context, user, wanted)) created += 1
  })
  return { assignments_created: created }
}

/**
 * The user of an element. If the user is missing, the policy of the request decides: error, skip the element,
 * or create it.
 */
function userFor(
  context: WriteContext,
  reference: string,
  policy: 'fail' | 'ignore' | 'create',
  place: ElementPlace,
): UserRecord | null {
  const user = findUser(context.records, reference)
  if (user || policy === 'ignore') return user
  if (policy === 'fail') return requireUser(context.records, reference)
  if (isLongKey(reference)) return addUser(context, { key: reference })
  const msg = `to create a user, must be a key of 1 to ${LONG_KEY_BYTES_MAX} bytes without control characters`
  throw new AuthzError('INVALID_SHAPE', `user: ${msg}`, {
    detail: [{ loc: [...place, 'user'], msg, type: 'value_error' }],
  })
}

/** Removes the existing assignments. Assignments that do not exist are skipped and not counted. */
export function* unassignRoles(
  context: WriteContext,
  input: { readonly body: RoleAssignmentsBulkRemoval },
): Resumable<AssignmentsRemoved> {
  let removed = 0
  yield* forEachElement(input.body, ['body'], (wanted, place) => {
    checkTenantNamed(wanted, place)
    const held = findHeld(context, requireUser(context.records, wanted.user), wanted)
    if (!held) return
    removeAssignment(context, held.record, held.parts)
    removed += 1
  })
  return { assignments_removed: removed }
}

export const writes = { assignRoles, unassignRoles }
