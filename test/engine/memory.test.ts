/**
 * What is removed leaves the heap. Answers cannot show a leak, because what is made again is a new object. So
 * things are made and removed many times under keys of half a mebibyte each, which show in the heap. (Longer
 * texts would not: Node keeps them outside of the heap.)
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { MapEngine } from '#testing/reference-engine/map-engine.ts'
import { PairSet } from '#testing/reference-engine/pair-set.ts'
import type { Change } from '#model/change.ts'
import {
  assign,
  assignInTenant,
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

const ROUNDS = 48
const KEY_BYTES = 1 << 19

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function heapBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

/** A text that only the engine can keep, because each round has another. */
function bulkyKey(round: number): string {
  return Buffer.alloc(KEY_BYTES, `${round}-`).toString('latin1')
}

const standing = [
  tenant('default'),
  user('alice'),
  resourceType('folder'),
  resourceType('document', 'read'),
  relation('document', 'parent', 'folder'),
  role('folder', 'viewer'),
  role('document', 'viewer', { from: [heldBy({ role: 'viewer', on: 'folder', over: 'parent' })] }),
  tenantRole('reader', { can: ['document:read'] }),
  instance('folder:f'),
  instance('document:d'),
]

/** What is put under the bulky key with its dependants, and then the put that is undone. */
const LIVES: Record<string, (key: string) => { puts: Change[]; goes: Change }> = {
  'a user with roles': key => ({
    puts: [user(key), assign(key, 'viewer', 'folder:f'), assignInTenant(key, 'reader', 'default')],
    goes: user(key),
  }),
  'a tenant with roles and instances': key => ({
    puts: [tenant(key), assignInTenant('alice', 'reader', key), instance('document:x', key)],
    goes: tenant(key),
  }),
  'an instance with roles and tuples on both sides': key => ({
    puts: [
      relation('folder', 'parent', 'folder'),
      instance(`folder:${key}`),
      assign('alice', 'viewer', `folder:${key}`),
      link(`folder:${key}`, 'parent', 'document:d'),
      link('folder:f', 'parent', `folder:${key}`),
    ],
    goes: instance(`folder:${key}`),
  }),
  'an instance with tuples of the wrong type': key => ({
    puts: [instance(`document:${key}`), link(`document:${key}`, 'parent', 'document:d')],
    goes: instance(`document:${key}`),
  }),
  'an instance that goes with its type': key => ({
    puts: [resourceType('page'), instance(`page:${key}`)],
    goes: resourceType('page'),
  }),
  'a type with relations to and from others': key => ({
    puts: [
      resourceType(key),
      relation(key, 'parent', 'folder'),
      relation('folder', 'of', key),
      role(key, 'viewer'),
      role('folder', 'lister', { from: [heldBy({ role: 'viewer', on: key, over: 'of' })] }),
    ],
    goes: resourceType(key),
  }),
  'a role with holders and mentions': key => ({
    puts: [
      role('folder', key),
      assign('alice', key, 'folder:f'),
      role('folder', 'chief', { extends: [key] }),
      role('document', 'editor', { from: [heldBy({ role: key, on: 'folder', over: 'parent' })] }),
    ],
    goes: role('folder', key),
  }),
  'a relation with tuples and entries': key => ({
    puts: [
      relation('document', key, 'folder'),
      link('folder:f', key, 'document:d'),
      role('document', 'editor', { from: [heldBy({ role: 'viewer', on: 'folder', over: key })] }),
    ],
    goes: relation('document', key, 'folder'),
  }),
}

function live(engine: MapEngine, life: (typeof LIVES)[string], rounds: number): void {
  for (let round = 0; round < rounds; round++) {
    const { puts, goes } = life(bulkyKey(round))
    engine.apply([...puts, removed(goes)])
    engine.evaluate({ user: 'alice', action: 'read', type: 'document', key: 'd', tenant: null })
  }
}

test.each(Object.entries(LIVES))('%s, removed, leaves nothing in memory', (_, life) => {
  const engine = new MapEngine()
  engine.apply(standing)
  live(engine, life, 2)
  const before = heapBytes()
  live(engine, life, ROUNDS)
  expect(heapBytes() - before).toBeLessThan((ROUNDS * KEY_BYTES) / 4)
  // Asked last, so that the engine is still alive when the heap is measured.
  expect(engine.evaluate({ user: 'alice', action: 'read', type: 'document', key: 'd', tenant: null })).toBe(
    false,
  )
})

test('a pair deleted keeps neither of its members', () => {
  const set = new PairSet<{ key: string }, { key: string }>()
  const before = heapBytes()
  for (let round = 0; round < ROUNDS; round++) {
    const left = { key: bulkyKey(round) }
    const right = { key: bulkyKey(round) }
    set.add(left, right)
    set.delete(left, right)
  }
  expect(heapBytes() - before).toBeLessThan((ROUNDS * KEY_BYTES) / 4)
  expect(set.leftsOf({ key: '' }).size).toBe(0)
})
