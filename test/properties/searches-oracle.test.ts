/** Searches, listings and explanations are consistent with the oracle, in all pages and during changes. */
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KeyPage } from '#engine/engine.ts'
import type { ExplanationStep } from '#engine/explanation.ts'
import type { Query } from '#model/decision.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import { EXPLAIN_STEPS_MAX } from '#model/limits.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { ENGINES, STRAINED_ENGINES } from '../engine/engines.ts'
import { type History, histories } from '#testing/oracle/random-history.ts'
import { StateView } from '#testing/oracle/current-state.ts'
import { holdsFor, onceFor } from './seeded.ts'
import { expectWalk, momentsOf } from './walks.ts'
import {
  grantsOn,
  instanceRolesOf,
  type Page,
  searchResources,
  searchUsers,
  tenantRolesOf,
} from '#testing/engines/listed.ts'

const ALL: Page = { after: null, limit: 1_000 }

/** Keys, users and actions that the oracle allows for each query at each moment. */
const rightSearches = onceFor((history: History) =>
  Array.from(momentsOf(history), ({ world, oracle }) =>
    history.queries.map(query => {
      const { type } = query
      const [keys, actions] = [world.keysOf(type), world.actionsOf(type)]
      return {
        asked: { resources: keys.length, users: world.users.length, actions: actions.length },
        keys: keys.filter(key => oracle.evaluate({ ...query, key })),
        users: world.users.filter(user => oracle.evaluate({ ...query, user })),
        actions: actions.filter(action => oracle.evaluate({ ...query, action })).toSorted(compareUtf8),
      }
    }),
  ),
)

const rightListings = onceFor((history: History) =>
  Array.from(momentsOf(history), ({ world, oracle }) => ({
    users: world.users.map(user => ({
      user,
      held: unordered(world.instanceRolesOf(oracle.effectiveRoles(user))),
      inTenants: unordered(world.tenantRolesOf(user)),
    })),
    grants: history.queries.map(question =>
      unordered(world.grantsOn(question, user => oracle.evaluate({ ...question, user }))),
    ),
  })),
)

const rightDecisions = onceFor((history: History) =>
  Array.from(momentsOf(history), ({ world, oracle }) => ({
    world,
    decisions: history.queries.map(query => ({
      allow: oracle.evaluate(query),
      known: {
        user: world.users.includes(query.user),
        action: world.actionsOf(query.type).includes(query.action),
      },
      held: oracle
        .effectiveRoles(query.user)
        .filter(({ instance: { type, key } }) => type === query.type && key === query.key)
        .map(({ role }) => role)
        .toSorted(),
    })),
  })),
)

/** For each query: all keys and users of the history, and those that the oracle allows at each moment. */
const rightWalks = onceFor((history: History) => {
  const names = new StateView([...history.load, ...history.commits.flat()])
  const candidates = history.queries.map(({ type }) => ({ keys: names.keysOf(type), users: names.users }))
  const found = Array.from(momentsOf(history), ({ world, oracle }) =>
    history.queries.map((query, index) => {
      const stored = new Set(world.keysOf(query.type))
      const { keys, users } = candidates[index]!
      return {
        keys: new Set(keys.filter(key => stored.has(key) && oracle.evaluate({ ...query, key }))),
        users: new Set(users.filter(user => oracle.evaluate({ ...query, user }))),
      }
    }),
  )
  return { candidates, found }
})

describe.each([...ENGINES, ...STRAINED_ENGINES])('$name', ({ newEngine, share }) => {
  test('every search lists exactly what the oracle allows, in pages of every size', () => {
    const met = { asked: 0, found: 0 }
    const run = { runs: 90, share, met, least: { asked: 500, found: 50 } }
    holdsFor(histories({ commits: 5, queries: 8 }), run, history => {
      const engine = newEngine()
      const right = rightSearches(history)
      for (const [moment, changes] of [history.load, ...history.commits].entries()) {
        engine.apply(changes)
        for (const [index, { user, action, type, key, tenant }] of history.queries.entries()) {
          const { asked, keys, users, actions } = right[moment]![index]!
          expectPages(keys, page => searchResources(engine, { user, action, type, tenant }, page))
          expectPages(users, page => searchUsers(engine, { action, type, key, tenant }, page))
          expect(runAtOnce(engine.searchActions({ user, type, key, tenant }))).toEqual(actions)
          met.asked += asked.resources + asked.users + asked.actions
          met.found += keys.length + users.length + actions.length
        }
      }
    })
  })

  test('listings contain exactly the current roles, permissions and assignments', () => {
    const met = { entries: 0 }
    const run = { runs: 40, share, met, least: { entries: 50 } }
    holdsFor(histories({ commits: 3, queries: 3 }), run, history => {
      const engine = newEngine()
      const right = rightListings(history)
      for (const [moment, changes] of [history.load, ...history.commits].entries()) {
        engine.apply(changes)
        for (const { user, ...expected } of right[moment]!.users) {
          const any = { tenants: null, types: null, accepts: null }
          const held = instanceRolesOf(engine, user, any, 1_000).map(entry => ({
            ...entry,
            roles: entry.roles.toSorted(),
            actions: entry.actions.toSorted(),
          }))
          expect(unordered(held)).toEqual(expected.held)
          const inTenants = tenantRolesOf(engine, user, null, 1_000).map(
            ({ roles, permissions, ...entry }) => ({
              ...entry,
              roles: roles.toSorted(),
              permissions: unordered(permissions),
            }),
          )
          expect(unordered(inTenants)).toEqual(expected.inTenants)
          met.entries += held.length + inTenants.length
        }
        for (const [index, { user: _, ...question }] of history.queries.entries()) {
          const grants = grantsOn(engine, question, 1_000)
          expect(unordered(grants)).toEqual(right[moment]!.grants[index])
          expect([...new Set(grants.map(({ user }) => user))].toSorted(compareUtf8)).toEqual(
            searchUsers(engine, question, ALL).keys,
          )
          met.entries += grants.length
        }
      }
    })
  })

  test('an explanation has the decision, the held roles and a shortest path of facts, unless it was cut short', () => {
    const met = { explained: 0, derived: 0, held: 0, cutShort: 0 }
    const run = { runs: 60, share, met, least: { derived: 5, held: 20, cutShort: 2 } }
    holdsFor(histories({ commits: 4, queries: 12 }), run, history => {
      const engine = newEngine()
      const right = rightDecisions(history)
      for (const [moment, changes] of [history.load, ...history.commits].entries()) {
        engine.apply(changes)
        const { world, decisions } = right[moment]!
        for (const [index, query] of history.queries.entries()) {
          const expected = decisions[index]!
          const { allow, path, known, tenant, instanceRoles } = runAtOnce(
            engine.explain(query, EXPLAIN_STEPS_MAX),
          )
          expect(allow).toBe(expected.allow)
          expect(path.length > 0).toBe(allow)
          expect(known).toMatchObject(expected.known)
          expect(instanceRoles.held.toSorted()).toEqual(expected.held)
          met.held += expected.held.length
          const short = runAtOnce(engine.explain(query, 1 + (met.explained++ % 12)))
          expect(short.allow).toBe(allow)
          expect(instanceRoles.held).toEqual(expect.arrayContaining([...short.instanceRoles.held]))
          if (!short.isCutShort) expect(short.instanceRoles.held).toEqual(instanceRoles.held)
          if (short.path.length > 0) expectChain(world, query, tenant, short.path)
          else if (allow) expect(short.isCutShort).toBe(true)
          met.cutShort += Number(short.isCutShort)
          if (!allow) continue
          expectChain(world, query, tenant, path)
          met.derived += path.length - 1
        }
      }
    })
  })

  test('while facts change, the pages of a search list permanent results exactly once and impossible results never', () => {
    const met = { walked: 0 }
    const run = { runs: 80, share, met, least: { walked: 100 } }
    holdsFor(histories({ commits: 8, queries: 6 }), run, history => {
      const { candidates, found } = rightWalks(history)
      for (const [index, { user, action, type, key, tenant }] of history.queries.entries()) {
        const { keys, users } = candidates[index]!
        for (const limit of [1, 2, 3]) {
          const engine = newEngine()
          engine.apply(history.load)
          let moment = 0
          const next = (): void => {
            if (moment === history.commits.length) return
            engine.apply(history.commits[moment]!)
            moment += 1
          }
          met.walked += expectWalk({
            candidates: keys,
            isTrue: each => found[moment]![index]!.keys.has(each),
            pageAt: after => searchResources(engine, { user, action, type, tenant }, { after, limit }),
            next,
          })
          met.walked += expectWalk({
            candidates: users,
            isTrue: each => found[moment]![index]!.users.has(each),
            pageAt: after => searchUsers(engine, { action, type, key, tenant }, { after, limit }),
            next,
          })
        }
      }
    })
  })
})

test('the order of keys is that of their UTF-8 bytes', () => {
  const key = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }),
    fc.string({
      unit: fc.constantFrom('a', 'b', '\ud7ff', '\ue000', '\uffff', '😀', '\u{10ffff}'),
      maxLength: 3,
    }),
  )
  holdsFor(fc.uniqueArray(key, { maxLength: 40 }), 300, keys => {
    const ordered = keys.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
    expect(keys.toSorted(compareUtf8)).toEqual(ordered)
  })
})

/** Reads all pages, for every page size from one to one more than the number of results. */
function expectPages(expected: readonly string[], pageAt: (page: Page) => KeyPage): void {
  const ordered = expected.toSorted(compareUtf8)
  const total = ordered.length
  expectPage(pageAt({ after: null, limit: 0 }), { keys: [], hasMore: total > 0, last: null, total })
  for (let limit = 1; limit <= total + 1; limit += 1) {
    for (let start = 0; start === 0 || start < total; start += limit) {
      const after = start === 0 ? null : ordered[start - 1]!
      const keys = ordered.slice(start, start + limit)
      expectPage(pageAt({ after, limit }), {
        keys,
        hasMore: start + limit < total,
        last: keys.at(-1) ?? after,
        total,
      })
    }
  }
}

/** Compares one of about a million pages. A matcher would take ten times as long. */
function expectPage(page: KeyPage, right: KeyPage): void {
  if (!isDeepStrictEqual(page, right)) expect(page).toEqual(right)
}

/** Expects that each step is a current fact, continues the previous step, and that no path is shorter. */
function expectChain(
  world: StateView,
  query: Query,
  tenant: string,
  [first, ...steps]: readonly ExplanationStep[],
): void {
  const { user, action, type, key } = query
  if (first?.kind === 'tenant-role') {
    expect(steps).toEqual([])
    expect(first.tenant).toBe(tenant)
    expect(world.holds({ user, role: first.role, scope: { tenant } })).toBe(true)
    expect(world.permits(null, first.role, { type, action })).toBe(true)
    return
  }
  expect(first?.kind).toBe('instance-role')
  if (first?.kind !== 'instance-role') return
  expect(world.holds({ user, role: first.role, scope: { instance: first.instance } })).toBe(true)
  let at = { role: first.role, instance: first.instance }
  for (const step of steps) {
    expect(step.kind).toBe('derivation')
    if (step.kind !== 'derivation') return
    const { subject, relation, object, role, derivation } = step
    expect(subject).toEqual(at.instance)
    expect(derivation).toMatchObject({ role: at.role, onType: subject.type, relation })
    expect(world.has({ kind: 'tuple-put', subject, relation, object })).toBe(true)
    const declared = world.role(object.type, role)!.derivations
    expect(declared.some(entry => isDeepStrictEqual(entry, derivation))).toBe(true)
    expect(derivation.guarded && world.holdsAnyOn(user, object)).toBe(false)
    at = { role, instance: object }
  }
  expect(at.instance).toEqual({ type, key })
  expect(world.permits(type, at.role, { type, action })).toBe(true)
  const distances = world
    .reachedBy(user, world.directRolesOf(user))
    .filter(
      ({ instance, role }) =>
        isDeepStrictEqual(instance, at.instance) && world.permits(type, role, { type, action }),
    )
    .map(({ derivations }) => derivations)
  expect(steps.length).toBe(Math.min(...distances))
}

function unordered<Item>(items: readonly Item[]): Item[] {
  return items.toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))
}
