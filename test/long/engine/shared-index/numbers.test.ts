/** Numeric ids that facts contain instead of names: limits, and reuse of the ids of removed entities. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { demandOf } from '#engine/shared-index/schema/number-demand.ts'
import { Schema } from '#engine/shared-index/schema/schema.ts'
import type { Change } from '#model/change.ts'
import {
  assign,
  assignInTenant,
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
import { holdsFor } from '../../../properties/seeded.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { World } from '../../../engine/world.ts'

const ground = [tenant('default'), user('alice'), resourceType('document', 'read'), instance('document:d')]

function times<Made>(count: number, make: (n: number) => Made): Made[] {
  return Array.from({ length: count }, (_, n) => make(n))
}

describe('numeric ids of removed entities', () => {
  test('are reused if all 1,000 roles of a type are replaced ten times without a pause', () => {
    const world = new World(new SharedEngine(), ...ground)
    let before: Change[] = []
    for (let round = 0; round < 10; round++) {
      const roles = times(1_000, n => role('document', `r${round}-${n}`, { can: ['read'] }))
      world.apply(...before.map(removed), ...roles)
      expect(world.can('alice', 'read', 'document:d')).toBe(false)
      world.apply(assign('alice', `r${round}-${round * 111}`, 'document:d'))
      expect(world.can('alice', 'read', 'document:d')).toBe(true)
      before = roles
    }
  })

  test('are reused if all 10,000 relations are replaced eight times without a pause', () => {
    const world = new World(new SharedEngine(), ...ground, instance('document:e'))
    let before: Change[] = []
    for (let round = 0; round < 8; round++) {
      const relations = times(10_000, n => relation('document', `l${round}-${n}`, 'document'))
      world.apply(...before.map(removed), ...relations)
      world.apply(link('document:d', `l${round}-7`, 'document:e'))
      before = relations
    }
  })

  test('are reused if all 22,000 types are replaced three times without a pause', () => {
    const world = new World(new SharedEngine(), ...ground)
    const types = times(22_000, n => resourceType(`t${n}`, 'read'))
    for (let round = 0; round < 3; round++) {
      world.apply(...types.map(removed), ...types, instance('t7:i'), role('t7', 'reader', { can: ['read'] }))
      expect(world.can('alice', 'read', 't7:i')).toBe(false)
      world.apply(assign('alice', 'reader', 't7:i'))
      expect(world.can('alice', 'read', 't7:i')).toBe(true)
    }
  })
})

test.each<[string, Change[]]>([
  ['types', times(65_535, n => resourceType(`t${n}`))],
  ['roles of a type', times(2_049, n => role('document', `r${n}`, { can: ['read'] }))],
  ['roles of a type of the same commit', [resourceType('t'), ...times(2_049, n => role('t', `r${n}`))]],
  ['relations', times(65_536, n => relation('document', `l${n}`, 'document'))],
])('a commit with more %s than there are numeric ids is rejected as a whole', (_, changes) => {
  const engine = new SharedEngine()
  const world = new World(engine, ...ground, role('document', 'reader', { can: ['read'] }))
  const { header } = engine.writer.handle
  const before = new Uint8Array(header).slice()
  const refused = () => engine.apply([user('bob'), assign('alice', 'reader', 'document:d'), ...changes])
  expect(refused).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }))
  expect(new Uint8Array(header)).toEqual(before)
  expect(world.can('alice', 'read', 'document:d')).toBe(false)
  world.apply(assign('alice', 'reader', 'document:d'))
  expect(world.can('alice', 'read', 'document:d')).toBe(true)
})

test('a commit takes as many numeric ids as predicted, even if it removes and re-creates entities', () => {
  const types = fc.constantFrom('a', 'b', 'c')
  const key = fc.constantFrom('x', 'y')
  const put = fc.oneof(
    types.map(type => resourceType(type)),
    fc.tuple(types, key).map(([type, name]) => role(type, name)),
    key.map(name => tenantRole(name)),
    fc.tuple(types, key, types).map(([type, name, subject]) => relation(type, name, subject)),
  )
  const change = fc.tuple(put, fc.boolean()).map(([each, isRemoved]) => (isRemoved ? removed(each) : each))
  const commit = fc.array(change, { maxLength: 12 })
  holdsFor(fc.tuple(commit, commit), 2_000, ([before, changes]) => {
    const schema = new Schema()
    applyTo(schema, before)
    const demand = demandOf(schema, changes)
    const left = numbersLeft(schema)
    const roleIndexes = new Map([...schema.types.values()].map(type => [type, type.roleIndexes.available]))
    applyTo(schema, changes)
    const taken = numbersLeft(schema).map((count, kind) => left[kind]! - count)
    expect([demand.typeIds, demand.edgeClasses, demand.tenantRoleIndexes]).toEqual(taken)
    for (const [type, count] of roleIndexes) {
      expect(demand.roleIndexes.get(type) ?? 0).toBe(count - type.roleIndexes.available)
    }
  })
})

function numbersLeft({ typeIds, edgeClasses, tenantRoleIndexes }: Schema): number[] {
  return [typeIds.available, edgeClasses.available, tenantRoleIndexes.available]
}

function applyTo(schema: Schema, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.kind === 'type-put') schema.putType(change)
    else if (change.kind === 'type-removed') schema.removeType(change.type)
    else if (change.kind === 'role-put') schema.putRole(change)
    else if (change.kind === 'role-removed') schema.removeRole(change.type, change.role)
    else if (change.kind === 'relation-put') schema.putRelation(change)
    else if (change.kind === 'relation-removed') schema.removeRelation(change.type, change.relation)
  }
}

test('a tenant role that is removed and re-created in one commit has no assignments', () => {
  const lead = tenantRole('lead', { can: ['document:read'] })
  const world = new World(new SharedEngine(), ...ground, lead, assignInTenant('alice', 'lead', 'default'))
  expect(world.can('alice', 'read', 'document:d')).toBe(true)
  world.apply(removed(lead), lead)
  expect(world.can('alice', 'read', 'document:d')).toBe(false)
})
