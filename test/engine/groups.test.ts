/** Groups are instances, members hold a role on them, grants and nesting are tuples with derivations (contract C.3–C.5). */
import { describe, expect, test } from 'vitest'
import type { Change } from '#model/change.ts'
import {
  assign,
  heldBy,
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

/** Membership in a group nested over `group` is membership in the outer one. */
const nestedMember = heldBy({ role: 'member', on: 'group', over: 'group' })

/** One relation per granted role, so that each tuple carries exactly one (C.4). */
function grantedTo(roleKey: string): ReturnType<typeof heldBy> {
  return heldBy({ role: 'member', on: 'group', over: `group_group_${roleKey}` })
}

function grant(group: string, roleKey: string, on: string): Change {
  return link(`group:${group}`, `group_group_${roleKey}`, on)
}

/** Members of the inner group become members of the outer one. */
function nest(inner: string, outer: string): Change {
  return link(`group:${inner}`, 'group', `group:${outer}`)
}

function join(userKey: string, group: string): Change {
  return assign(userKey, 'member', `group:${group}`)
}

const company = [
  tenant('default'),
  user('alice'),
  user('bob'),
  resourceType('group'),
  resourceType('document', 'read', 'write'),
  relation('group', 'group', 'group'),
  relation('document', 'group_group_viewer', 'group'),
  relation('document', 'group_group_editor', 'group'),
  role('group', 'member', { from: [nestedMember] }),
  role('document', 'viewer', { can: ['read'], from: [grantedTo('viewer')] }),
  role('document', 'editor', { can: ['write'], from: [grantedTo('editor')] }),
  instance('group:support'),
  instance('group:sales'),
  instance('group:org1'),
  instance('group:org2'),
  instance('document:d1'),
  instance('document:d2'),
]

describe.each(JUDGES)('$name', ({ newJudge }) => {
  test('members have the role their group was granted, on that instance only', () => {
    const world = new World(
      newJudge(),
      ...company,
      grant('support', 'editor', 'document:d1'),
      join('alice', 'support'),
    )
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
    expect(world.can('alice', 'write', 'document:d2')).toBe(false)
    expect(world.can('bob', 'write', 'document:d1')).toBe(false)
  })

  test('a check for the type as a whole never uses group grants', () => {
    const world = new World(
      newJudge(),
      ...company,
      grant('support', 'editor', 'document:d1'),
      join('alice', 'support'),
    )
    expect(world.can('alice', 'write', 'document')).toBe(false)
  })

  test('two groups with different roles on one document do not share them', () => {
    const world = new World(
      newJudge(),
      ...company,
      grant('support', 'viewer', 'document:d1'),
      grant('sales', 'editor', 'document:d1'),
      join('alice', 'support'),
      join('bob', 'sales'),
    )
    expect([world.can('alice', 'read', 'document:d1'), world.can('alice', 'write', 'document:d1')]).toEqual([
      true,
      false,
    ])
    expect([world.can('bob', 'read', 'document:d1'), world.can('bob', 'write', 'document:d1')]).toEqual([
      false,
      true,
    ])
  })

  test('one group with different roles on two documents does not mix them', () => {
    const world = new World(
      newJudge(),
      ...company,
      grant('support', 'viewer', 'document:d1'),
      grant('support', 'editor', 'document:d2'),
      join('alice', 'support'),
    )
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    expect(world.can('alice', 'read', 'document:d2')).toBe(false)
  })

  test('members of a nested group have what the outer group was granted, and not the other way round', () => {
    const world = new World(
      newJudge(),
      ...company,
      nest('org1', 'support'),
      grant('support', 'editor', 'document:d1'),
      grant('org1', 'viewer', 'document:d2'),
      join('alice', 'org1'),
      join('bob', 'support'),
    )
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
    expect(world.can('bob', 'write', 'document:d1')).toBe(true)
    expect(world.can('bob', 'read', 'document:d2')).toBe(false)
  })

  test('nesting is transitive, and ends where a link is taken out', () => {
    const world = new World(
      newJudge(),
      ...company,
      nest('org2', 'org1'),
      nest('org1', 'support'),
      grant('support', 'editor', 'document:d1'),
      join('alice', 'org2'),
      join('bob', 'org1'),
    )
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
    world.apply(removed(nest('org2', 'org1')))
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    expect(world.can('bob', 'write', 'document:d1')).toBe(true)
  })

  test('a user who leaves the group, and one whose group loses the grant, lose the role', () => {
    for (const ending of [join('alice', 'support'), grant('support', 'editor', 'document:d1')]) {
      const world = new World(
        newJudge(),
        ...company,
        grant('support', 'editor', 'document:d1'),
        join('alice', 'support'),
      )
      world.apply(removed(ending))
      expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    }
  })

  test('a deleted group gives nothing, and one made again under its key starts without members and grants', () => {
    const world = new World(
      newJudge(),
      ...company,
      grant('support', 'editor', 'document:d1'),
      join('alice', 'support'),
    )
    world.apply(removed(instance('group:support')))
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    world.apply(instance('group:support'), join('alice', 'support'))
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    world.apply(removed(join('alice', 'support')), grant('support', 'editor', 'document:d1'))
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
    world.apply(join('alice', 'support'))
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
  })

  test('groups in a circle, and a group in itself, are one group as far as members are concerned', () => {
    const world = new World(
      newJudge(),
      ...company,
      nest('support', 'support'),
      nest('org1', 'support'),
      nest('org2', 'org1'),
      nest('support', 'org2'),
      grant('org1', 'editor', 'document:d1'),
      join('alice', 'support'),
      join('bob', 'sales'),
    )
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
    expect(world.can('bob', 'write', 'document:d1')).toBe(false)
  })

  test('a circle of groups holds nobody up once the members are gone', () => {
    const world = new World(
      newJudge(),
      ...company,
      nest('org1', 'org2'),
      nest('org2', 'org1'),
      grant('org2', 'editor', 'document:d1'),
      join('alice', 'org1'),
    )
    expect(world.can('alice', 'write', 'document:d1')).toBe(true)
    world.apply(removed(join('alice', 'org1')))
    expect(world.can('alice', 'write', 'document:d1')).toBe(false)
  })
})
