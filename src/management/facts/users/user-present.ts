/** Users as answers show them, with the tenants they have roles in (native.md B.7). */
import { presentScope, presentTimes, type ReadContext } from '#management/commands/context.ts'
import { type Resumable, YIELD_ROWS } from '#management/commands/resumable.ts'
import { partsOf } from '#management/facts/assignments/role-assignments.ts'
import { presentEnd } from '#management/commands/fact-ends.ts'
import { instanceKeyOf } from '#management/facts/instances/resource-instances.ts'
import type { AssignmentRecord, UserRecord } from '#model/records.ts'
import type { User } from '#model/wire/user.ts'
import { lists } from '#store/keyspace/keyspace.ts'

type AssociatedTenant = User['associated_tenants'][number]

/**
 * O(the user's tenant roles), or with `hasInstanceRoles` O(all it holds). Tenants come in the order in which the user
 * got its first role there; one where it has roles on instances only is among them when those are shown.
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
    // The user is presented last: whatever was read before the stop may have been removed meanwhile.
    if (++rows % YIELD_ROWS === 0) yield
  }
  return {
    id: user.id,
    key: user.key,
    ...presentScope(context.scope),
    ...presentTimes(user),
    email: user.email,
    first_name: user.firstName,
    last_name: user.lastName,
    attributes: user.attributes,
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
        ...presentEnd(assignment),
      })
    } else {
      associated.roles.push(role.key)
      roles.push({ role: role.key, tenant: tenant.key, ...presentEnd(assignment) })
    }
  }
}
