/** Why the plain-Map engine decides as it does: names, roles, and a shortest path of facts. May be slow. */
import { type Explanation, type ExplanationStep, NO_RULES } from '#engine/explanation.ts'
import { holdsOnInstance } from './evaluate.ts'
import { holdsAnyDirectly } from './forward-search.ts'
import { findGoals, type Goal } from './goals.ts'
import type { Instance, ResourceType, Role, Tenant, User } from './nodes.ts'
import type { Grants } from './schema.ts'

/** A question with its names resolved; unknown ones are `undefined`. */
export interface ResolvedQuestion {
  readonly tenantKey: string
  readonly user: User | undefined
  readonly tenant: Tenant | undefined
  readonly type: ResourceType | undefined
  readonly instance: Instance | undefined
  readonly grants: Grants | undefined
  readonly isTenantMismatch: boolean
  readonly tenantRoles: readonly Role[]
}

export function explain(question: ResolvedQuestion): Explanation {
  const { user, tenant, type, instance, grants, isTenantMismatch } = question
  const path = user && grants && !isTenantMismatch ? pathOf(question, user, grants) : []
  return {
    allow: path.length > 0,
    isAllowedByRoles: path.length > 0,
    tenant: question.tenantKey,
    known: {
      user: user !== undefined,
      tenant: tenant !== undefined,
      type: type !== undefined,
      action: grants !== undefined,
      instance: instance !== undefined,
    },
    isTenantMismatch,
    tenantRoles: {
      held: user && tenant ? keysOf(question.tenantRoles, role => role.holders.has(user, tenant)) : [],
      allowing: keysOf(grants?.tenantRoles ?? [], () => true),
      isHeldAnywhere:
        user !== undefined && question.tenantRoles.some(role => role.holders.rightsOf(user).size > 0),
    },
    instanceRoles: {
      held: user && instance ? keysOf(instance.type.roles.values(), role => holds(user, role, instance)) : [],
      allowing: keysOf(grants?.resourceRoles ?? [], () => true),
    },
    path,
    rules: NO_RULES,
    isCutShort: false,
    steps: 0,
  }
}

function pathOf(question: ResolvedQuestion, user: User, grants: Grants): ExplanationStep[] {
  const { tenant, instance } = question
  if (tenant) {
    for (const role of grants.tenantRoles) {
      if (role.holders.has(user, tenant)) return [{ kind: 'tenant-role', tenant: tenant.key, role: role.key }]
    }
  }
  if (!instance) return []
  const { goals } = findGoals(grants.resourceRoles, instance, user)
  const nearest = goals.find(goal => goal.role.holders.has(user, goal.instance))
  return nearest ? stepsFrom(nearest, user) : []
}

/** The steps from the held goal to the question, along the goals it was found from. */
function stepsFrom(held: Goal, user: User): ExplanationStep[] {
  const steps: ExplanationStep[] = [
    { kind: 'instance-role', instance: nameOf(held.instance), role: held.role.key },
  ]
  for (let goal = held; goal.next !== null; goal = goal.next) {
    const { role, instance } = goal.next
    const from = goal
    // The same two instances may also be linked for a derivation that is void for this user.
    const isBlocked = holdsAnyDirectly(user, instance)
    const used = role.derivations.find(
      ({ source, relation, guarded }) =>
        source === from.role && relation.tuples.has(from.instance, instance) && !(guarded && isBlocked),
    )!
    steps.push({
      kind: 'derivation',
      subject: nameOf(from.instance),
      relation: used.relation.key,
      object: nameOf(instance),
      role: role.key,
      derivation: {
        role: used.source.key,
        onType: from.instance.type.key,
        relation: used.relation.key,
        guarded: used.guarded,
      },
    })
  }
  return steps
}

function holds(user: User, role: Role, instance: Instance): boolean {
  return holdsOnInstance(user, instance, { tenantRoles: new Set(), resourceRoles: new Set([role]) })
}

function nameOf(instance: Instance) {
  return { type: instance.type.key, key: instance.key }
}

function keysOf(roles: Iterable<Role>, isListed: (role: Role) => boolean): string[] {
  return Array.from(roles)
    .filter(isListed)
    .map(role => role.key)
}
