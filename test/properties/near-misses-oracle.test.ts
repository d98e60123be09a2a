/** Near misses of explanations against the oracle, over random models and histories. */
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type DerivationStep, NEAR_MISSES_MAX, type NearMiss } from '#engine/explanation.ts'
import type { InstanceKey } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { EXPLAIN_STEPS_MAX } from '#model/limits.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { type EffectiveRole, Oracle } from '#testing/oracle/oracle.ts'
import { type History, histories } from '#testing/oracle/random-history.ts'
import { StateView } from '#testing/oracle/current-state.ts'
import { ENGINES, STRAINED_ENGINES } from '../engine/engines.ts'
import { holdsFor, onceFor } from './seeded.ts'
import { momentsOf } from './walks.ts'

/** Number of near misses of each kind, and number of checks. */
const met = { 'other-role': 0, guard: 0, 'no-tuple': 0, checks: 0 }

/** A near miss without its path, because any of several equally short paths can be reported. */
type Expected =
  | {
      readonly kind: 'other-role'
      readonly instance: InstanceKey
      readonly distance: number
      readonly needed: readonly string[]
      readonly held: readonly (readonly [role: string, extendsNeeded: boolean])[]
    }
  | {
      readonly kind: 'guard'
      readonly instance: InstanceKey
      readonly distance: number
      readonly blocking: readonly string[]
    }
  | { readonly kind: 'no-tuple'; readonly relation: string; readonly distance: number }

/** Distance of a near miss without a path, so that it is sorted last. */
const NOWHERE = Infinity

/** Near misses of each query at each moment, computed from all facts. */
const rightNearMisses = onceFor((history: History) =>
  Array.from(momentsOf(history), ({ world, oracle }) => ({
    world,
    of: history.queries.map(query => expectedOf(world, oracle, query)),
  })),
)

function expectedOf(world: StateView, oracle: Oracle, query: Query): Expected[] {
  const { user, action, type, key } = query
  const asked = key === null ? null : { type, key }
  if (asked === null || world.tenantOf(asked) === undefined) return []
  const effective = oracle.effectiveRoles(user)
  const isHeld = (on: InstanceKey, role: string) =>
    effective.some(held => held.role === role && isDeepStrictEqual(held.instance, on))
  /** Number of derivations from a role to a role that allows the action. */
  const distanceFrom = (start: EffectiveRole): number => {
    const allowing = world
      .reachedBy(user, [start])
      .filter(
        ({ instance, role }) =>
          isDeepStrictEqual(instance, asked) && world.permits(type, role, { type, action }),
      )
    return Math.min(NOWHERE, ...allowing.map(({ derivations }) => derivations))
  }
  const expected: Expected[] = []
  for (const instance of world.instances) {
    const roles = world.rolesOf(instance.type)
    const distances = new Map(roles.map(role => [role, distanceFrom({ instance, role })]))
    const distance = Math.min(NOWHERE, ...distances.values())
    const held = roles.filter(role => isHeld(instance, role))
    if (isDeepStrictEqual(instance, asked) || distance === NOWHERE || held.length === 0) continue
    const needed = roles.filter(role => distances.get(role) === distance).toSorted()
    const extendsNeeded = (role: string) =>
      world.withExtended(instance.type, [role]).some(extended => needed.includes(extended))
    const heldThere = held.map(role => [role, extendsNeeded(role)] as const).toSorted()
    expected.push({ kind: 'other-role', instance, distance, needed, held: heldThere })
  }
  for (const instance of world.instances) {
    const blocking = world.directRolesOf(user).filter(held => isDeepStrictEqual(held.instance, instance))
    if (blocking.length === 0) continue
    const distances = world.derivationsInto(instance).flatMap(({ subject, derivation, role }) => {
      const isVoid = derivation.guarded && isHeld(subject, derivation.role)
      return isVoid ? [1 + distanceFrom({ instance, role })] : []
    })
    const distance = Math.min(NOWHERE, ...distances)
    if (distance === NOWHERE) continue
    expected.push({
      kind: 'guard',
      instance,
      distance,
      blocking: blocking.map(({ role }) => role).toSorted(),
    })
  }
  const related = new Set(world.derivationsInto(asked).map(({ derivation }) => derivation.relation))
  const unrelated = world.rolesOf(type).flatMap(role =>
    world
      .role(type, role)!
      .derivations.filter(
        ({ relation, guarded, onType, role: source }) =>
          world.permits(type, role, { type, action }) &&
          !related.has(relation) &&
          !world.tuplesInto(asked).some(tuple => tuple.relation === relation) &&
          !(guarded && world.holdsAnyOn(user, asked)) &&
          world
            .directRolesOf(user)
            .some(
              held =>
                held.role === source &&
                held.instance.type === onType &&
                !isDeepStrictEqual(held.instance, asked) &&
                world.tenantOf(held.instance) === world.tenantOf(asked),
            ),
      )
      .map(({ relation }) => relation),
  )
  for (const relation of new Set(unrelated)) expected.push({ kind: 'no-tuple', relation, distance: NOWHERE })
  return expected
}

/** Converts a near miss for the comparison with expected ones. */
function comparable(miss: NearMiss): Expected {
  if (miss.kind === 'no-tuple')
    return { kind: miss.kind, relation: miss.derivation.relation, distance: NOWHERE }
  const { kind, instance, path } = miss
  if (kind === 'guard') return { kind, instance, distance: path.length, blocking: miss.blocking }
  const held = miss.held.map(({ role, extendsNeeded }) => [role, extendsNeeded] as const)
  return { kind, instance, distance: path.length, needed: miss.needed, held: held.toSorted() }
}

/** Near misses found in few steps are correct, but can lack some of the needed roles. */
function expectPart(found: Expected, expected: readonly Expected[]): void {
  if (found.kind !== 'other-role') return expect(expected).toContainEqual(found)
  const { needed, held, ...rest } = found
  const whole = expected.find(each => isDeepStrictEqual(each, { ...each, ...rest }))
  expect(whole).toMatchObject({ needed: expect.arrayContaining([...needed]) })
  const namesOf = (roles: typeof held) => roles.map(([role]) => role)
  expect(whole?.kind === 'other-role' && namesOf(whole.held)).toEqual(namesOf(held))
}

/** Expects a path of current facts and derivations. A guard can block only the first derivation. */
function expectWay(world: StateView, query: Query, miss: NearMiss): void {
  const { user, action, type, key } = query
  if (miss.kind === 'no-tuple') {
    expect(miss.instance).toEqual({ type, key })
    expect(world.role(type, miss.role)!.derivations).toContainEqual(miss.derivation)
    const { role } = miss.derivation
    expect(world.holds({ user, role, scope: { instance: miss.heldOn } })).toBe(true)
    return
  }
  const [first] = miss.path
  if (miss.kind === 'guard') expect(first!.object).toEqual(miss.instance)
  else expect([miss.instance, miss.needed.includes(first!.derivation.role)]).toEqual([first!.subject, true])
  let at: Pick<DerivationStep, 'object' | 'role'> = { object: first!.subject, role: first!.derivation.role }
  for (const [index, { subject, relation, object, role, derivation }] of miss.path.entries()) {
    expect([subject, derivation.role, derivation.relation]).toEqual([at.object, at.role, relation])
    expect(world.has({ kind: 'tuple-put', subject, relation, object })).toBe(true)
    expect(world.role(object.type, role)!.derivations).toContainEqual(derivation)
    const isVoid = miss.kind === 'guard' && index === 0
    expect(derivation.guarded && world.holdsAnyOn(user, object)).toBe(isVoid)
    at = { object, role }
  }
  expect(at.object).toEqual({ type, key })
  expect(world.permits(type, at.role, { type, action })).toBe(true)
}

describe.each([...ENGINES, ...STRAINED_ENGINES])('$name', ({ newEngine, share }) => {
  test('near misses of a deny are complete, nearest first, each with a path of current facts', () => {
    const run = { runs: 60, share, met, least: { 'other-role': 10, 'no-tuple': 10 } }
    holdsFor(histories({ commits: 3, queries: 10 }), run, history => {
      const engine = newEngine()
      const right = rightNearMisses(history)
      for (const [moment, changes] of [history.load, ...history.commits].entries()) {
        engine.apply(changes)
        const { world, of } = right[moment]!
        for (const [index, query] of history.queries.entries()) {
          const { isAllowedByRoles, isTenantMismatch, known, nearMisses } = runAtOnce(
            engine.explain(query, EXPLAIN_STEPS_MAX),
          )
          const isLookedFor = !isAllowedByRoles && !isTenantMismatch && known.user && known.action
          const expected = isLookedFor ? of[index]! : []
          const found = nearMisses.found.map(comparable)
          const distances = expected.map(({ distance }) => distance).toSorted((a, b) => a - b)
          expect(found.map(({ distance }) => distance)).toEqual(distances.slice(0, NEAR_MISSES_MAX))
          for (const miss of found) expect(expected).toContainEqual(miss)
          expect(new Set(found.map(miss => JSON.stringify(miss))).size).toBe(found.length)
          expect(nearMisses.hasMore).toBe(expected.length > NEAR_MISSES_MAX)
          const short = runAtOnce(engine.explain(query, 1 + (met.checks++ % 30))).nearMisses
          for (const miss of short.found) expectPart(comparable(miss), expected)
          if (!short.hasMore) expect(short.found).toHaveLength(found.length)
          for (const miss of nearMisses.found) {
            expectWay(world, query, miss)
            met[miss.kind] += 1
          }
        }
      }
    })
  })
})
