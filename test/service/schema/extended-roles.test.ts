/** Cache of the roles that a role extends, directly and indirectly. */
import { expect, test } from 'vitest'
import { EXTENDS_REACH_MAX } from '#model/limits.ts'
import type { RoleRecord } from '#entities/records.ts'
import { ExtendedRoles } from '#management/schema/extends/extended-roles.ts'
import { heldToSize } from '#management/schema/schema-size.ts'
import { updateTenantRole } from '#management/schema/tenant-roles.ts'
import { Random } from '#testing/data/random.ts'
import { RunningEnvironment } from '../../support/running-environment.ts'

function role(key: string, extended: readonly string[]): RoleRecord {
  const grantedTo = { id: `g-${key}`, guarded: false, entries: [] }
  const texts = { name: key, description: null, attributes: null, permissions: [] }
  const rest = { ...texts, grantedTo, createdAt: 0, updatedAt: 0 }
  return { kind: 'role', id: `id-${key}`, typeId: null, key, extends: extended, ...rest }
}

/** Traverses the roles without a cache. */
function walked(roles: ReadonlyMap<string, RoleRecord>, { extends: extended }: RoleRecord): Set<string> {
  const found = new Set(extended)
  for (const key of found) for (const other of roles.get(key)!.extends) found.add(other)
  return found
}

test('cached extended roles equal those of a plain traversal after any sequence of changes', () => {
  const random = new Random(7)
  const keys = Array.from({ length: 30 }, (_, n) => `r${n}`)
  const roles = new Map(keys.map(key => [key, role(key, [])]))
  const extended = new ExtendedRoles()
  for (let turn = 0; turn < 3_000; turn += 1) {
    const at = random.below(keys.length)
    const before = roles.get(keys[at]!)!
    if (random.below(3) > 0) {
      // A role extends only roles with a higher index, so that there is no cycle.
      const others = keys.slice(at + 1).filter(() => random.below(6) === 0)
      const after = role(before.key, others)
      extended.changed(before, after)
      roles.set(before.key, after)
    } else {
      const found = extended.of(before, key => roles.get(key)!)
      expect(new Set(found.keys())).toEqual(walked(roles, before))
    }
  }
})

test('the traversal of extended roles stops at one role more than the limit', () => {
  const keys = Array.from({ length: 3 * EXTENDS_REACH_MAX }, (_, n) => `r${n}`)
  const roles = new Map(keys.map((key, n) => [key, role(key, keys.slice(n + 1, n + 2))]))
  const found = new ExtendedRoles().of(roles.get('r0')!, key => roles.get(key) ?? null)
  expect(found.size).toBe(EXTENDS_REACH_MAX + 1)
})

test('a chain of extended roles is traversed once, and a new role that extends a role of the chain adds one read', () => {
  const chain = Array.from({ length: EXTENDS_REACH_MAX }, (_, n) => `c${n}`)
  const roles = new Map(chain.map((key, n) => [key, role(key, n > 0 ? [chain[n - 1]!] : [])]))
  const extended = new ExtendedRoles()
  let looks = 0
  const look = (key: string): RoleRecord | null => {
    looks += 1
    return roles.get(key) ?? null
  }
  const last = roles.get(chain.at(-1)!)!
  for (let n = 0; n < 10_000; n += 1) {
    expect(extended.of(last, look).size).toBe(chain.length - 1)
    // Changes another role, which no role extends.
    extended.changed(role(`x${n}`, []), role(`x${n}`, [last.key]))
  }
  expect(looks).toBe(chain.length - 1)
  extended.of(role('x', [last.key]), look)
  expect(looks).toBe(chain.length)
})

test('only one of two concurrent changes commits if they exceed the limit of extended roles together', async () => {
  const environment = await RunningEnvironment.open()
  const half = Math.ceil(EXTENDS_REACH_MAX / 2)
  const chain = (prefix: string) =>
    Array.from({ length: half }, (_, n) => ({
      key: `${prefix}${n}`,
      extends: n + 1 < half ? [`${prefix}${n + 1}`] : [],
    }))
  const ends = [{ key: 'left' }, { key: 'right' }, { key: 'both', extends: ['left', 'right'] }]
  const operations = [...chain('l'), ...chain('r'), ...ends].map(each => ({ name: 'X', ...each }))
  await environment.execute('putRolesInBulk', { body: { operations } })
  const extend = (key: string, extended: string) =>
    heldToSize(context =>
      updateTenantRole(context, { params: { role_id: key }, body: { extends: [extended] } }),
    )
  const outcomes = await environment.onOneState(extend('left', 'l0'), extend('right', 'r0'))
  expect(outcomes).toEqual([true, false])
})
