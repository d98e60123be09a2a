/**
 * Cost of a schema change, measured without a clock: number of recompiled types, steps, and bytes of the
 * compiled schema. Reused parts of the compiled schema must be correct. `bench/engine/schema-ceilings.ts`
 * measures the time.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ACTIONS_MAX,
  ACTIONS_PER_RESOURCE_MAX,
  PERMISSIONS_MAX,
  PERMISSIONS_PER_ROLE_MAX,
  TENANT_ROLES_MAX,
} from '#model/limits.ts'
import type { Change, Permission } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import {
  assign,
  assignInTenant,
  derivedRole,
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
import { type EffectiveRole, Oracle } from '#testing/oracle/oracle.ts'
import { fixedValues, holdsFor } from '../../properties/seeded.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const ACTIONS = Array.from({ length: ACTIONS_PER_RESOURCE_MAX }, (_, n) => `action-${n}`)

function tenantRolePut(key: string, permissions: readonly Permission[], extended: string[] = []): Change {
  return { kind: 'role-put', type: null, role: key, permissions, extends: extended, derivations: [] }
}

function on(type: string, ...actions: readonly string[]): Permission[] {
  return actions.map(action => ({ type, action }))
}

/** 1,000 actions on each of three types, and 2,000 tenant roles: all others extend the first role. */
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

describe('a schema with 2,000 roles, and with 1,000 actions on each of three types', () => {
  const engine = SharedEngine.with(WIDE)
  const may = (action: string, type = 'b') =>
    engine.evaluate({ user: 'alice', action, type, key: null, tenant: null })
  engine.apply([assignInTenant('alice', 'role-7', 'default')])

  test('recompiles only the types on which the permissions of a changed role are different', () => {
    expect(may('action-3')).toBe(false)
    const changed = tenantRolePut('role-7', on('b', 'action-7', 'action-3'), ['base'])
    expect(compiledBy(engine, changed)).toBe(1)
    expect(may('action-3')).toBe(true)
    expect(compiledBy(engine, changed)).toBe(0)
  })

  test('recompiles the types of a role that another role starts to extend', () => {
    expect(compiledBy(engine, tenantRolePut('role-7', on('b', 'action-7')))).toBe(2)
    expect(may('action-9', 'a')).toBe(false)
    expect(compiledBy(engine, tenantRolePut('role-7', on('b', 'action-7'), ['base']))).toBe(1)
    expect(may('action-9', 'a')).toBe(true)
  })

  test('recompiles no types for a new role without permissions or an unchanged role', () => {
    expect(compiledBy(engine, tenantRolePut('new', []))).toBe(0)
    expect(compiledBy(engine, ...WIDE.slice(10, 500))).toBe(0)
  })

  test('recompiles no types if a type is deleted, and one type if an action is added or removed', () => {
    expect(compiledBy(engine, resourceType('b', ...ACTIONS.slice(1)))).toBe(1)
    expect(compiledBy(engine, removed(resourceType('c')))).toBe(0)
    expect(compiledBy(engine, resourceType('b', ...ACTIONS.slice(1), 'new'))).toBe(1)
    expect(may('action-7')).toBe(true)
  })

  test('gives every role exactly its permissions', () => {
    const fresh = SharedEngine.with([
      tenant('default'),
      ...['a', 'b'].map(type => resourceType(type, ...ACTIONS)),
    ])
    const roles = WIDE.flatMap(change => (change.kind === 'role-put' ? [change] : []))
    // Several commits are necessary for roles to be compiled next to existing roles.
    for (let from = 0; from < roles.length; from += 100) fresh.apply(roles.slice(from, from + 100))
    for (const { role: key } of roles)
      fresh.apply([user(`of ${key}`), assignInTenant(`of ${key}`, key, 'default')])
    const permitted = (key: string, type: string, actions: readonly string[]) =>
      actions.filter(action => fresh.evaluate({ user: `of ${key}`, action, type, key: null, tenant: null }))
    expect(permitted('base', 'a', ACTIONS)).toEqual(ACTIONS)
    expect(permitted('base', 'b', ACTIONS)).toEqual([])
    for (let n = 0; n < 1_999; n += 1) {
      // Actions of this role, and of the next, first and last role. The extended role has all actions on `a`.
      const near = [0, n % 1_000, (n + 1) % 1_000, 999].map(place => ACTIONS[place]!)
      const own = n % 2 === 0 ? [] : near.filter(action => action === ACTIONS[n % 1_000])
      expect([n, permitted(`role-${n}`, 'b', near)]).toEqual([n, own])
      expect([n, permitted(`role-${n}`, 'a', near)]).toEqual([n, near])
    }
  })

  test('takes less than one mebibyte when compiled, because permissions are not stored per role and action', () => {
    expect(engine.writer.bytes().schema).toBeLessThan(2 ** 20)
  })
})

/** Few names, so that changes affect each other. Each role has a holder, and each type an instance. */
const TYPES = ['a', 'b', 'c']
const DEEDS = ['read', 'write', 'share']
const TENANT_ROLES = ['t0', 't1', 't2', 't3']
const ROLES = ['viewer', 'editor']
const FACTS: Change[] = [
  tenant('default'),
  ...TYPES.map(type => instance(`${type}:1`)),
  ...TENANT_ROLES.flatMap(key => [user(key), assignInTenant(key, key, 'default')]),
  ...TYPES.flatMap(type =>
    ROLES.flatMap(key => [user(`${type} ${key}`), assign(`${type} ${key}`, key, `${type}:1`)]),
  ),
  ...TYPES.flatMap(type => TYPES.map(other => link(`${other}:1`, 'in', `${type}:1`))),
]
const QUESTIONS: Query[] = [
  ...TENANT_ROLES,
  ...TYPES.flatMap(type => ROLES.map(key => `${type} ${key}`)),
].flatMap(name =>
  TYPES.flatMap(type => DEEDS.map(action => ({ user: name, action, type, key: '1', tenant: null }))),
)

const anyType = fc.constantFrom(...TYPES)
const deeds = fc.subarray(DEEDS)
const anyPut: Arbitrary<Change> = fc.oneof(
  fc.tuple(anyType, deeds).map(([key, actions]) => resourceType(key, ...actions)),
  fc.tuple(anyType, anyType).map(([object, subject]) => relation(object, 'in', subject)),
  fc
    .tuple(
      fc.constantFrom(...TENANT_ROLES),
      fc.subarray(TENANT_ROLES, { maxLength: 2 }),
      fc.array(fc.tuple(anyType, deeds)),
    )
    .map(([key, extended, says]) =>
      tenantRolePut(
        key,
        says.flatMap(([of, actions]) => on(of, ...actions)),
        extended,
      ),
    ),
  fc
    .tuple(
      anyType,
      fc.constantFrom(...ROLES),
      deeds,
      fc.subarray(ROLES),
      anyType,
      fc.constantFrom(...ROLES),
      fc.boolean(),
    )
    .map(([of, key, can, extended, source, from, isDerived]) =>
      role(of, key, {
        can,
        extends: extended,
        from: isDerived ? [heldBy({ role: from, on: source, over: 'in' })] : [],
      }),
    ),
)
const anyChange = fc.oneof({ weight: 5, arbitrary: anyPut }, { weight: 1, arbitrary: anyPut.map(removed) })

test('reused and recompiled parts of the compiled schema are consistent after any changes', () => {
  const met = { allowed: 0, compiled: 0 }
  const property = (changes: readonly Change[]): void => {
    const [engine, oracle] = [new SharedEngine(), new Oracle()]
    const whole = TYPES.flatMap(each => [
      resourceType(each, ...DEEDS),
      ...ROLES.map(key => role(each, key, { can: ['read'] })),
      ...TYPES.slice(0, 1).map(other => relation(each, 'in', other)),
    ])
    for (const judge of [engine, oracle]) judge.apply([...whole, ...FACTS])
    for (const change of changes) {
      // When a removed role is put again, its holder is assigned again.
      oracle.apply([change])
      met.compiled += compiledBy(engine, change)
      for (const judge of [engine, oracle]) judge.apply(FACTS)
      const moment = new Map<string, readonly EffectiveRole[]>()
      const rolesOf = (name: string) => {
        if (!moment.has(name)) moment.set(name, oracle.effectiveRoles(name))
        return moment.get(name)!
      }
      const right = QUESTIONS.map(question => oracle.evaluate(question, rolesOf))
      expect(QUESTIONS.map(question => engine.evaluate(question))).toEqual(right)
      met.allowed += right.filter(Boolean).length
    }
  }
  const histories = fc.array(anyChange, { minLength: 40, maxLength: 40, size: 'max' })
  for (const changes of fixedValues(histories, 5)) property(changes)
  // Without reuse, 600 types would be compiled.
  expect(met.compiled).toBeLessThan(250)
  expect(met.compiled).toBeGreaterThan(80)
  expect(met.allowed).toBeGreaterThan(500)
  holdsFor(histories, 60, property)
})

test('a change of a derivation recomputes only the states of its type', () => {
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
    derivedRole('type-7', 'reader', 'read', heldBy({ role: 'member', on: 'group', over: 'shared' })),
  ])
  // The three states are: readers together with writers, writers, and members. Members had no state before.
  expect(engine.writer.figures().statesFollowed - before).toBe(3)
})

describe('a schema change in steps', () => {
  const more = tenantRolePut('role-7', on('b', 'action-7', 'action-3'), ['base'])
  const removal: Change = { kind: 'role-removed', type: 'd', role: 'holder' }
  const started = () => {
    const engine = SharedEngine.with([
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

  test('is invisible before its last step, even if other work is done between the steps', () => {
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

  test('has a step for each role and for a limited number of actions', () => {
    const { engine } = started()
    const removals = WIDE.filter(({ kind }) => kind === 'role-put').map(removed)
    const steps = Array.from(engine.writer.applyInSteps(removals))
    expect(steps.length).toBeGreaterThan(removals.length + (2 * ACTIONS.length) / 16)
  })
})

test('a schema at the limits, with as many different sets of roles as possible, fits into memory', () => {
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
    // Half of all roles have all actions, and each action has some additional roles.
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
