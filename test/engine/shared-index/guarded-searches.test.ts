/** Searches with guarded derivations and thousands of users. One walk per user would take minutes. */
import { expect, test } from 'vitest'
import {
  assign,
  derivedRole,
  heldBy,
  heldUnlessDirectBy,
  instance,
  link,
  relation,
  resourceType,
  role,
  tenant,
  user,
} from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { grantsOn, searchUsers } from '#testing/engines/listed.ts'

const COUNT = 20_000
const ALL = { after: null, limit: COUNT }
const numbers = Array.from({ length: COUNT }, (_, n) => n)
const odd = numbers.filter(n => n % 2 === 1)

const groups = [
  tenant('default'),
  resourceType('group'),
  role('group', 'member'),
  ...numbers.flatMap(n => [
    user(`user-${n}`),
    instance(`group:${n}`),
    assign(`user-${n}`, 'member', `group:${n}`),
  ]),
]

function usersOf(engine: SharedEngine, type: string, key: string): string[] {
  return searchUsers(engine, { action: 'read', type, key, tenant: null }, ALL).keys
}

function grantsOf(engine: SharedEngine, type: string, key: string): string[] {
  const grants = grantsOn(engine, { action: 'read', type, key, tenant: null }, 3 * COUNT)
  return grants.map(grant => `${grant.user} ${grant.role}@${grant.instance!.type}:${grant.instance!.key}`)
}

test('searches are correct for an object with roles of thousands of groups and a guard on the derivation from groups', () => {
  const engine = SharedEngine.with([
    ...groups,
    resourceType('hub', 'read'),
    relation('hub', 'of', 'group'),
    role('hub', 'guest'),
    derivedRole('hub', 'reader', 'read', heldUnlessDirectBy({ role: 'member', on: 'group', over: 'of' })),
    instance('hub:one'),
    ...numbers.map(n => link(`group:${n}`, 'of', 'hub:one')),
    user('everywhere'),
    ...numbers.map(n => assign('everywhere', 'member', `group:${n}`)),
    user('nowhere'),
    ...numbers.map(n => assign('nowhere', 'member', `group:${n}`)),
    assign('nowhere', 'guest', 'hub:one'),
    ...numbers.filter(n => n % 2 === 0).map(n => assign(`user-${n}`, 'guest', 'hub:one')),
  ])
  expect(usersOf(engine, 'hub', 'one')).toEqual(['everywhere', ...odd.map(n => `user-${n}`)].toSorted())
  const expected = odd
    .map(n => `user-${n} member@group:${n}`)
    .concat(numbers.map(n => `everywhere member@group:${n}`))
  expect(grantsOf(engine, 'hub', 'one').toSorted()).toEqual(expected.toSorted())
})

test('searches are correct for thousands of folders that each exclude a user', () => {
  const engine = SharedEngine.with([
    ...groups,
    resourceType('folder'),
    relation('folder', 'of', 'group'),
    role('folder', 'guest'),
    role('folder', 'reader', { from: [heldUnlessDirectBy({ role: 'member', on: 'group', over: 'of' })] }),
    resourceType('index', 'read'),
    relation('index', 'part', 'folder'),
    derivedRole('index', 'reader', 'read', heldBy({ role: 'reader', on: 'folder', over: 'part' })),
    instance('index:one'),
    ...numbers.flatMap(n => [
      instance(`folder:${n}`),
      link(`group:${n}`, 'of', `folder:${n}`),
      link(`folder:${n}`, 'part', 'index:one'),
      // The guard blocks the path of even users; odd users have a free path.
      assign(`user-${n}`, 'guest', `folder:${n % 2 === 0 ? n : n - 1}`),
    ]),
  ])
  expect(usersOf(engine, 'index', 'one')).toEqual(odd.map(n => `user-${n}`).toSorted())
  expect(grantsOf(engine, 'index', 'one').toSorted()).toEqual(
    odd.map(n => `user-${n} member@group:${n}`).toSorted(),
  )
})
