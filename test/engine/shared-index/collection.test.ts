/** Removed entities free their memory and their numbers, and a thread that dies releases the lock. */
import { expect, test } from 'vitest'
import { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { takeOverLock } from '#engine/shared-index/recovery.ts'
import { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { beginSection, lock, tryLock } from '#engine/shared-index/memory/sequence.ts'
import { find } from '#engine/shared-index/memory/string-table.ts'
import type { Change } from '#model/change.ts'
import {
  assign,
  assignInTenant,
  DOCUMENTS,
  FOLDERS,
  instance,
  link,
  removed,
  resourceType,
  role,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'
import { SECRETS, SharedEngine } from '#testing/engines/shared-engine.ts'
import { World } from '../world.ts'

const schema = [...FOLDERS, ...DOCUMENTS, tenantRole('reader', { can: ['document:read'] })]

/** Folders in folders, documents in them, users with roles on both. Some have long keys and attributes. */
function content(): Change[] {
  const changes: Change[] = []
  for (let n = 0; n < 300; n++) changes.push(user(`u${n}`), assignInTenant(`u${n}`, 'reader', 'default'))
  for (let n = 0; n < 200; n++) {
    changes.push(instance(`folder:f${n}`))
    if (n > 0) changes.push(link(`folder:f${n >> 1}`, 'parent', `folder:f${n}`))
    changes.push(assign(`u${n}`, 'viewer', `folder:f${n >> 2}`))
  }
  for (let n = 0; n < 1_000; n++) {
    const key = `document:${n % 7 === 0 ? 'long-'.repeat(20) : 'd'}${n}`
    changes.push({ ...instance(key), attributes: n % 5 === 0 ? { n } : null })
    changes.push(link(`folder:f${n % 200}`, 'parent', key), assign(`u${n % 300}`, 'viewer', key))
  }
  return changes
}

function isDeniedEverywhere(world: World): boolean {
  return ['document:d1', 'folder:f1'].every(on => !world.can('u1', on.startsWith('d') ? 'read' : 'open', on))
}

const REMOVALS: Record<string, (standing: readonly Change[]) => Change[]> = {
  'one by one, in reverse order': standing => standing.toReversed().map(removed),
  'by their users and instances': standing =>
    standing.filter(change => change.kind === 'user-put' || change.kind === 'instance-put').map(removed),
  'with the tenant': standing => [
    removed(tenant('default')),
    ...standing.filter(change => change.kind === 'user-put').map(removed),
    tenant('default'),
  ],
  'with the types': standing => [
    ...standing.filter(change => change.kind === 'user-put').map(removed),
    removed(resourceType('folder')),
    removed(resourceType('document')),
    removed(tenantRole('reader')),
    ...schema,
  ],
}

test.each(Object.entries(REMOVALS))(
  'memory stays constant when entities are repeatedly loaded, and removed %s',
  (_, remove) => {
    const engine = new SharedEngine()
    const world = new World(engine, ...schema)
    const header = new Int32Array(engine.writer.handle.header)
    let flat = 0
    for (let round = 0; round < 10; round++) {
      const standing = content()
      engine.apply(standing)
      expect(world.can('u1', 'read', 'document:d1')).toBe(true)
      expect(world.can('u0', 'open', 'folder:f199')).toBe(true)
      engine.apply(remove(standing))
      expect(isDeniedEverywhere(world)).toBe(true)
      while (engine.writer.collect(100));
      expect([header[L.H_ASSIGNMENTS], header[L.H_TUPLES], header[L.H_RECORDS]]).toEqual([0, 0, 1])
      if (round === 1) flat = engine.writer.bytes().total
    }
    expect(engine.writer.bytes().total).toBe(flat)
  },
)

test('numbers of removed roles, relations and types are reused without their former assignments', () => {
  const engine = new SharedEngine()
  const world = new World(engine, ...schema, user('alice'), instance('folder:f'), instance('document:d'))
  for (let round = 0; round < 70; round++) {
    // 70 rounds with 32 roles: more roles than a type can have at a time.
    const names = Array.from({ length: 32 }, (_, n) => `r${round}-${n}`)
    world.apply(...names.map(name => role('folder', name, { can: ['open'] })))
    expect(world.can('alice', 'open', 'folder:f')).toBe(false)
    world.apply(...names.map(name => assign('alice', name, 'folder:f')))
    expect(world.can('alice', 'open', 'folder:f')).toBe(true)
    world.apply(...names.map(name => removed(role('folder', name))))
    expect(world.can('alice', 'open', 'folder:f')).toBe(false)
    while (engine.writer.collect(100));
  }
})

test('a record with a hundred thousand references is removed immediately and collected later in short critical sections', () => {
  const engine = new SharedEngine()
  const members = Array.from({ length: 100_000 }, (_, n) => `u${n}`)
  const world = new World(engine, ...schema, instance('folder:all'))
  engine.apply([...members.map(user), ...members.map(name => assign(name, 'viewer', 'folder:all'))])
  expect(world.can('u5', 'open', 'folder:all')).toBe(true)
  const header = new Int32Array(engine.writer.handle.header)
  world.apply(removed(instance('folder:all')))
  expect(world.can('u5', 'open', 'folder:all')).toBe(false)
  expect(header[L.H_ASSIGNMENTS]).toBeGreaterThan(90_000)
  world.apply(instance('folder:all'))
  expect(world.can('u5', 'open', 'folder:all')).toBe(false)
  while (engine.writer.collect(10));
  expect(header[L.H_ASSIGNMENTS]).toBe(0)
  expect(world.can('u5', 'open', 'folder:all')).toBe(false)
})

test('the lock of a dead thread is taken over, and the index remains usable', () => {
  for (const inSection of [false, true]) {
    const engine = new SharedEngine()
    const world = new World(engine, ...schema, user('alice'), instance('folder:f'), instance('document:d'))
    const header = new Int32Array(engine.writer.handle.header)
    world.apply(link('folder:f', 'parent', 'document:d'), assign('alice', 'viewer', 'folder:f'))
    expect(world.can('alice', 'read', 'document:d')).toBe(true)
    lock(header, 77)
    if (inSection) beginSection(header)
    expect(tryLock(header, 1)).toBe(false)
    expect(takeOverLock(engine.writer.handle, 76)).toBe(false)
    expect(takeOverLock(engine.writer.handle, 77)).toBe(true)
    expect(world.can('alice', 'read', 'document:d')).toBe(true)
    world.apply(removed(assign('alice', 'viewer', 'folder:f')))
    expect(world.can('alice', 'read', 'document:d')).toBe(false)
  }
})

test('an instance does not keep references to deleted users', () => {
  const engine = SharedEngine.with([
    ...schema,
    instance('folder:f'),
    user('alice'),
    assign('alice', 'viewer', 'folder:f'),
  ])
  engine.apply([
    user('bob'),
    assign('bob', 'viewer', 'folder:f'),
    removed(user('alice')),
    removed(user('bob')),
  ])
  const regions = Regions.attach(engine.writer.handle)
  const key = new Key(SECRETS.start, SECRETS.multiplier)
  // Number 1 is the type that was put first, which is the folder.
  expect(key.read('f', 1)).toBe(true)
  const folder = find(regions, key, 1)
  expect(folder).toBeGreaterThan(0)
  expect(regions.graph[(folder << L.LINE_WORDS_LOG2) + L.I_ASSIGNEES + 1]).toBe(0)
})
