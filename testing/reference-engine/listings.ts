/** Reads what the permission listings need from the nodes of the plain-Map engine (contract A.4, A.5). */
import type { InstanceFilter, InstanceRoles, TenantFilter, TenantRoles, UserGrant } from '#engine/engine.ts'
import type { Attributes } from '#model/change.ts'
import { effectiveRoles } from './forward-search.ts'
import { findGoals } from './goals.ts'
import type { Instance, Role, Tenant, User } from './nodes.ts'
import { type Grants, type Schema, withExtended } from './schema.ts'

/** The accepted tenants in which the user holds a tenant role, at most `limit`. O(tenant roles + the user's). */
export function tenantRolesOf(
  schema: Schema,
  user: User,
  accepts: TenantFilter | null,
  limit: number,
): TenantRoles[] {
  const rolesByTenant = new Map<Tenant, Role[]>()
  for (const role of schema.tenantRoles.values()) {
    for (const scope of role.holders.rightsOf(user)) {
      const tenant = scope as Tenant
      if (accepts === null || accepts(tenant.key)) addTo(rolesByTenant, tenant, role, limit)
    }
  }
  return Array.from(rolesByTenant, ([tenant, roles]) => ({
    tenant: tenant.key,
    attributes: textOf(tenant.attributes),
    roles: roles.map(role => role.key),
    permissions: permissionsOf(roles),
  }))
}

/** The instances on which the user holds a role, at most `limit`. O(what the user reaches). */
export function instanceRolesOf(
  schema: Schema,
  user: User,
  filter: InstanceFilter,
  limit: number,
): InstanceRoles[] {
  const rolesByInstance = new Map<Instance, Role[]>()
  for (const [role, instances] of effectiveRoles(schema, user)) {
    for (const instance of instances) {
      if (isWanted(instance, filter)) addTo(rolesByInstance, instance, role, limit)
    }
  }
  return Array.from(rolesByInstance, ([{ type, key, tenant, attributes }, roles]) => ({
    instance: { type: type.key, key },
    tenant: tenant.key,
    attributes: textOf(attributes),
    roles: roles.map(role => role.key),
    actions: permissionsOf(roles).map(({ action }) => action),
  }))
}

function textOf(attributes: Attributes | null): string | null {
  return attributes === null ? null : JSON.stringify(attributes)
}

/** Adds the role to a known scope, or to a new one while there are fewer than `limit`. */
function addTo<Scope>(roles: Map<Scope, Role[]>, scope: Scope, role: Role, limit: number): void {
  const known = roles.get(scope)
  if (known) known.push(role)
  else if (roles.size < limit) roles.set(scope, [role])
}

function isWanted({ type, key, tenant }: Instance, { tenants, types, accepts }: InstanceFilter): boolean {
  if (tenants !== null && !tenants.has(tenant.key)) return false
  if (types !== null && !types.has(type.key)) return false
  return accepts === null || accepts({ type: type.key, key })
}

/** What any of the roles permits, with what they extend, each once. */
function permissionsOf(roles: readonly Role[]): { readonly type: string; readonly action: string }[] {
  const actionsByType = new Map<string, Set<string>>()
  for (const role of roles) {
    for (const granting of withExtended(role)) {
      for (const [type, actions] of granting.permissions) {
        const known = actionsByType.get(type.key) ?? new Set()
        actionsByType.set(type.key, known)
        for (const action of actions) known.add(action)
      }
    }
  }
  return Array.from(actionsByType).flatMap(([type, actions]) =>
    Array.from(actions, action => ({ type, action })),
  )
}

/** Every assignment that gives some user what the question asks for, at most `limit`. */
export function grantsOn(
  question: { readonly grants: Grants; readonly tenant: Tenant | null; readonly instance: Instance | null },
  limit: number,
): UserGrant[] {
  const { grants, tenant, instance } = question
  const found: UserGrant[] = []
  if (tenant !== null) {
    for (const role of grants.tenantRoles) {
      for (const user of role.holders.leftsOf(tenant)) {
        if (found.length === limit) return found
        found.push({ user: user.key, role: role.key, instance: null })
      }
    }
  }
  if (instance === null) return found
  const { goals, hasGuards } = findGoals(grants.resourceRoles, instance, null)
  const counting = hasGuards ? new CountingGoals(grants, instance) : null
  for (const goal of goals) {
    for (const user of goal.role.holders.leftsOf(goal.instance)) {
      if (counting && !counting.has(user, goal)) continue
      if (found.length === limit) return found
      const held = { type: goal.instance.type.key, key: goal.instance.key }
      found.push({ user: user.key, role: goal.role.key, instance: held })
    }
  }
  return found
}

/** Which goals count for which user, if guards matter. Computed once for each user. */
class CountingGoals {
  readonly #grants: Grants
  readonly #instance: Instance
  readonly #byUser = new Map<User, Map<Role, Set<Instance>>>()

  constructor(grants: Grants, instance: Instance) {
    this.#grants = grants
    this.#instance = instance
  }

  has(user: User, goal: { readonly role: Role; readonly instance: Instance }): boolean {
    return this.#of(user).get(goal.role)?.has(goal.instance) ?? false
  }

  #of(user: User): Map<Role, Set<Instance>> {
    const known = this.#byUser.get(user)
    if (known) return known
    const counting = new Map<Role, Set<Instance>>()
    for (const { role, instance } of findGoals(this.#grants.resourceRoles, this.#instance, user).goals) {
      counting.set(role, (counting.get(role) ?? new Set()).add(instance))
    }
    this.#byUser.set(user, counting)
    return counting
  }
}
