/** Tenant roles: where they count, and which tenant a question is about (native.md A.2, D-14, D-15). */
import { describe, expect, test } from 'vitest'
import {
  assignInTenant,
  heldBy,
  instance,
  relation,
  removed,
  resourceType,
  role,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'
import { JUDGES, World } from './world.ts'

const office = [
  tenant('default'),
  tenant('acme'),
  user('alice'),
  user('bob'),
  resourceType('document', 'read', 'write'),
  resourceType('folder', 'read'),
  tenantRole('reader', { can: ['document:read'] }),
  tenantRole('writer', { can: ['document:write'], extends: ['reader'] }),
  tenantRole('owner', { extends: ['writer'] }),
  tenantRole('guest'),
  instance('document:d1'),
  instance('document:a1', 'acme'),
]

describe.each(JUDGES)('$name', ({ newJudge }) => {
  test('a tenant role allows its actions on the type as a whole and on every instance of the tenant', () => {
    const world = new World(newJudge(), ...office, assignInTenant('alice', 'reader', 'default'))
    expect(world.can('alice', 'read', 'document', 'default')).toBe(true)
    expect(world.can('alice', 'read', 'document:d1', 'default')).toBe(true)
    expect(world.can('bob', 'read', 'document:d1', 'default')).toBe(false)
  })

  test('a tenant role allows nothing it does not name: no other action, no other type', () => {
    const world = new World(newJudge(), ...office, assignInTenant('alice', 'reader', 'default'))
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    expect(world.can('alice', 'read', 'folder')).toBe(false)
  })

  test('a tenant role without permissions allows nothing', () => {
    const world = new World(newJudge(), ...office, assignInTenant('alice', 'guest', 'default'))
    expect(world.can('alice', 'read', 'document')).toBe(false)
  })

  test('a tenant role has the permissions of the roles it extends, transitively, and not the other way round', () => {
    const world = new World(
      newJudge(),
      ...office,
      assignInTenant('alice', 'owner', 'default'),
      assignInTenant('bob', 'reader', 'default'),
    )
    expect(world.can('alice', 'read', 'document')).toBe(true)
    expect(world.can('alice', 'write', 'document')).toBe(true)
    expect(world.can('bob', 'write', 'document')).toBe(false)
  })

  test('a tenant role does not extend a resource role of the same name', () => {
    const world = new World(
      newJudge(),
      ...office,
      role('document', 'editor', { can: ['write'] }),
      tenantRole('lead', { extends: ['editor'] }),
      assignInTenant('alice', 'lead', 'default'),
    )
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
  })

  test('a derivation on a tenant role has no effect', () => {
    const world = new World(
      newJudge(),
      ...office,
      relation('document', 'parent', 'folder'),
      role('folder', 'keeper'),
      tenantRole('reader', {
        can: ['document:read'],
        from: [heldBy({ role: 'keeper', on: 'folder', over: 'parent' })],
      }),
    )
    expect(world.can('alice', 'read', 'document:d1')).toBe(false)
  })

  test('a tenant role counts in its tenant only', () => {
    const world = new World(newJudge(), ...office, assignInTenant('alice', 'reader', 'acme'))
    expect(world.can('alice', 'read', 'document', 'acme')).toBe(true)
    expect(world.can('alice', 'read', 'document', 'default')).toBe(false)
    expect(world.can('alice', 'read', 'document:d1', 'default')).toBe(false)
  })

  test('without a tenant, a question is about the tenant of the instance', () => {
    const world = new World(newJudge(), ...office, assignInTenant('alice', 'reader', 'acme'))
    expect(world.can('alice', 'read', 'document:a1')).toBe(true)
    expect(world.can('alice', 'read', 'document:d1')).toBe(false)
  })

  test('without a tenant or a known instance, a question is about the default tenant', () => {
    const world = new World(
      newJudge(),
      ...office,
      assignInTenant('alice', 'reader', 'default'),
      assignInTenant('bob', 'reader', 'acme'),
    )
    for (const on of ['document', 'document:unheard-of']) {
      expect(world.can('alice', 'read', on)).toBe(true)
      expect(world.can('bob', 'read', on)).toBe(false)
    }
  })

  test('an instance nobody stored is reached by the roles of the tenant named', () => {
    const world = new World(newJudge(), ...office, assignInTenant('alice', 'reader', 'acme'))
    expect(world.can('alice', 'read', 'document:unheard-of', 'acme')).toBe(true)
    expect(world.can('alice', 'read', 'document:unheard-of', 'default')).toBe(false)
  })

  test('a known instance is not reached through another tenant, whatever roles are held there', () => {
    const world = new World(
      newJudge(),
      ...office,
      assignInTenant('alice', 'owner', 'default'),
      assignInTenant('alice', 'owner', 'acme'),
    )
    expect(world.can('alice', 'read', 'document:a1', 'acme')).toBe(true)
    expect(world.can('alice', 'read', 'document:a1', 'default')).toBe(false)
    expect(world.can('alice', 'read', 'document:a1', 'nowhere')).toBe(false)
    world.apply(removed(instance('document:a1')))
    expect(world.can('alice', 'read', 'document:a1', 'default')).toBe(true)
  })

  test('a tenant put again keeps its roles and its instances', () => {
    const world = new World(newJudge(), ...office, assignInTenant('alice', 'reader', 'acme'))
    world.apply({ ...tenant('acme'), attributes: { plan: 'gold' } })
    expect(world.can('alice', 'read', 'document', 'acme')).toBe(true)
    expect(world.can('alice', 'read', 'document:a1')).toBe(true)
  })

  test('a role taken away in a tenant no longer counts there', () => {
    const world = new World(newJudge(), ...office, assignInTenant('alice', 'reader', 'default'))
    world.apply(removed(assignInTenant('alice', 'reader', 'acme')))
    expect(world.can('alice', 'read', 'document')).toBe(true)
    world.apply(removed(assignInTenant('alice', 'reader', 'default')))
    expect(world.can('alice', 'read', 'document')).toBe(false)
  })
})
