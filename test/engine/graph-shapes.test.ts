/** Deep, wide and cyclic graphs: checks are correct, without recursion or repeated visits. */
import { describe, expect, test } from 'vitest'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import type { Change } from '#model/change.ts'
import {
  assign,
  FOLDERS,
  heldBy,
  instance,
  link,
  relation,
  removed,
  resourceType,
  role,
  user,
} from '#testing/engines/changes.ts'
import { JUDGES, World } from './world.ts'

const nestedFolders = [...FOLDERS, user('alice'), user('bob')]

/** Folders 0 to `depth`, each with the previous folder as its parent. */
function folderChain(depth: number): Change[] {
  const chain: Change[] = [instance('folder:0')]
  for (let level = 1; level <= depth; level++) {
    chain.push(instance(`folder:${level}`), link(`folder:${level - 1}`, 'parent', `folder:${level}`))
  }
  return chain
}

/** Layers of two folders. Both folders of the previous layer are parents, so there are 2^layers paths. */
function folderLattice(layers: number): Change[] {
  const lattice: Change[] = []
  for (let layer = 0; layer < layers; layer++) {
    for (const side of ['left', 'right']) {
      lattice.push(instance(`folder:${side}${layer}`))
      for (const above of layer > 0 ? ['left', 'right'] : []) {
        lattice.push(link(`folder:${above}${layer - 1}`, 'parent', `folder:${side}${layer}`))
      }
    }
  }
  return lattice
}

describe.each(JUDGES)('$name', ({ newJudge }) => {
  const nested = (...facts: readonly Change[]): World => new World(newJudge(), ...nestedFolders, ...facts)

  test('a check on a lattice with hundreds of millions of paths finishes', () => {
    const world = nested(...folderLattice(30), assign('alice', 'viewer', 'folder:left0'))
    expect(world.can('alice', 'open', 'folder:right29')).toBe(true)
    expect(world.can('bob', 'open', 'folder:right29')).toBe(false)
  })

  test('a check on a cycle of folders finishes, whether it allows or denies', () => {
    const world = nested(
      ...folderChain(5),
      link('folder:5', 'parent', 'folder:0'),
      link('folder:3', 'parent', 'folder:3'),
      assign('alice', 'viewer', 'folder:2'),
    )
    expect(world.can('alice', 'open', 'folder:1')).toBe(true)
    expect(world.can('bob', 'open', 'folder:1')).toBe(false)
  })
})

describe('the shared index', () => {
  test('a role on a folder is effective ten thousand levels below until the chain of folders is broken', () => {
    const world = new World(
      new SharedEngine(),
      ...nestedFolders,
      ...folderChain(10_000),
      assign('alice', 'viewer', 'folder:0'),
    )
    expect(world.can('alice', 'open', 'folder:10000')).toBe(true)
    expect(world.can('bob', 'open', 'folder:10000')).toBe(false)
    world.apply(removed(link('folder:4999', 'parent', 'folder:5000')))
    expect(world.can('alice', 'open', 'folder:4999')).toBe(true)
    expect(world.can('alice', 'open', 'folder:5000')).toBe(false)
  })

  test('a role can extend other roles through a thousand levels', () => {
    const roles = Array.from({ length: 1_000 }, (_, level) =>
      role('folder', `r${level}`, level === 0 ? { can: ['open'] } : { extends: [`r${level - 1}`] }),
    )
    const world = new World(
      new SharedEngine(),
      ...nestedFolders,
      ...roles,
      instance('folder:f'),
      assign('alice', 'r999', 'folder:f'),
    )
    expect(world.can('alice', 'open', 'folder:f')).toBe(true)
    world.apply(role('folder', 'r500'))
    expect(world.can('alice', 'open', 'folder:f')).toBe(false)
  })

  test('only members of the ten thousand groups with a role on a document can read it', () => {
    const groups = Array.from({ length: 10_000 }, (_, index) => `group:g${index}`)
    const world = new World(
      new SharedEngine(),
      ...nestedFolders,
      resourceType('group'),
      role('group', 'member'),
      resourceType('document', 'read'),
      relation('document', 'group_group_viewer', 'group'),
      role('document', 'viewer', {
        can: ['read'],
        from: [heldBy({ role: 'member', on: 'group', over: 'group_group_viewer' })],
      }),
      instance('document:d1'),
      ...groups.flatMap(group => [instance(group), link(group, 'group_group_viewer', 'document:d1')]),
      instance('group:outside'),
      assign('alice', 'member', 'group:g0'),
      assign('alice', 'member', 'group:g9999'),
      assign('bob', 'member', 'group:outside'),
    )
    expect(world.can('alice', 'read', 'document:d1')).toBe(true)
    expect(world.can('bob', 'read', 'document:d1')).toBe(false)
    world.apply(removed(instance('group:g0')))
    expect(world.can('alice', 'read', 'document:d1')).toBe(true)
    world.apply(removed(instance('group:g9999')))
    expect(world.can('alice', 'read', 'document:d1')).toBe(false)
  })
})
