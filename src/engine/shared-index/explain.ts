/**
 * Why the decision is what it is: names, roles, and a shortest path of facts. May be slow. Reads without the lock:
 * what it says counts only after validation.
 */
import type { InstanceKey } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import type { Explanation, ExplanationStep } from '../explanation.ts'
import { lineOfBank } from './annexes.ts'
import type { BackwardWalk } from './backward-walk.ts'
import { holdsPlace } from './holdings.ts'
import { keysOf, tenantOf, typeOf } from './listings.ts'
import type { ListingParts } from './listings.ts'
import { isDead, keyText } from './records.ts'
import type { ActionView, TypeView } from './schema-view.ts'

/** A question with its names looked up; lines are 0 where the name is unknown. */
export interface PlacedQuestion {
  readonly query: Query
  readonly type: TypeView | undefined
  readonly action: ActionView | undefined
  readonly user: number
  /** Under the question's key, whatever the tenant. */
  readonly instance: number
  readonly tenant: number
  readonly isMismatch: boolean
}

/** O(what leads to the instance), once for each role of its type. */
export function explain(parts: ListingParts, backward: BackwardWalk, question: PlacedQuestion): Explanation {
  const { regions, schema } = parts
  const { query, type, action, user, tenant, isMismatch } = question
  const { graph } = regions
  const instance =
    question.instance !== 0 && !isDead(graph, tenantOf(graph, question.instance)) ? question.instance : 0
  const path =
    user !== 0 && action && !isMismatch ? pathOf(parts, backward, { ...question, instance, action }) : []
  const home = instance === 0 ? DEFAULT_TENANT : keyText(graph, tenantOf(graph, instance))
  return {
    allow: path.length > 0,
    tenant: query.tenant ?? home,
    known: {
      user: user !== 0,
      tenant: tenant !== 0,
      type: type !== undefined,
      action: action !== undefined,
      instance: instance !== 0,
    },
    isTenantMismatch: isMismatch,
    tenantRoles: {
      held: user === 0 || tenant === 0 ? [] : heldInTenant(parts, user, tenant),
      allowing: keysOf(schema.tenant, action?.tenantPlaces ?? []),
    },
    instanceRoles: {
      held: user === 0 || instance === 0 || !type ? [] : heldOn(parts, backward, user, instance, type),
      allowing: type ? keysOf(type, action?.rolePlaces ?? []) : [],
    },
    path,
  }
}

function heldInTenant({ regions, schema }: ListingParts, user: number, tenant: number): string[] {
  return schema.tenant.roleKeys.flatMap((key, place) =>
    key !== undefined && holdsInTenant(regions.graph, user, tenant, place) ? [key] : [],
  )
}

function holdsInTenant(graph: Int32Array, user: number, tenant: number, place: number): boolean {
  const line = lineOfBank(graph, tenant, place >>> 5)
  return line !== 0 && holdsPlace(graph, user, line, place)
}

/** The roles of the instance's type that the user holds on it, directly or derived. */
function heldOn(
  parts: ListingParts,
  backward: BackwardWalk,
  user: number,
  instance: number,
  type: TypeView,
): string[] {
  return type.roleKeys.flatMap((key, place) => {
    if (key === undefined) return []
    if (holdsPlace(parts.regions.graph, user, instance, place)) return [key]
    backward.run(instance, [place], user)
    return heldGoal(parts, backward, user) >= 0 ? [key] : []
  })
}

/** The first goal of the walk that the user holds, -1 if there is none. Goals come nearest first. */
function heldGoal({ regions }: ListingParts, backward: BackwardWalk, user: number): number {
  for (let goal = 0; goal < backward.length; goal++) {
    if (holdsPlace(regions.graph, user, backward.lineAt(goal), backward.placeAt(goal))) return goal
  }
  return -1
}

function pathOf(
  parts: ListingParts,
  backward: BackwardWalk,
  { user, tenant, instance, action }: PlacedQuestion & { action: ActionView },
): ExplanationStep[] {
  const { graph } = parts.regions
  for (const place of tenant === 0 ? [] : action.tenantPlaces) {
    if (!holdsInTenant(graph, user, tenant, place)) continue
    return [
      {
        kind: 'tenant-role',
        tenant: keyText(graph, tenant),
        role: parts.schema.tenant.roleKeys[place] ?? '',
      },
    ]
  }
  if (instance === 0) return []
  backward.run(instance, action.rolePlaces, user)
  // Nearest first, so the first one held begins a shortest path.
  const held = heldGoal(parts, backward, user)
  return held < 0 ? [] : stepsFrom(parts, backward, held)
}

/** From the goal the user holds along the goals it was found from, to the question. */
function stepsFrom(parts: ListingParts, backward: BackwardWalk, held: number): ExplanationStep[] {
  const { schema, regions } = parts
  const roleAt = (goal: number): string =>
    typeOf(schema, regions.graph, backward.lineAt(goal))?.roleKeys[backward.placeAt(goal)] ?? ''
  const steps: ExplanationStep[] = [
    { kind: 'instance-role', instance: nameOf(parts, backward.lineAt(held)), role: roleAt(held) },
  ]
  for (let goal = held; backward.nextOf(goal) >= 0; goal = backward.nextOf(goal)) {
    const next = backward.nextOf(goal)
    const subject = nameOf(parts, backward.lineAt(goal))
    const edgeClass = backward.edgeClassOf(goal)
    const relation = schema.relationKey(edgeClass)
    steps.push({
      kind: 'derivation',
      subject,
      relation,
      object: nameOf(parts, backward.lineAt(next)),
      role: roleAt(next),
      derivation: { role: roleAt(goal), onType: subject.type, relation, guarded: backward.isGuarded(goal) },
    })
  }
  return steps
}

function nameOf({ regions, schema }: ListingParts, line: number): InstanceKey {
  return { type: typeOf(schema, regions.graph, line)?.key ?? '', key: keyText(regions.graph, line) }
}
