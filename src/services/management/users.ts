/** Users (contract B.7). A user belongs to the environment; what it may do in a tenant is said by assignments. */
import { AuthzError } from '#model/errors.ts'
import type { UserRecord } from '#model/records.ts'
import type { User, UserCreate } from '#model/wire/user.ts'
import { lists, rowKeys } from '#store/keyspace.ts'
import { presentScope, presentTimes, type ReadContext, type WriteContext } from './context.ts'
import { assignRole, checkTenantNamed } from './role-assignments.ts'

export function createUser(context: WriteContext, input: { readonly body: UserCreate }): User {
  const { body } = input
  const assignments = body.role_assignments ?? []
  assignments.forEach((wanted, index) => checkTenantNamed(wanted, ['body', 'role_assignments', index]))
  const taken = context.records.get('user', rowKeys.user(body.key))
  const user: UserRecord = {
    kind: 'user',
    id: context.newId(),
    key: body.key,
    email: body.email ?? null,
    firstName: body.first_name ?? null,
    lastName: body.last_name ?? null,
    attributes: body.attributes ?? {},
    createdAt: context.now,
    updatedAt: context.now,
  }
  context.records.put(user, { kind: 'user-put', user: user.key })
  for (const wanted of assignments) assignRole(context, user, wanted)
  if (taken) throw new AuthzError('DUPLICATE_ENTITY', `there is a user ${JSON.stringify(body.key)} already`)
  return presentUser(context, user)
}

export function presentUser(context: ReadContext, user: UserRecord): User {
  const { records } = context
  const roles: User['roles'] = []
  for (const assignment of records.list('assignment', lists.tenantRolesOf(user.id))) {
    const role = records.byId('role', assignment.roleId)
    const tenant = records.byId('tenant', assignment.tenantId)
    // Rows of a deleted role or tenant may still await their purge.
    if (role && tenant) roles.push({ role: role.key, tenant: tenant.key })
  }
  const rolesByTenant = Map.groupBy(roles, ({ tenant }) => tenant)
  return {
    id: user.id,
    key: user.key,
    ...presentScope(context.scope),
    ...presentTimes(user),
    email: user.email,
    first_name: user.firstName,
    last_name: user.lastName,
    attributes: user.attributes,
    associated_tenants: [...rolesByTenant].map(([tenant, held]) => ({
      tenant,
      roles: held.map(({ role }) => role),
      status: 'active',
      resource_instance_roles: [],
    })),
    roles,
  }
}
