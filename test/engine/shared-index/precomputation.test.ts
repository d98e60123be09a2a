/** Precomputation of closures. After a schema change, only the invalidated closures are built again. */
import { beforeEach, expect, test } from 'vitest'
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
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { World } from '../world.ts'

const DEPTH = 50
const GROUPS = 40

const viewer = (...from: ReturnType<typeof heldBy>[]): Change =>
  role('document', 'viewer', { can: ['read'], from })
const throughFolder = heldBy({ role: 'viewer', on: 'folder', over: 'parent' })
const throughGroup = heldBy({ role: 'member', on: 'group', over: 'shared' })

const content: readonly Change[] = [
  tenant('default'),
  resourceType('group'),
  resourceType('folder', 'open'),
  resourceType('document', 'read', 'sign'),
  relation('folder', 'parent', 'folder'),
  relation('document', 'parent', 'folder'),
  relation('document', 'shared', 'group'),
  role('group', 'member', {}),
  role('folder', 'viewer', { can: ['open'], from: [throughFolder] }),
  viewer(throughFolder, throughGroup),
  ...['alice', 'bob', 'carol'].map(user),
  ...Array.from({ length: DEPTH }, (_, n) => instance(`folder:f${n}`)),
  ...Array.from({ length: DEPTH - 1 }, (_, n) => link(`folder:f${n}`, 'parent', `folder:f${n + 1}`)),
  instance('document:deep'),
  link(`folder:f${DEPTH - 1}`, 'parent', 'document:deep'),
  instance('document:wide'),
  ...Array.from({ length: GROUPS }, (_, n) => instance(`group:g${n}`)),
  ...Array.from({ length: GROUPS }, (_, n) => link(`group:g${n}`, 'shared', 'document:wide')),
  assign('alice', 'viewer', 'folder:f0'),
  assign('bob', 'member', 'group:g7'),
]

let engine: SharedEngine
let world: World

beforeEach(() => {
  engine = new SharedEngine()
  world = new World(engine, ...content)
})

function built(): number {
  return engine.writer.figures().closuresBuilt
}

function precompute(): void {
  while (engine.writer.precompute(100));
}

test('after precomputation, no check builds a closure, neither in a deep chain nor on a wide instance', () => {
  const before = built()
  precompute()
  const ahead = built()
  expect(ahead).toBeGreaterThan(before)
  for (let n = 0; n < 20; n++) {
    expect(world.can('alice', 'read', 'document:deep')).toBe(true)
    expect(world.can('bob', 'read', 'document:deep')).toBe(false)
    expect(world.can('bob', 'read', 'document:wide')).toBe(true)
    expect(world.can('alice', 'read', 'document:wide')).toBe(false)
    expect(world.can('carol', 'open', `folder:f${DEPTH - 1}`)).toBe(false)
  }
  expect(built()).toBe(ahead)
})

test('valid closures are not precomputed again', () => {
  precompute()
  const ahead = built()
  expect(engine.writer.precompute(1_000)).toBe(false)
  world.apply(assign('carol', 'viewer', 'folder:f0'))
  precompute()
  expect(built()).toBe(ahead)
})

test('a new role without derivations invalidates no closures', () => {
  precompute()
  const ahead = built()
  world.apply(role('document', 'signer', { can: ['sign'] }))
  precompute()
  // Only the wide document needs a closure for the users with the new role.
  expect(built()).toBe(ahead + 1)
})

test('a new role with a derivation builds only the closures of that role', () => {
  world.apply(...Array.from({ length: DEPTH }, (_, n) => assign('alice', 'viewer', `folder:f${n}`)))
  precompute()
  const ahead = built()
  const bySigner = heldBy({ role: 'signer', on: 'folder', over: 'parent' })
  world.apply(
    role('folder', 'signer', {}),
    role('document', 'signer', { can: ['sign'], from: [bySigner] }),
    assign('carol', 'signer', `folder:f${DEPTH - 1}`),
  )
  expect(world.can('carol', 'sign', 'document:deep')).toBe(true)
  expect(world.can('carol', 'read', 'document:deep')).toBe(false)
  precompute()
  const once = built()
  // The new role needs one closure for each folder and one for the wide document.
  expect(once - ahead).toBe(DEPTH + 1)
  expect(world.can('alice', 'read', 'document:deep')).toBe(true)
  expect(built()).toBe(once)
})

test('removing a permission takes effect immediately and rebuilds no closures', () => {
  precompute()
  const ahead = built()
  world.apply(role('document', 'viewer', { from: [throughFolder, throughGroup] }), role('folder', 'guest'))
  expect(world.can('alice', 'read', 'document:deep')).toBe(false)
  expect(world.can('bob', 'read', 'document:wide')).toBe(false)
  expect(world.can('alice', 'open', `folder:f${DEPTH - 1}`)).toBe(true)
  world.apply(removed(role('folder', 'guest')))
  precompute()
  expect(world.can('alice', 'open', `folder:f${DEPTH - 1}`)).toBe(true)
  expect(built()).toBe(ahead)
})

test('a changed derivation takes effect immediately, and invalidated closures are built again', () => {
  precompute()
  const ahead = built()
  world.apply(viewer(throughGroup))
  expect(world.can('alice', 'read', 'document:deep')).toBe(false)
  world.apply(viewer(throughFolder, throughGroup))
  expect(world.can('alice', 'read', 'document:deep')).toBe(true)
  precompute()
  const again = built()
  expect(again).toBeGreaterThan(ahead)
  expect(world.can('bob', 'read', 'document:wide')).toBe(true)
  for (let n = 0; n < 20; n++) world.can('carol', 'read', 'document:wide')
  expect(built()).toBe(again)
})

test('containers deleted while they wait for precomputation are skipped', () => {
  engine.writer.precompute(20)
  const folders = Array.from({ length: DEPTH }, (_, n) => removed(instance(`folder:f${n}`)))
  // The users that follow reuse the lines of the deleted folders.
  world.apply(...folders)
  while (engine.writer.collect(10));
  const users = Array.from({ length: 4 * DEPTH }, (_, n) => `u${n}`)
  world.apply(...users.map(user), ...users.map(name => assign(name, 'member', 'group:g7')))
  precompute()
  for (const name of users) {
    expect(world.can(name, 'read', 'document:wide')).toBe(true)
    expect(world.can(name, 'read', 'document:deep')).toBe(false)
  }
})
