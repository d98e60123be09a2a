/** What the Map engine guarantees besides right answers: order, freshness, and errors about unknown changes. */
import { expect, test } from 'vitest'
import { MapEngine } from '#testing/reference-engine/map-engine.ts'
import { InvariantError } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
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
import { World } from './world.ts'

const facts = [
  tenant('default'),
  user('alice'),
  resourceType('document', 'read', 'write'),
  role('document', 'viewer', { can: ['read'] }),
  instance('document:d1'),
  assign('alice', 'viewer', 'document:d1'),
]

test('an empty engine denies', () => {
  expect(new World(new MapEngine()).can('alice', 'read', 'document:d1')).toBe(false)
})

test('questions asked together are answered in their order', () => {
  const engine = new MapEngine()
  engine.apply(facts)
  const ask = { user: 'alice', type: 'document', key: 'd1', tenant: null }
  expect(engine.evaluateAll([])).toEqual([])
  const actions = ['read', 'write', 'read', 'fly']
  expect(engine.evaluateAll(actions.map(action => ({ ...ask, action })))).toEqual([true, false, true, false])
})

test('a schema change after a question counts for the next question', () => {
  const world = new World(new MapEngine(), ...facts)
  const changes: [Change, boolean][] = [
    [role('document', 'viewer', { can: ['write'] }), true],
    [resourceType('document', 'read'), false],
    [resourceType('document', 'read', 'write'), false],
    [tenantRole('writer', { can: ['document:write'] }), false],
    [assignInTenant('alice', 'writer', 'default'), true],
    [removed(tenantRole('writer')), false],
    [role('document', 'viewer', { can: ['write'] }), true],
    [removed(role('document', 'viewer')), false],
  ]
  expect(world.can('alice', 'write', 'document:d1')).toBe(false)
  for (const [change, answer] of changes) {
    world.apply(change)
    expect(world.can('alice', 'write', 'document:d1')).toBe(answer)
  }
})

test('a change of a kind the engine does not know ends it loudly instead of leaving it half informed', () => {
  const fromTheFuture = { kind: 'moon-put', moon: 'io' } as unknown as Change
  expect(() => new MapEngine().apply([fromTheFuture])).toThrow(InvariantError)
})
