/** What would have allowed a question that roles deny, but for one thing, in the plain-Map engine. May be slow. */
import {
  NEAR_MISS_ROLES_MAX,
  NEAR_MISS_STEPS_MAX,
  NEAR_MISSES_MAX,
  type NearMiss,
  type NearMisses,
} from '#engine/explanation.ts'
import { compareUtf8 } from '#model/utf8-order.ts'
import { effectiveRoles, holdsAnyDirectly, type HeldRoles } from './forward-search.ts'
import { findGoals, type Goal } from './goals.ts'
import type { Instance, Role, User } from './nodes.ts'
import { type Schema, withExtended } from './schema.ts'
import { derivationSteps, nameOf } from './steps-told.ts'

interface DeniedQuestion {
  readonly user: User
  readonly instance: Instance
  /** The roles on the instance that allow. */
  readonly roles: ReadonlySet<Role>
}

type Found = readonly [distance: number, NearMiss]

export function nearMissesOf(schema: Schema, question: DeniedQuestion): NearMisses {
  const { user, instance, roles } = question
  const held = effectiveRoles(schema, user)
  const { goals } = findGoals(roles, instance, user)
  const all = [...otherRoles(goals, question, held), ...blocked(goals, user, held)]
  const near = all.filter(([distance]) => distance <= NEAR_MISS_STEPS_MAX)
  const found = [
    ...near.toSorted(([left], [right]) => left - right).map(([, miss]) => miss),
    ...notRelated(question),
  ]
  return {
    found: found.slice(0, NEAR_MISSES_MAX),
    hasMore: near.length < all.length || found.length > NEAR_MISSES_MAX,
  }
}

function otherRoles(goals: readonly Goal[], { user, instance }: DeniedQuestion, held: HeldRoles): Found[] {
  const found = new Map<Instance, Found>()
  for (const goal of goals) {
    const on = goal.instance
    const there = [...on.type.roles.values()].filter(role => held.get(role)?.has(on))
    if (on === instance || found.has(on) || there.length === 0) continue
    const distance = distanceOf(goal)
    const needed = goals
      .filter(other => other.instance === on && distanceOf(other) === distance)
      .map(({ role }) => role)
    const heldThere = there.map(role => ({
      role: role.key,
      extendsNeeded: [...withExtended(role)].some(extended => needed.includes(extended)),
    }))
    const byUse = heldThere.toSorted(
      (left, right) =>
        Number(right.extendsNeeded) - Number(left.extendsNeeded) || compareUtf8(left.role, right.role),
    )
    found.set(on, [
      distance,
      {
        kind: 'other-role',
        instance: nameOf(on),
        needed: keysOf(needed),
        held: byUse.slice(0, NEAR_MISS_ROLES_MAX),
        path: derivationSteps(goal, user),
      },
    ])
  }
  return [...found.values()]
}

function blocked(goals: readonly Goal[], user: User, held: HeldRoles): Found[] {
  const found = new Map<Instance, Found>()
  for (const goal of goals) {
    const { instance } = goal
    if (!holdsAnyDirectly(user, instance)) continue
    for (const { source, relation, guarded } of goal.role.derivations) {
      const subject = [...relation.tuples.leftsOf(instance)].find(each => held.get(source)?.has(each))
      if (!guarded || !subject || found.has(instance)) continue
      const direct = [...instance.type.roles.values()].filter(role => role.holders.has(user, instance))
      const derivation = {
        role: source.key,
        onType: subject.type.key,
        relation: relation.key,
        guarded: true,
      }
      const step = {
        kind: 'derivation',
        subject: nameOf(subject),
        relation: relation.key,
        object: nameOf(instance),
        role: goal.role.key,
        derivation,
      } as const
      found.set(instance, [
        1 + distanceOf(goal),
        {
          kind: 'guard',
          instance: nameOf(instance),
          blocking: keysOf(direct),
          path: [step, ...derivationSteps(goal, user)],
        },
      ])
    }
  }
  return [...found.values()]
}

/** One for each relation of which the instance has no tuple. */
function notRelated({ user, instance, roles }: DeniedQuestion): NearMiss[] {
  const isBlocked = holdsAnyDirectly(user, instance)
  const found = new Map<unknown, NearMiss>()
  for (const role of roles) {
    for (const { source, relation, guarded } of role.derivations) {
      if (relation.tuples.leftsOf(instance).size > 0 || (guarded && isBlocked)) continue
      const heldOn = [...(source.holders.rightsOf(user) as ReadonlySet<Instance>)].find(
        each => each !== instance && each.tenant === instance.tenant,
      )
      if (!heldOn || found.has(relation)) continue
      found.set(relation, {
        kind: 'no-tuple',
        instance: nameOf(instance),
        role: role.key,
        derivation: { role: source.key, onType: heldOn.type.key, relation: relation.key, guarded },
        heldOn: nameOf(heldOn),
      })
    }
  }
  return [...found.values()]
}

function distanceOf(goal: Goal): number {
  let distance = 0
  for (let at = goal.next; at !== null; at = at.next) distance += 1
  return distance
}

function keysOf(roles: readonly Role[]): string[] {
  return roles
    .map(({ key }) => key)
    .toSorted(compareUtf8)
    .slice(0, NEAR_MISS_ROLES_MAX)
}
