/** One commit removes an entity, puts it again and uses it. Each name refers to the entity at that point. */
import { describe, expect, test } from 'vitest'
import type { Change } from '#model/change.ts'
import {
  viewerBelow,
  assign,
  instance,
  link,
  relation,
  removed,
  resourceType,
  role,
  tenant,
  user,
} from '#testing/engines/changes.ts'
import { JUDGES, World } from './world.ts'

const documents: readonly Change[] = [
  resourceType('document', 'read'),
  relation('document', 'parent', 'folder'),
  viewerBelow('document', 'read'),
]
const standing: readonly Change[] = [
  tenant('default'),
  tenant('other'),
  ...['alice', 'bob', 'carol'].map(user),
  resourceType('folder'),
  role('folder', 'viewer'),
  ...documents,
  instance('folder:f'),
  instance('document:d'),
  assign('alice', 'viewer', 'folder:f'),
  link('folder:f', 'parent', 'document:d'),
  assign('bob', 'viewer', 'document:d'),
]

describe.each(JUDGES)('$name', ({ newJudge }) => {
  const who = (...changes: readonly Change[]): string[] => {
    const world = new World(newJudge(), ...standing)
    world.apply(...changes)
    return ['alice', 'bob', 'carol'].filter(name => world.can(name, 'read', 'document:d'))
  }

  test('an instance that is removed and put again has only the roles and tuples that are put after it', () => {
    expect(who()).toEqual(['alice', 'bob'])
    const again = [removed(instance('document:d')), instance('document:d')]
    expect(who(...again)).toEqual([])
    expect(who(...again, link('folder:f', 'parent', 'document:d'))).toEqual(['alice'])
    expect(who(...again, assign('carol', 'viewer', 'document:d'))).toEqual(['carol'])
  })

  test('a subject or user that is removed and put again has only the tuples or roles that are put afterwards', () => {
    const folder = [removed(instance('folder:f')), instance('folder:f')]
    expect(who(...folder)).toEqual(['bob'])
    const again = [link('folder:f', 'parent', 'document:d'), assign('carol', 'viewer', 'folder:f')]
    expect(who(...folder, ...again)).toEqual(['bob', 'carol'])
    const bob = [removed(user('bob')), user('bob')]
    expect(who(...bob)).toEqual(['alice'])
    expect(who(...bob, assign('bob', 'viewer', 'document:d'))).toEqual(['alice', 'bob'])
  })

  test('an instance that moves to another tenant and back is a new instance', () => {
    const moved = [instance('document:d', 'other'), instance('document:d')]
    expect(who(...moved)).toEqual([])
    expect(who(...moved, link('folder:f', 'parent', 'document:d'))).toEqual(['alice'])
  })

  test('a type that is removed and put again has no instances until they are put', () => {
    const again = [removed(resourceType('document')), ...documents]
    const edge = link('folder:f', 'parent', 'document:d')
    expect(who(...again, edge, assign('bob', 'viewer', 'document:d'))).toEqual([])
    expect(who(...again, instance('document:d'), edge)).toEqual(['alice'])
    expect(who(instance('document:d'), ...again, instance('document:d'), edge)).toEqual(['alice'])
  })

  test('a role that one commit revokes and assigns repeatedly has the last state', () => {
    const toggled = assign('bob', 'viewer', 'document:d')
    expect(who(removed(toggled), toggled, removed(toggled), toggled)).toEqual(['alice', 'bob'])
    expect(who(removed(toggled), toggled, removed(toggled))).toEqual(['alice'])
    const edge = link('folder:f', 'parent', 'document:d')
    expect(who(removed(edge), edge, removed(edge))).toEqual(['bob'])
    expect(who(removed(edge), edge)).toEqual(['alice', 'bob'])
  })
})
