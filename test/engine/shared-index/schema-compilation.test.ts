/**
 * What a change of the schema costs, without a clock: how much of it is compiled anew, in how many steps, and how many bytes the
 * compiled schema has. What that comes to in milliseconds is measured by `bench/engine/schema-ceilings.ts`.
 */
import { describe, expect, test } from 'vitest'
import {
  ACTIONS_MAX,
  ACTIONS_PER_RESOURCE_MAX,
  PERMISSIONS_MAX,
  PERMISSIONS_PER_ROLE_MAX,
  TENANT_ROLES_MAX,
} from '#model/limits.ts'
import type { Change, Permission } from '#model/change.ts'
import {
  assign,
  assignInTenant,
  heldBy,
  instance,
  relation,
  removed,
  resourceType,
  role,
  tenant,
  user,
} from '../changes.ts'
import { SharedEngine } from '../shared-engine.ts'

const ACTIONS = Array.from({ length: ACTIONS_PER_RESOURCE_MAX }, (_, n) => `action-${n}`)

function tenantRolePut(key: string, permissions: readonly Permission[], extended: string[] = []): Change {
  return { kind: 'role-put', type: null, role: key, permissions, extends: extended, derivations: [] }
}

function on(type: string, ...actions: readonly string[]): Permission[] {
  return actions.map(action => ({ type, action }))
}

/** 1,000 actions, three types, 2,000 tenant roles that all have what one of them has. */
const WIDE: Change[] = [
  ...['a', 'b', 'c'].map(type => resourceType(type, ...ACTIONS)),
  tenant('default'),
  user('alice'),
  tenantRolePut('base', on('a', ...ACTIONS)),
  ...Array.from({ length: 1_999 }, (_, n) =>
    tenantRolePut(`role-${n}`, on(n % 2 === 0 ? 'a' : 'b', ACTIONS[n % 1_000]!), ['base']),
  ),
]

function compiledBy(engine: SharedEngine, ...changes: readonly Change[]): number {
  const before = engine.writer.figures().typesCompiled
  engine.apply(changes)
  return engine.writer.figures().typesCompiled - before
}

describe('of 2,000 roles and 1,000 actions on each of three resources', () => {
  const engine = new SharedEngine()
  engine.apply(WIDE)
  const may = (action: string, type = 'b') =>
    engine.evaluate({ user: 'alice', action, type, key: null, tenant: null })
  engine.apply([assignInTenant('alice', 'role-7', 'default')])

  test('a change of one role has only those resources compiled on which it permits something else', () => {
    expect(may('action-3')).toBe(false)
    const changed = tenantRolePut('role-7', on('b', 'action-7', 'action-3'), ['base'])
    expect(compiledBy(engine, changed)).toBe(1)
    expect(may('action-3')).toBe(true)
    expect(compiledBy(engine, changed)).toBe(0)
  })

  test('a role that comes to extend another has the other’s resources compiled', () => {
    expect(compiledBy(engine, tenantRolePut('role-7', on('b', 'action-7')))).toBe(2)
    expect(may('action-9', 'a')).toBe(false)
    expect(compiledBy(engine, tenantRolePut('role-7', on('b', 'action-7'), ['base']))).toBe(1)
    expect(may('action-9', 'a')).toBe(true)
  })

  test('a role that is made and permits nothing, and one put as it is, have none compiled', () => {
    expect(compiledBy(engine, tenantRolePut('new', []))).toBe(0)
    expect(compiledBy(engine, ...WIDE.slice(10, 500))).toBe(0)
  })

  test('a resource that goes has none compiled, and an action that goes one', () => {
    expect(compiledBy(engine, resourceType('b', ...ACTIONS.slice(1)))).toBe(1)
    expect(compiledBy(engine, removed(resourceType('c')))).toBe(0)
    expect(may('action-7')).toBe(true)
  })

  test('all of it takes less than a mebibyte, not a number for each action of each role', () => {
    expect(engine.writer.bytes().schema).toBeLessThan(2 ** 20)
  })
})

test('where a derivation changes, only states of the resource that derives are followed again', () => {
  const engine = new SharedEngine()
  const types = Array.from({ length: 40 }, (_, n) => `type-${n}`)
  engine.apply([
    resourceType('group'),
    role('group', 'member'),
    ...types.flatMap(type => [
      resourceType(type, 'read', 'write'),
      relation(type, 'shared', 'group'),
      role(type, 'reader', { can: ['read'] }),
      role(type, 'writer', { can: ['read', 'write'] }),
    ]),
  ])
  const before = engine.writer.figures().statesFollowed
  engine.apply([
    role('type-7', 'reader', {
      can: ['read'],
      from: [heldBy({ role: 'member', on: 'group', over: 'shared' })],
    }),
  ])
  // Readers and writers, writers, and members, whom nothing led to before.
  expect(engine.writer.figures().statesFollowed - before).toBe(3)
})

describe('a schema changes in steps', () => {
  const more = tenantRolePut('role-7', on('b', 'action-7', 'action-3'), ['base'])
  const removal: Change = { kind: 'role-removed', type: 'd', role: 'holder' }
  const started = () => {
    const engine = new SharedEngine()
    engine.apply([
      ...WIDE,
      resourceType('d', 'read'),
      role('d', 'holder', { can: ['read'] }),
      instance('d:1'),
      assign('alice', 'holder', 'd:1'),
      assignInTenant('alice', 'role-7', 'default'),
    ])
    const asked = () => [
      engine.evaluate({ user: 'alice', action: 'action-3', type: 'b', key: null, tenant: null }),
      engine.evaluate({ user: 'alice', action: 'read', type: 'd', key: '1', tenant: null }),
    ]
    return { engine, asked }
  }

  test('of which none shows anything of the commit before the last, whatever is collected meanwhile', () => {
    const { engine, asked } = started()
    const steps = engine.writer.applyInSteps([more, removal])
    let count = 0
    for (let step = steps.next(); !step.done; step = steps.next()) {
      expect(asked()).toEqual([false, true])
      expect(engine.writer.collect(1)).toBe(true)
      expect(engine.writer.precompute(1)).toBe(true)
      expect(engine.writer.save()).toBeNull()
      count += 1
    }
    expect(asked()).toEqual([true, false])
    expect(count).toBeGreaterThan(50)
    while (engine.writer.collect(1_000));
    expect(engine.writer.figures().assignments).toBe(1)
  })

  test('one for each role of a commit, and for so many actions of a resource', () => {
    const { engine } = started()
    const removals = WIDE.filter(({ kind }) => kind === 'role-put').map(removed)
    const steps = Array.from(engine.writer.applyInSteps(removals))
    expect(steps.length).toBeGreaterThan(removals.length + (2 * ACTIONS.length) / 16)
  })
})

test('at the ceilings, with as many different sets of roles as there can be, a compiled schema fits with room', () => {
  const engine = new SharedEngine()
  const types = Array.from({ length: ACTIONS_MAX / ACTIONS_PER_RESOURCE_MAX }, (_, n) => `type-${n}`)
  const all = types.flatMap(type => on(type, ...ACTIONS))
  const wholes = Array.from({ length: all.length / PERMISSIONS_PER_ROLE_MAX }, (_, n) => `whole-${n}`)
  const single = TENANT_ROLES_MAX - wholes.length
  const each = Math.floor((PERMISSIONS_MAX - all.length) / single)
  engine.apply([
    ...types.map(type => resourceType(type, ...ACTIONS)),
    ...wholes.map((key, n) =>
      tenantRolePut(key, all.slice(n * PERMISSIONS_PER_ROLE_MAX, (n + 1) * PERMISSIONS_PER_ROLE_MAX)),
    ),
    // Half of all roles have all of it, and each has some of its own.
    ...Array.from({ length: single }, (_, n) => {
      const own = Array.from({ length: each }, (_each, m) => all[(n + m * single) % all.length]!)
      return tenantRolePut(`role-${n}`, own, n % 2 === 0 ? wholes : [])
    }),
  ])
  expect(engine.writer.bytes().schema).toBeGreaterThan(48 * 2 ** 20)
  expect(engine.writer.bytes().schema).toBeLessThan(192 * 2 ** 20)
  engine.apply([tenant('default'), user('alice'), assignInTenant('alice', 'role-2', 'default')])
  const may = (action: string) =>
    engine.evaluate({ user: 'alice', action, type: 'type-7', key: null, tenant: null })
  expect([may('action-5'), may('other')]).toEqual([true, false])
})
