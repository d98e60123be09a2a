/** Sizes at which the memory layout changes: many edges, many roles, short and long keys, colliding keys. */
import { describe, expect, test } from 'vitest'
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import {
  assign,
  assignInTenant,
  derivedRole,
  heldBy,
  heldUnlessDirectBy,
  instance,
  link,
  relation,
  removed,
  resourceType,
  role,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'
import { packed } from '#testing/engines/packed.ts'
import { COLLIDING, SharedEngine } from '#testing/engines/shared-engine.ts'
import { World } from '../world.ts'

const sharing = [
  tenant('default'),
  user('alice'),
  user('bob'),
  resourceType('group'),
  resourceType('document', 'read'),
  relation('document', 'shared', 'group'),
  role('group', 'member'),
  derivedRole('document', 'viewer', 'read', heldBy({ role: 'member', on: 'group', over: 'shared' })),
  instance('document:d'),
]

function groups(count: number): Change[] {
  return Array.from({ length: count }, (_, n) => `group:g${n}`).flatMap(group => [
    instance(group),
    link(group, 'shared', 'document:d'),
  ])
}

describe('an instance with many in-edges', () => {
  test.each([16, 17, 65_535, 65_536])('gives access through %i edges until they are removed', count => {
    const engine = new SharedEngine()
    const world = new World(engine, ...sharing, instance('group:other'))
    engine.apply(groups(count))
    world.apply(
      assign('alice', 'member', 'group:g0'),
      assign('alice', 'member', `group:g${count - 1}`),
      assign('bob', 'member', 'group:other'),
    )
    // After some checks, a closure replaces the forward walks.
    for (let times = 0; times < 12; times++) {
      expect(world.can('alice', 'read', 'document:d')).toBe(true)
      expect(world.can('bob', 'read', 'document:d')).toBe(false)
    }
    world.apply(removed(link('group:g0', 'shared', 'document:d')))
    expect(world.can('alice', 'read', 'document:d')).toBe(true)
    world.apply(removed(instance(`group:g${count - 1}`)))
    expect(world.can('alice', 'read', 'document:d')).toBe(false)
    world.apply(link('group:other', 'shared', 'document:d'))
    expect(world.can('bob', 'read', 'document:d')).toBe(true)
  })
})

test.each([65_535, 65_536])('members of a group of %i have access until they leave', count => {
  const members = Array.from({ length: count }, (_, n) => `u${n}`)
  const engine = new SharedEngine()
  const world = new World(engine, ...sharing, ...groups(1))
  engine.apply([...members.map(user), ...members.map(name => assign(name, 'member', 'group:g0'))])
  for (const name of ['u0', `u${count - 1}`]) expect(world.can(name, 'read', 'document:d')).toBe(true)
  expect(world.can('alice', 'read', 'document:d')).toBe(false)
  world.apply(removed(assign('u0', 'member', 'group:g0')), removed(user(`u${count - 1}`)))
  for (const name of ['u0', `u${count - 1}`]) expect(world.can(name, 'read', 'document:d')).toBe(false)
  expect(world.can('u1', 'read', 'document:d')).toBe(true)
})

describe('a type with a hundred roles', () => {
  const names = Array.from({ length: 100 }, (_, n) => `r${n}`)
  const crowd = [
    tenant('default'),
    user('alice'),
    user('bob'),
    resourceType('folder', 'open'),
    resourceType('document', ...names),
    relation('document', 'parent', 'folder'),
    ...names.map(name => role('folder', name, { can: ['open'] })),
    ...names.map(name =>
      derivedRole('document', name, name, heldUnlessDirectBy({ role: name, on: 'folder', over: 'parent' })),
    ),
    instance('folder:f'),
    instance('document:d'),
    link('folder:f', 'parent', 'document:d'),
  ]

  test('keeps direct and derived roles apart', () => {
    for (const n of [0, 31, 32, 63, 64, 99]) {
      const world = new World(new SharedEngine(), ...crowd, assign('alice', `r${n}`, 'folder:f'))
      expect(names.filter(action => world.can('alice', action, 'document:d'))).toEqual([`r${n}`])
      expect(world.can('alice', 'open', 'folder:f')).toBe(true)
    }
  })

  test('blocks a guarded derivation for a user with a direct role in any bank until the role is revoked', () => {
    for (const n of [1, 40, 99]) {
      const direct = assign('alice', `r${n}`, 'document:d')
      const world = new World(new SharedEngine(), ...crowd, assign('alice', 'r50', 'folder:f'), direct)
      expect(world.can('alice', 'r50', 'document:d')).toBe(false)
      expect(world.can('alice', `r${n}`, 'document:d')).toBe(true)
      world.apply(removed(direct))
      expect(world.can('alice', 'r50', 'document:d')).toBe(true)
    }
  })

  test('can exist next to a hundred tenant roles', () => {
    const roles = names.map(name => tenantRole(`t-${name}`, { can: [`document:${name}`] }))
    const world = new World(
      new SharedEngine(),
      ...crowd,
      ...roles,
      assignInTenant('alice', 't-r77', 'default'),
    )
    expect(names.filter(action => world.can('alice', action, 'document'))).toEqual(['r77'])
  })
})

describe('a key', () => {
  const ends = [1, 3, 4, 35, 36, 37, 128, 511, 512].map(bytes => 'k'.repeat(bytes))
  const wide = ['é'.repeat(18), `${'é'.repeat(18)}k`, '鍵'.repeat(12), '鍵'.repeat(170), '😀'.repeat(128)]

  test.each([
    ['without collisions', undefined],
    ['that collides with all others', COLLIDING],
  ])('%s names users and instances, at any length', (_, secrets) => {
    const world = new World(
      new SharedEngine(secrets ? { secrets } : {}),
      ...sharing,
      role('document', 'owner', { can: ['read'] }),
    )
    for (const key of [...ends, ...wide]) {
      world.apply(user(key), instance(`document:${key}`), assign(key, 'owner', `document:${key}`))
    }
    for (const key of [...ends, ...wide]) {
      for (const other of [...ends, ...wide]) {
        expect(world.can(key, 'read', `document:${other}`)).toBe(key === other)
      }
    }
    for (const key of [...ends, ...wide]) {
      world.apply(removed(user(key)))
      expect(world.can(key, 'read', `document:${key}`)).toBe(false)
      world.apply(user(key))
      expect(world.can(key, 'read', `document:${key}`)).toBe(false)
    }
  })

  test('that is too long or has no UTF-8 form names no entity', () => {
    const world = new World(new SharedEngine(), ...sharing, role('document', 'owner', { can: ['read'] }))
    for (const key of ['k'.repeat(513), '鍵'.repeat(171), '\ud800', '']) {
      world.apply(user(key), instance('document:d'), assign(key, 'owner', 'document:d'))
      expect(world.can(key, 'read', 'document:d')).toBe(false)
    }
    world.apply(user('\ufffd'), assign('\ufffd', 'owner', 'document:d'))
    expect(world.can('\ud800', 'read', 'document:d')).toBe(false)
    expect(world.can('\ufffd', 'read', 'document:d')).toBe(true)
  })

  test('that is too long in bytes names no entity', () => {
    const longest = 'k'.repeat(512)
    const engine = new SharedEngine()
    const world = new World(engine, ...sharing, role('document', 'owner', { can: ['read'] }))
    world.apply(
      user(longest),
      instance(`document:${longest}`),
      assign(longest, 'owner', `document:${longest}`),
    )
    const question = { user: longest, action: 'read', type: 'document', key: longest, tenant: null }
    const decide = (query: Query): boolean => engine.evaluateWithin(packed([query]), Infinity)!
    expect(decide(question)).toBe(true)
    for (const length of [513, 1_023, 1_024, 1_536, 2_560, 4_608]) {
      expect(decide({ ...question, user: 'k'.repeat(length) })).toBe(false)
      expect(decide({ ...question, key: 'k'.repeat(length) })).toBe(false)
    }
  })

  test('remains unchanged when attributes of its record change', () => {
    const world = new World(new SharedEngine(), ...sharing, role('document', 'owner', { can: ['read'] }))
    for (const key of [...ends, ...wide]) {
      const put = instance(`document:${key}`)
      world.apply(put, assign('alice', 'owner', `document:${key}`))
      for (const attributes of [{ size: 1 }, {}, null, { note: 'é'.repeat(300) }, { size: 2 }]) {
        world.apply({ ...put, attributes })
        expect(world.can('alice', 'read', `document:${key}`)).toBe(true)
      }
    }
  })
})
