/** 10,000 tenant roles (`TENANT_ROLES_MAX`): 2,048 in the line of a tenant, the rest in overflow lines. */
import { describe, expect, test } from 'vitest'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { EXPLAIN_STEPS_MAX, TENANT_ROLES_MAX } from '#model/limits.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import {
  assign,
  assignInTenant,
  instance,
  removed,
  resourceType,
  role,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'
import { grantsOn, searchResources, searchUsers, tenantRolesOf } from '#testing/engines/listed.ts'
import { evaluateAll, packed } from '#testing/engines/packed.ts'
import { SharedEngine, restoredWriter } from '#testing/engines/shared-engine.ts'
import { World } from '../world.ts'

const LAST = TENANT_ROLES_MAX - 1
/** Role indexes on both sides of each boundary between two lines of a tenant. */
const ROLE_INDEXES = [0, 2_047, 2_048, 4_095, 4_096, 6_144, 8_191, 8_192, LAST]
const ACTIONS = ROLE_INDEXES.map(roleIndex => `a${roleIndex}`)
const ROLES = Array.from({ length: TENANT_ROLES_MAX }, (_, roleIndex) =>
  tenantRole(`r${roleIndex}`, ROLE_INDEXES.includes(roleIndex) ? { can: [`document:a${roleIndex}`] } : {}),
)
const GROUND = [
  tenant('default'),
  tenant('acme'),
  resourceType('document', ...ACTIONS),
  role('document', 'reader', { can: ACTIONS }),
  instance('document:d'),
  instance('document:a', 'acme'),
  ...ROLE_INDEXES.map(roleIndex => user(`u${roleIndex}`)),
  user('none'),
]

function heldByEach(inTenant = 'default') {
  return ROLE_INDEXES.map(roleIndex => assignInTenant(`u${roleIndex}`, `r${roleIndex}`, inTenant))
}

function allowed(world: World, on = 'document:d'): string[] {
  const users = [...ROLE_INDEXES.map(roleIndex => `u${roleIndex}`), 'none']
  return users.flatMap(name =>
    ACTIONS.filter(action => world.can(name, action, on)).map(action => `${name} ${action}`),
  )
}

const EACH_ITS_OWN = ROLE_INDEXES.map(roleIndex => `u${roleIndex} a${roleIndex}`)

describe('10,000 tenant roles', () => {
  const engine = new SharedEngine()
  const world = new World(engine, ...GROUND, ...ROLES)

  test('are distinguished from each other in single, bulk and packed checks', () => {
    world.apply(...heldByEach())
    expect(allowed(world)).toEqual(EACH_ITS_OWN)
    expect(allowed(world, 'document:a')).toEqual([])
    const queries = ROLE_INDEXES.flatMap(roleIndex =>
      ACTIONS.map(action => ({ user: `u${roleIndex}`, action, type: 'document', key: 'd', tenant: null })),
    )
    const expected = queries.map(query => query.user.slice(1) === query.action.slice(1))
    expect(evaluateAll(engine, queries)).toEqual(expected)
    expect([...engine.evaluateAll(packed(queries))]).toEqual(expected.map(Number))
  })

  test.each(ROLE_INDEXES)('are found by every search, listing and explanation: role %i', roleIndex => {
    const [name, action, roleKey] = [`u${roleIndex}`, `a${roleIndex}`, `r${roleIndex}`]
    const page = { after: null, limit: 10 }
    const on = { action, type: 'document', key: 'd', tenant: null }
    expect(searchUsers(engine, on, page).keys).toEqual([name])
    expect(
      searchResources(engine, { user: name, action, type: 'document', tenant: null }, page).keys,
    ).toEqual(['d'])
    expect(runAtOnce(engine.searchActions({ user: name, type: 'document', key: 'd', tenant: null }))).toEqual(
      [action],
    )
    expect(tenantRolesOf(engine, name, null, 10)).toEqual([
      { tenant: 'default', attributes: null, roles: [roleKey], permissions: [{ type: 'document', action }] },
    ])
    expect(grantsOn(engine, on, 10)).toEqual([{ user: name, role: roleKey, instance: null }])
    expect(runAtOnce(engine.explain({ user: name, ...on }, EXPLAIN_STEPS_MAX))).toMatchObject({
      allow: true,
      tenantRoles: { held: [roleKey], allowing: [roleKey] },
      path: [{ kind: 'tenant-role', tenant: 'default', role: roleKey }],
    })
  })

  test('can be held by a user on each line, and revoking one role does not revoke the other roles', () => {
    world.apply(...ROLE_INDEXES.map(roleIndex => assignInTenant('none', `r${roleIndex}`, 'acme')))
    expect(allowed(world, 'document:a')).toEqual(ACTIONS.map(action => `none ${action}`))
    const rows = tenantRolesOf(engine, 'none', null, 10)
    expect(rows.map(({ tenant: where, roles }) => [where, roles.toSorted()])).toEqual([
      ['acme', ROLE_INDEXES.map(roleIndex => `r${roleIndex}`).toSorted()],
    ])
    world.apply(removed(assignInTenant('none', 'r8191', 'acme')))
    expect(allowed(world, 'document:a')).toEqual(
      ACTIONS.filter(action => action !== 'a8191').map(action => `none ${action}`),
    )
    world.apply(removed(user('none')), user('none'))
    expect(allowed(world, 'document:a')).toEqual([])
  })

  test('keep their holders, except for a role that is removed and created again', () => {
    world.apply(removed(ROLES[8_192]!), ROLES[8_192]!)
    expect(allowed(world)).toEqual(EACH_ITS_OWN.filter(each => each !== 'u8192 a8192'))
    while (engine.writer.collect(100));
    // The new role reuses the number of the removed role, which was freed last.
    world.apply(tenantRole('heir', { can: ['document:a8192'] }))
    expect(allowed(world)).toEqual(EACH_ITS_OWN.filter(each => each !== 'u8192 a8192'))
    world.apply(removed(tenantRole('heir')), assignInTenant('u8192', 'r8192', 'default'))
    expect(allowed(world)).toEqual(EACH_ITS_OWN)
  })

  test('are in a restored index', () => {
    while (engine.writer.collect(100));
    const writer = restoredWriter(engine.writer.save()!)
    const reader = new SharedIndexReader(writer.handle, { threadId: 2 })
    const kept = ROLE_INDEXES.flatMap(roleIndex =>
      ACTIONS.filter(action =>
        reader.evaluate({ user: `u${roleIndex}`, action, type: 'document', key: 'd', tenant: null }),
      ).map(action => `u${roleIndex} ${action}`),
    )
    expect(kept).toEqual(EACH_ITS_OWN)
  })

  test('are not held in a new tenant with the key of a deleted one', () => {
    world.apply(removed(tenant('default')))
    world.apply(tenant('default'), instance('document:d'))
    expect(allowed(world)).toEqual([])
    world.apply(...heldByEach())
    expect(allowed(world)).toEqual(EACH_ITS_OWN)
  })
})

test('overflow lines are freed with their tenant, and role assignments in these lines are freed with their user', () => {
  const engine = new SharedEngine({ firstTenantRoleIndex: 2_047 })
  const roles = [0, 1, 2].map(n => tenantRole(`r${n}`, { can: ['document:read'] }))
  const world = new World(engine, tenant('default'), resourceType('document', 'read'), ...roles)
  const header = new Int32Array(engine.writer.handle.header)
  const used: number[] = []
  for (let round = 0; round < 6; round++) {
    world.apply(
      tenant('acme'),
      user('alice'),
      user('bob'),
      instance('document:d', 'acme'),
      assign('bob', 'x', 'document:d'),
    )
    world.apply(
      ...['alice', 'bob'].flatMap(name => roles.map(each => assignInTenant(name, each.role, 'acme'))),
    )
    expect(world.can('alice', 'read', 'document:d')).toBe(true)
    const parts = [user('alice'), tenant('acme'), user('bob')].map(removed)
    world.apply(...(round % 2 === 0 ? parts : parts.toReversed()))
    while (engine.writer.collect(100));
    expect([header[L.H_ASSIGNMENTS], header[L.H_RECORDS]]).toEqual([0, 1])
    used.push(header[L.H_GRAPH_TOP]! - header[L.H_GRAPH_FREE_WORDS]!)
  }
  expect(new Set(used).size).toBe(1)
})
