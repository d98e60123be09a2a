/** Changes without effect: they name unknown entities, are already in effect, or violate an invariant. */
import { describe, expect, test } from 'vitest'
import type { Change } from '#model/change.ts'
import {
  assign,
  assignInTenant,
  derivedRole,
  heldBy,
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
import { JUDGES, World } from './world.ts'

const facts: Change[] = [
  tenant('default'),
  tenant('acme'),
  user('alice'),
  resourceType('folder'),
  resourceType('document', 'read', 'write'),
  relation('document', 'parent', 'folder'),
  role('folder', 'editor'),
  derivedRole('document', 'editor', 'write', heldBy({ role: 'editor', on: 'folder', over: 'parent' })),
  tenantRole('reader', { can: ['document:read'] }),
  instance('folder:f1'),
  instance('document:d1'),
  assign('alice', 'editor', 'folder:f1'),
  assignInTenant('alice', 'reader', 'default'),
  link('folder:f1', 'parent', 'document:d1'),
]

/** Changes that each name one entity that does not exist. */
const strangers: Change[] = [
  role('spaceship', 'editor', { can: ['write'] }),
  relation('spaceship', 'parent', 'folder'),
  relation('document', 'parent', 'spaceship'),
  instance('spaceship:d1'),
  instance('document:d1', 'nowhere'),
  assign('alice', 'stranger', 'document:d1'),
  assign('alice', 'editor', 'document:unheard-of'),
  assignInTenant('alice', 'editor', 'default'),
  assignInTenant('alice', 'reader', 'nowhere'),
  link('folder:f1', 'stranger', 'document:d1'),
  link('folder:unheard-of', 'parent', 'document:d1'),
  link('folder:f1', 'parent', 'document:unheard-of'),
]

describe.each(JUDGES)('$name', ({ newJudge }) => {
  test('an empty engine denies', () =>
    expect(new World(newJudge()).can('alice', 'read', 'document:d1')).toBe(false))

  test('changes that name unknown entities change no decision', () => {
    const world = new World(newJudge(), ...facts)
    world.apply(...strangers)
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
    expect(world.can('alice', 'read', 'document')).toBe(true)
    expect(world.can('alice', 'read', 'document', 'nowhere')).toBe(false)
  })

  test('removals of entities that do not exist change no decision', () => {
    const world = new World(newJudge(), ...facts)
    world.apply(...strangers.filter(isRemovalOfNothing).map(removed))
    world.apply(
      removed(user('mallory')),
      removed(tenant('nowhere')),
      removed(resourceType('spaceship')),
      removed(tenantRole('editor')),
      removed(role('document', 'reader')),
      removed(assignInTenant('alice', 'reader', 'acme')),
      removed(assign('alice', 'editor', 'document:d1')),
    )
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
    expect(world.can('alice', 'read', 'document')).toBe(true)
  })

  test('a fact that is put twice is removed by one removal', () => {
    for (const fact of facts) {
      const world = new World(newJudge(), ...facts.flatMap(each => [each, each]))
      expect(world.can('alice', 'read', 'document:d1')).toBe(true)
      expect(world.can('alice', 'write', 'document:d1')).toBe(true)
      if (fact.kind === 'tenant-put' && fact.tenant === 'acme') continue
      world.apply(removed(fact))
      const answers = [world.can('alice', 'read', 'document:d1'), world.can('alice', 'write', 'document:d1')]
      expect(answers).toContain(false)
      world.apply(removed(fact))
      expect([world.can('alice', 'read', 'document:d1'), world.can('alice', 'write', 'document:d1')]).toEqual(
        answers,
      )
    }
  })

  test('a tuple between tenants is ignored, so that derived roles never cross tenants', () => {
    const world = new World(newJudge(), ...facts, instance('document:a1', 'acme'))
    world.apply(link('folder:f1', 'parent', 'document:a1'))
    expect(world.can('alice', 'write', 'document:a1')).toBe(false)
    world.apply(instance('document:a1'))
    expect(world.can('alice', 'write', 'document:a1')).toBe(false)
    world.apply(link('folder:f1', 'parent', 'document:a1'))
    expect(world.can('alice', 'write', 'document:a1')).toBe(true)
  })

  test('a tuple is ignored if its subject does not have the subject type of the relation', () => {
    const world = new World(
      newJudge(),
      ...facts,
      derivedRole('document', 'editor', 'write', heldBy({ role: 'editor', on: 'document', over: 'parent' })),
      instance('document:d2'),
      assign('alice', 'editor', 'document:d2'),
      link('document:d2', 'parent', 'document:d1'),
    )
    expect(world.can('alice', 'write', 'document:d2')).toBe(true)
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
  })
})

/** True if undoing the change removes nothing. Some changes name an existing entity, such as `parent`. */
function isRemovalOfNothing(change: Change): boolean {
  return !facts.some(fact => JSON.stringify(removed(fact)) === JSON.stringify(removed(change)))
}
