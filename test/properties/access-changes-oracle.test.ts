/** The access changes of random histories lead from each set of allowed pairs to the next one. */
import { describe, expect, test } from 'vitest'
import { AccessChanges, type AccessLimits, ACCESS_LIMITS } from '#engine/access-changes.ts'
import type { AccessChange } from '#model/access-change.ts'
import { Reach } from '#engine/shared-index/reach.ts'
import type { Change, Permission } from '#model/change.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import { type History, histories } from '#testing/oracle/random-history.ts'
import { historiesWithRules } from '#testing/oracle/random-rules.ts'
import { holdsFor, onceFor } from './seeded.ts'

const RUNS = 60
const SIZE = { commits: 12, queries: 1 }
const HISTORIES = { 'by roles': histories(SIZE), 'by roles and rules': historiesWithRules(SIZE) }

type Pairs = ReadonlySet<string>
const nameOf = (user: string, resource: string): string => JSON.stringify([user, resource])

interface Moment {
  readonly changes: readonly Change[]
  /** Pairs of a user and a resource that are allowed, for each permission. */
  readonly allowed: readonly Pairs[]
  readonly tenantOf: ReadonlyMap<string, string>
}

function permissionsOf({ load, commits }: History): Permission[] {
  const named = new Map<string, Permission>()
  for (const change of [load, ...commits].flat()) {
    if (change.kind !== 'type-put') continue
    for (const action of change.actions)
      named.set(JSON.stringify([change.type, action]), { type: change.type, action })
  }
  return [...named.values()]
}

/** Allowed pairs at each moment, from checks of all users on all instances. */
const rightMoments = onceFor((history: History): Moment[] => {
  const permissions = permissionsOf(history)
  const oracle = new Oracle()
  return [history.load, ...history.commits].map(changes => {
    oracle.apply(changes)
    const standing = oracle.currentFacts()
    const users = standing.flatMap(each => (each.kind === 'user-put' ? [each.user] : []))
    const instances = standing.flatMap(each => (each.kind === 'instance-put' ? [each] : []))
    const tenantOf = new Map(
      instances.map(({ instance, tenant }) => [JSON.stringify([instance.type, instance.key]), tenant]),
    )
    const allowed = permissions.map(({ type, action }) => {
      const pairs = instances
        .filter(({ instance }) => instance.type === type)
        .flatMap(({ instance: { key } }) =>
          users
            .filter(user => oracle.evaluate({ user, action, type, key, tenant: null }))
            .map(user => nameOf(user, key)),
        )
      return new Set(pairs)
    })
    return { changes, allowed, tenantOf }
  })
})

/** Applies access changes like a consumer. Reported scopes are listed again, from the expected pairs. */
function applied(
  before: Pairs,
  told: AccessChange,
  { allowed, tenantOf }: { allowed: Pairs; tenantOf: Moment['tenantOf'] },
): Pairs {
  const after = new Set(before)
  for (const { user, resource } of told.lost) after.delete(nameOf(user, resource))
  for (const { user, resource } of told.gained) after.add(nameOf(user, resource))
  for (const scope of told.many) {
    const isMeant = (name: string): boolean => {
      const [user, resource] = JSON.parse(name) as [string, string]
      const tenant = tenantOf.get(JSON.stringify([told.permission.type, resource]))
      // A deleted instance has no tenant here. A real consumer remembers the tenant.
      return (
        (scope.user === undefined || scope.user === user) &&
        (scope.resource === undefined || scope.resource === resource) &&
        (scope.tenant === undefined || tenant === undefined || scope.tenant === tenant)
      )
    }
    for (const name of after) if (isMeant(name)) after.delete(name)
    for (const name of allowed) if (isMeant(name)) after.add(name)
  }
  return after
}

function open(limits: AccessLimits) {
  const engine = new SharedEngine()
  const reach = new Reach(engine.writer.handle, { threadId: 3 })
  return new AccessChanges({ sink: engine, open: () => ({ engine, reach }) }, limits)
}

const LIMITS: Readonly<Record<string, AccessLimits>> = {
  'with the usual limits': ACCESS_LIMITS,
  'with limits that are soon reached': { reached: 3, questions: 12, reported: 2 },
}

describe.each(
  Object.entries(HISTORIES).flatMap(([by, each]) =>
    Object.entries(LIMITS).map(([name, limits]) => ({ by, name, each, limits })),
  ),
)('$by, $name', ({ each: usual, limits }) => {
  test('a consumer that applies access changes has the pairs that the oracle allows', () => {
    const met = { pairs: 0, many: 0 }
    const property = (history: History): void => {
      const permissions = permissionsOf(history)
      const access = open(limits)
      let sets: Pairs[] = permissions.map(() => new Set())
      for (const moment of rightMoments(history)) {
        const told = runAtOnce(access.apply(moment.changes, permissions))
        sets = permissions.map((permission, index) => {
          const change = told.find(each => each.permission === permission)
          if (!change) return sets[index]!
          met.pairs += change.gained.length + change.lost.length
          met.many += change.many.length
          const { allowed, tenantOf } = moment
          if (change.many.length === 0) {
            for (const { user, resource } of change.gained)
              expect(sets[index]!.has(nameOf(user, resource))).toBe(false)
            for (const { user, resource } of change.lost)
              expect(sets[index]!.has(nameOf(user, resource))).toBe(true)
          }
          return applied(sets[index]!, change, { allowed: allowed[index]!, tenantOf })
        })
        expect(sets.map(set => [...set].toSorted())).toEqual(moment.allowed.map(set => [...set].toSorted()))
      }
    }
    holdsFor(usual, { runs: RUNS, met, least: { pairs: 5, many: 5 } }, property)
  })
})
