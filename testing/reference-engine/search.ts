/**
 * The searches on the nodes of the plain-Map engine. They list exactly what the decision of contract A.2
 * allows, each thing once. `SmallestKeys` orders them and cuts pages.
 */
import type { KeyPage, PageRequest } from '#engine/engine.ts'
import { effectiveRoles } from './forward-search.ts'
import { findGoals } from './goals.ts'
import type { Instance, ResourceType, Tenant, User } from './nodes.ts'
import type { Grants, Schema } from './schema.ts'
import { SmallestKeys } from './smallest-keys.ts'

interface ResourceSearch {
  readonly user: User
  readonly type: ResourceType
  readonly grants: Grants
  /** Only instances of this tenant; `null`: of any. */
  readonly tenant: Tenant | null
}

/** O(what the user reaches + instances of the tenants in which a tenant role allows). */
export function searchResources(schema: Schema, search: ResourceSearch, page: PageRequest): KeyPage {
  const { user, type, grants, tenant } = search
  const found = new SmallestKeys(page)
  const wholeTenants = new Set<Tenant>()
  for (const role of grants.tenantRoles) {
    for (const scope of role.holders.rightsOf(user)) {
      if (tenant === null || scope === tenant) wholeTenants.add(scope as Tenant)
    }
  }
  for (const { instances } of wholeTenants) {
    for (const instance of instances) if (instance.type === type) found.add(instance.key)
  }
  const single = new Set<Instance>()
  const held = effectiveRoles(schema, user)
  for (const role of grants.resourceRoles) {
    for (const instance of held.get(role) ?? []) {
      if (tenant !== null && instance.tenant !== tenant) continue
      if (!wholeTenants.has(instance.tenant)) single.add(instance)
    }
  }
  for (const instance of single) found.add(instance.key)
  return found.page()
}

interface UserSearch {
  readonly grants: Grants
  readonly tenant: Tenant | null
  /** `null`: the question is about the type, or about an instance nobody has stored. */
  readonly instance: Instance | null
}

/** O(goals of the question and those who hold them; times the goals again where guards are met). */
export function searchUsers(search: UserSearch, page: PageRequest): KeyPage {
  const found = new SmallestKeys(page)
  for (const user of usersAllowed(search)) found.add(user.key)
  return found.page()
}

/** Each allowed user, once. */
export function usersAllowed({ grants, tenant, instance }: UserSearch): Set<User> {
  const allowed = new Set<User>()
  if (tenant !== null) {
    for (const role of grants.tenantRoles) {
      for (const user of role.holders.leftsOf(tenant)) allowed.add(user)
    }
  }
  if (instance === null) return allowed
  const { goals, hasGuards } = findGoals(grants.resourceRoles, instance, null)
  for (const goal of goals) {
    for (const user of goal.role.holders.leftsOf(goal.instance)) {
      if (!allowed.has(user) && (!hasGuards || reachesAnyGoal(user, grants, instance))) allowed.add(user)
    }
  }
  return allowed
}

function reachesAnyGoal(user: User, grants: Grants, instance: Instance): boolean {
  const { goals } = findGoals(grants.resourceRoles, instance, user)
  return goals.some(goal => goal.role.holders.has(user, goal.instance))
}
