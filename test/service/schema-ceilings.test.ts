/**
 * How many parts a schema may have, whichever way they come, and however many come at the same moment. The ceilings themselves are
 * reached on the real index in `test/system/index-limits.test.ts`; here they are low, the code is the same.
 */
import { describe, expect, test } from 'vitest'
import { type SchemaCeilings } from '#management/schema/schema-ceilings.ts'
import type { ExportedSchema } from '#management/schema/schema-export.ts'
import { RunningEnvironment } from '../support/running-environment.ts'

const REFUSED = { code: 'LIMIT_EXCEEDED', message: expect.stringContaining('which is the most') }
const LOW: SchemaCeilings = {
  resources: 6,
  roles: 40,
  tenantRoles: 20,
  relations: 30,
  partsPerResource: 16,
  conditionSets: 5,
  rules: 6,
  rulesPerAction: 3,
  proxyConfigs: 10,
}

function keyed<Part>(count: number, part: Part): Record<string, Part> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`part-${n}`, part]))
}

function tenantRoles(count: number, prefix: string) {
  return {
    body: { operations: Array.from({ length: count }, (_, n) => ({ key: `${prefix}${n}`, name: 'X' })) },
  }
}

function resource(key: string, parts: object = {}) {
  return { body: { key, name: 'X', actions: {}, ...parts } }
}

function copyOf(
  keys: readonly string[],
  body: object = {},
): { schema: ExportedSchema; conflictStrategy: 'fail' } {
  const resources = keys.map(key => ({
    key,
    body: { name: 'X', actions: {}, ...body },
    relationTexts: [],
    actionGroups: [],
  }))
  return {
    schema: { resources, tenantRoles: [], builtInTypes: [], conditionSets: [], rules: [], proxyConfigs: [] },
    conflictStrategy: 'fail',
  }
}

async function outcomesOf(
  ...work: readonly Promise<unknown>[]
): Promise<{ readonly done: number; readonly refused: readonly unknown[] }> {
  const outcomes = await Promise.allSettled(work)
  const refused = outcomes.flatMap(outcome =>
    outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
  )
  return { done: outcomes.length - refused.length, refused }
}

describe('of those who add at the same moment what there is room for once, one goes through', () => {
  test('tenant roles', async () => {
    const environment = await RunningEnvironment.open('memory:', LOW)
    const { done, refused } = await outcomesOf(
      ...['a', 'b', 'c'].map(prefix => environment.execute('putRolesInBulk', tenantRoles(11, prefix))),
    )
    expect(done).toBe(1)
    expect(refused).toEqual([expect.objectContaining(REFUSED), expect.objectContaining(REFUSED)])
    expect(environment.count('role')).toBe(11)
  })

  test('relations of different resources', async () => {
    const environment = await RunningEnvironment.open('memory:', LOW)
    const create = (key: string, count: number) =>
      environment.execute('createResource', resource(key, { relations: keyed(count, key) }))
    await create('full', 16)
    const { done, refused } = await outcomesOf(create('a', 8), create('b', 8), create('c', 8))
    expect([done, refused.length]).toEqual([1, 2])
    await create('last', 6)
    expect(environment.count('relation')).toBe(LOW.relations)
    await expect(create('beyond', 1)).rejects.toMatchObject(REFUSED)
    await environment.execute('deleteResource', { params: { resource_id: 'last' } })
    await create('again', 6)
  })

  test('resources', async () => {
    const environment = await RunningEnvironment.open('memory:', LOW)
    await environment.execute('importSchema', copyOf(['a', 'b', 'c', 'd', 'e']))
    const names = ['x', 'y', 'z']
    const { done } = await outcomesOf(
      ...names.map(name => environment.execute('createResource', resource(name))),
    )
    expect(done).toBe(1)
    expect(environment.count('type')).toBe(LOW.resources)
  })

  test('roles of one resource', async () => {
    const environment = await RunningEnvironment.open('memory:', LOW)
    await environment.execute('createResource', resource('r', { roles: keyed(15, { name: 'X' }) }))
    const { done } = await outcomesOf(
      ...['x', 'y', 'z'].map(key =>
        environment.execute('createResourceRole', { params: { resource_id: 'r' }, body: { key, name: 'X' } }),
      ),
    )
    expect(done).toBe(1)
  })
})

test('one resource more is refused by itself, in a copy and as the resource of a group; what takes no more is not', async () => {
  const environment = await RunningEnvironment.open('memory:', LOW)
  await environment.execute('importSchema', copyOf(['a', 'b', 'c', 'd', 'e', 'f']))
  await expect(environment.execute('createResource', resource('beyond'))).rejects.toMatchObject(REFUSED)
  await expect(environment.execute('importSchema', copyOf(['beyond']))).rejects.toMatchObject(REFUSED)
  const group = { body: { group_instance_key: 'beyond:g', group_tenant: 'default' } }
  await expect(environment.execute('createGroup', group)).rejects.toMatchObject(REFUSED)
  expect(environment.count('type')).toBe(LOW.resources)
  await environment.execute('updateResource', { params: { resource_id: 'b' }, body: { name: 'Y' } })
  await environment.execute('deleteResource', { params: { resource_id: 'a' } })
  await environment.execute('createResource', resource('instead'))
})

test('all roles of an environment are counted, of tenants and resources together, also in a copy', async () => {
  const environment = await RunningEnvironment.open('memory:', LOW)
  await environment.execute('putRolesInBulk', tenantRoles(20, 't'))
  await environment.execute('createResource', resource('r', { roles: keyed(16, { name: 'X' }) }))
  const body = { roles: keyed(5, { name: 'X' }) }
  await expect(environment.execute('importSchema', copyOf(['beyond'], body))).rejects.toMatchObject(REFUSED)
  await environment.execute('importSchema', copyOf(['last'], { roles: keyed(4, { name: 'X' }) }))
  // All of a resource's roles replaced by as many others is no growth.
  const roles = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`other-${n}`, { name: 'X' }]))
  await environment.execute('updateResource', { params: { resource_id: 'r' }, body: { roles } })
  expect(environment.count('role')).toBe(LOW.roles)
})
