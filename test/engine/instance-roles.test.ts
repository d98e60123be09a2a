/** Roles on one instance: what they allow there, what `extends` adds, what is no permission at all (native.md A.2). */
import { describe, expect, test } from 'vitest'
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
import { JUDGES, World } from './world.ts'

const shelf = [
  tenant('default'),
  tenant('acme'),
  user('alice'),
  user('bob'),
  resourceType('document', 'read', 'write', 'delete'),
  resourceType('folder', 'read', 'write'),
  role('document', 'viewer', { can: ['read'] }),
  role('document', 'editor', { can: ['write'], extends: ['viewer'] }),
  role('document', 'owner', { can: ['delete'], extends: ['editor'] }),
  role('folder', 'viewer', { can: ['read'] }),
  instance('document:d1'),
  instance('document:d2'),
  instance('folder:d1'),
]

describe.each(JUDGES)('$name', ({ newJudge }) => {
  test('a role on an instance counts for its holder, on that instance, for its actions', () => {
    const world = new World(newJudge(), ...shelf, assign('alice', 'viewer', 'document:d1'))
    expect(world.can('alice', 'read', 'document:d1')).toBe(true)
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    expect(world.can('alice', 'read', 'document:d2')).toBe(false)
    expect(world.can('bob', 'read', 'document:d1')).toBe(false)
  })

  test('types that share instance keys and role keys do not share roles', () => {
    const world = new World(newJudge(), ...shelf, assign('alice', 'viewer', 'document:d1'))
    expect(world.can('alice', 'read', 'folder:d1')).toBe(false)
  })

  test('a tenant role and a resource role of one name are different roles', () => {
    const world = new World(
      newJudge(),
      ...shelf,
      tenantRole('viewer', { can: ['document:write'] }),
      assign('alice', 'viewer', 'document:d1'),
      assignInTenant('bob', 'viewer', 'default'),
    )
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    expect(world.can('bob', 'read', 'document:d1')).toBe(false)
    expect(world.can('bob', 'write', 'document:d1')).toBe(true)
  })

  test('a role on an instance does not count for the type as a whole', () => {
    const world = new World(newJudge(), ...shelf, assign('alice', 'owner', 'document:d1'))
    expect(world.can('alice', 'read', 'document')).toBe(false)
  })

  test('a role on an instance does not count when the question names another tenant', () => {
    const world = new World(newJudge(), ...shelf, assign('alice', 'owner', 'document:d1'))
    expect(world.can('alice', 'read', 'document:d1', 'default')).toBe(true)
    expect(world.can('alice', 'read', 'document:d1', 'acme')).toBe(false)
  })

  test('a role has the permissions of the roles it extends, transitively, and not the other way round', () => {
    const world = new World(
      newJudge(),
      ...shelf,
      assign('alice', 'owner', 'document:d1'),
      assign('bob', 'editor', 'document:d1'),
    )
    for (const action of ['read', 'write', 'delete']) {
      expect(world.can('alice', action, 'document:d1')).toBe(true)
    }
    expect(world.can('bob', 'read', 'document:d1')).toBe(true)
    expect(world.can('bob', 'delete', 'document:d1')).toBe(false)
  })

  test('roles that extend each other in a circle have the same permissions', () => {
    const world = new World(
      newJudge(),
      ...shelf,
      role('document', 'viewer', { can: ['read'], extends: ['owner'] }),
      assign('alice', 'viewer', 'document:d1'),
    )
    expect(world.can('alice', 'delete', 'document:d1')).toBe(true)
  })

  test('several roles on one instance add up, and taking one away leaves the others', () => {
    const world = new World(
      newJudge(),
      ...shelf,
      role('document', 'shredder', { can: ['delete'] }),
      assign('alice', 'viewer', 'document:d1'),
      assign('alice', 'shredder', 'document:d1'),
    )
    expect(world.can('alice', 'delete', 'document:d1')).toBe(true)
    world.apply(removed(assign('alice', 'shredder', 'document:d1')))
    expect(world.can('alice', 'delete', 'document:d1')).toBe(false)
    expect(world.can('alice', 'read', 'document:d1')).toBe(true)
  })

  test('a role put again says what it said last, for those who hold it already', () => {
    const world = new World(newJudge(), ...shelf, assign('alice', 'editor', 'document:d1'))
    world.apply(role('document', 'editor', { can: ['delete'] }))
    expect(world.can('alice', 'delete', 'document:d1')).toBe(true)
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    expect(world.can('alice', 'read', 'document:d1')).toBe(false)
  })

  test('a role that changes changes those that extend it', () => {
    const world = new World(newJudge(), ...shelf, assign('alice', 'owner', 'document:d1'))
    world.apply(role('document', 'viewer'))
    expect(world.can('alice', 'read', 'document:d1')).toBe(false)
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
  })

  test('an action the type does not declare is denied, even if a role lists it', () => {
    const world = new World(
      newJudge(),
      ...shelf,
      role('document', 'publisher', { can: ['publish', 'read'] }),
      tenantRole('press', { can: ['document:publish', 'document:read'] }),
      assign('alice', 'publisher', 'document:d1'),
      assignInTenant('bob', 'press', 'default'),
    )
    for (const holder of ['alice', 'bob']) {
      expect(world.can(holder, 'publish', 'document:d1')).toBe(false)
      expect(world.can(holder, 'read', 'document:d1')).toBe(true)
    }
  })

  test('a permission listed before its action is declared does not come to life with the declaration', () => {
    const world = new World(
      newJudge(),
      ...shelf,
      role('document', 'publisher', { can: ['publish'] }),
      assign('alice', 'publisher', 'document:d1'),
      resourceType('document', 'read', 'write', 'delete', 'publish'),
    )
    expect(world.can('alice', 'publish', 'document:d1')).toBe(false)
    world.apply(role('document', 'publisher', { can: ['publish'] }))
    expect(world.can('alice', 'publish', 'document:d1')).toBe(true)
  })

  test('a resource role grants nothing on another type, even if it lists a permission there', () => {
    const listing = [
      { type: 'folder', action: 'read' },
      { type: 'document', action: 'read' },
    ]
    const world = new World(
      newJudge(),
      ...shelf,
      { ...role('folder', 'stray'), permissions: listing },
      assign('alice', 'stray', 'folder:d1'),
    )
    expect(world.can('alice', 'read', 'folder:d1')).toBe(true)
    expect(world.can('alice', 'read', 'document:d1')).toBe(false)
  })

  test('unknown users, types and actions are denied, not refused', () => {
    const world = new World(newJudge(), ...shelf, assign('alice', 'owner', 'document:d1'))
    expect(world.can('mallory', 'read', 'document:d1')).toBe(false)
    expect(world.can('alice', 'read', 'spaceship:d1')).toBe(false)
    expect(world.can('alice', 'fly', 'document:d1')).toBe(false)
  })
})
