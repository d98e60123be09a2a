/** Users of a tenant (native.md B.6): a user belongs to a tenant by holding roles there. */
import type { WriteContext } from '#management/drafts/context.ts'
import { requireTenant, requireUser } from '#management/drafts/lookups.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { partsOf, removeAssignment } from './role-assignments.ts'
import { createUser } from './users.ts'
import { AuthzError } from '#model/errors.ts'
import type { User, UserCreate } from '#entities/user.ts'
import { lists } from '#store/keyspace/keyspace.ts'

/** Creates a user. Assignments without tenant and instance are in this tenant. */
export function createTenantUser(
  context: WriteContext,
  input: { readonly params: { readonly tenant_id: string }; readonly body: UserCreate },
): Resumable<User> {
  const tenant = requireTenant(context.records, input.params.tenant_id)
  const role_assignments = (input.body.role_assignments ?? []).map(wanted =>
    wanted.resource_instance || wanted.tenant ? wanted : { ...wanted, tenant: tenant.key },
  )
  return createUser(context, { body: { ...input.body, role_assignments } })
}

/**
 * Removes all roles that the user holds in the tenant, including those on instances. A commit does not
 * require lists to be unchanged. Therefore, assignments that are added during this operation count as added
 * after it, and stay.
 */
export function* removeTenantUser(
  context: WriteContext,
  input: { readonly params: { readonly tenant_id: string; readonly user_id: string } },
): Resumable<void> {
  const { records } = context
  const tenant = requireTenant(records, input.params.tenant_id)
  const user = requireUser(records, input.params.user_id)
  let removed = 0
  for (const assignment of records.list('assignment', lists.heldInTenant(tenant.id, user.id))) {
    removeAssignment(context, assignment, partsOf(records, assignment))
    if (++removed % YIELD_ROWS === 0) yield
  }
  if (removed === 0) {
    const names = `user ${JSON.stringify(user.key)} has no role in tenant ${JSON.stringify(tenant.key)}`
    throw new AuthzError('NOT_FOUND', names)
  }
}

export const writes = { createTenantUser, removeTenantUser }
