/** Users in the form of responses, with the tenants in which they have roles (native.md B.7). */
import { presented } from '#entities/entity.ts'
import { presentIdentity, type ReadContext, type Scoped } from '#management/drafts/context.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { partsOf } from './role-assignments.ts'
import { presentExpiry } from '#management/drafts/fact-expiry.ts'
import { instanceKeyOf } from './resource-instances.ts'
import type { AssignmentRecord, UserRecord } from '#entities/records.ts'
import { type User, USER } from '#entities/user.ts'
import { lists } from '#store/keyspace/keyspace.ts'

/** The fields of a user, without the user's roles. */
export function presentUserFields({ scope }: Scoped, user: UserRecord) {
  return { ...presentIdentity(scope, user), ...presented(USER, user) }
}

type AssociatedTenant = User['associated_tenants'][number]

/**
 * O(the user's tenant roles), or with `hasInstanceRoles` O(all roles of the user). Tenants are in the order
 * in which the user got the first role there. Tenants in which the user has only roles on instances are
 * included if these are shown.
 */
export function* presentUser(
  context: ReadContext,
  user: UserRecord,
  hasInstanceRoles = false,
): Resumable<User> {
  const { records } = context
  const roles: User['roles'] = []
  const tenants = new Map<string, AssociatedTenant>()
  const held = hasInstanceRoles ? lists.assignmentsOfUser(user.id) : lists.tenantRolesOf(user.id)
  let rows = 0
  for (const { record, isDead } of records.foundIn('assignment', [held])) {
    if (!isDead) add(record)
    // The pause comes last: records that were read before a pause may no longer exist after it.
    if (++rows % YIELD_ROWS === 0) yield
  }
  return {
    ...presentUserFields(context, user),
    associated_tenants: [...tenants.values()],
    roles,
  }

  function add(assignment: AssignmentRecord): void {
    const { role, tenant, instance } = partsOf(records, assignment)
    let associated = tenants.get(tenant.key)
    if (!associated) {
      associated = { tenant: tenant.key, roles: [], status: 'active', resource_instance_roles: [] }
      tenants.set(tenant.key, associated)
    }
    if (instance) {
      const { type, key } = instanceKeyOf(records, instance)
      associated.resource_instance_roles.push({
        resource: type,
        resource_instance: key,
        role: role.key,
        ...presentExpiry(assignment),
      })
    } else {
      associated.roles.push(role.key)
      roles.push({ role: role.key, tenant: tenant.key, ...presentExpiry(assignment) })
    }
  }
}
