/** Why the plain-Map engine decides as it does: names, roles, and a shortest path of facts. May be slow. */
import { type Explanation, type ExplanationStep, NO_NEAR_MISSES, NO_RULES } from '#engine/explanation.ts'
import { holdsOnInstance } from './evaluate.ts'
import { findGoals, type Goal } from './goals.ts'
import { nearMissesOf } from './near-misses.ts'
import type { Instance, ResourceType, Role, Tenant, User } from './nodes.ts'
import type { Grants, Schema } from './schema.ts'
import { derivationSteps, nameOf } from './steps-told.ts'

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

export function explain(question: ResolvedQuestion, schema: Schema): Explanation {
  const { user, tenant, type, instance, grants, isTenantMismatch } = question
  const path = user && grants && !isTenantMismatch ? pathOf(question, user, grants) : []
  const isDenied = path.length === 0 && !isTenantMismatch
  const nearMisses =
    isDenied && user && instance && grants
      ? nearMissesOf(schema, { user, instance, roles: grants.resourceRoles })
      : NO_NEAR_MISSES
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
    nearMisses,
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
  const instance = nameOf(held.instance)
  return [{ kind: 'instance-role', instance, role: held.role.key }, ...derivationSteps(held, user)]
}

function holds(user: User, role: Role, instance: Instance): boolean {
  return holdsOnInstance(user, instance, { tenantRoles: new Set(), resourceRoles: new Set([role]) })
}

function keysOf(roles: Iterable<Role>, isListed: (role: Role) => boolean): string[] {
  return Array.from(roles)
    .filter(isListed)
    .map(role => role.key)
}
