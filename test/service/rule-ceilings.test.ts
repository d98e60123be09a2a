/**
 * How many condition sets and rules there may be, and how much sets may say together, whichever way they come. The ceilings are low
 * here, the code is the same.
 */
import { describe, expect, test } from 'vitest'
import { CONDITION_SETS_MAX } from '#model/limits.ts'
import { runAtOnce } from '#model/resumable.ts'
import { checkSchemaCeilings, SCHEMA_CEILINGS } from '#management/schema/schema-ceilings.ts'
import type { ExportedSchema } from '#management/schema/schema-export.ts'
import { SIZE_CEILINGS } from '#management/schema/schema-size.ts'
import { createSetRule } from '#management/schema/set-rules/set-rules.ts'
import { deleteTenantRole } from '#management/schema/tenant-roles.ts'
import { importedRows } from '../support/imported-rows.ts'
import { RunningEnvironment } from '../support/running-environment.ts'

const LOW = { ...SCHEMA_CEILINGS, conditionSets: 4, rules: 5, rulesPerAction: 3 }
const SIZES = { ...SIZE_CEILINGS, conditionBytes: 100 }
const REFUSED = { code: 'LIMIT_EXCEEDED' }

type Environment = RunningEnvironment

/** A document that can be read and written, and as many user sets. */
async function withSets(count: number): Promise<Environment> {
  const environment = await RunningEnvironment.open('memory:', LOW, SIZES)
  await environment.execute('createResource', {
    body: { key: 'document', name: 'D', actions: { read: {}, write: {} } },
  })
  for (let set = 0; set < count; set += 1) await addSet(environment, `set-${set}`)
  return environment
}

function addSet(environment: Environment, key: string, fields: object = {}) {
  return environment.execute('createConditionSet', { body: { key, name: 'X', ...fields } })
}

function addRule(environment: Environment, set: number, action = 'read') {
  const body = { user_set: `set-${set}`, permission: `document:${action}`, resource_set: 'document' }
  return environment.execute('createSetRule', { body })
}

function copyOf(parts: Partial<ExportedSchema>) {
  const nothing = {
    resources: [],
    tenantRoles: [],
    builtInTypes: [],
    conditionSets: [],
    rules: [],
    proxyConfigs: [],
  }
  return { schema: { ...nothing, ...parts }, conflictStrategy: 'overwrite' } as const
}

function exported(key: string, conditions = {}) {
  return {
    key,
    name: 'X',
    description: null,
    type: 'userset',
    resource: null,
    parent: null,
    conditions,
  } as const
}

describe('condition sets', () => {
  test('are as many as may be, and one more is refused by itself and in a copy', async () => {
    const environment = await withSets(LOW.conditionSets - 1)
    await addSet(environment, 'last')
    await expect(addSet(environment, 'beyond')).rejects.toMatchObject({
      ...REFUSED,
      message: 'there are 4 condition sets, which is the most',
    })
    const beyond = copyOf({ conditionSets: [exported('beyond')] })
    await expect(environment.execute('importSchema', beyond)).rejects.toMatchObject(REFUSED)
    // One that is there is no more than there was.
    await environment.execute('importSchema', copyOf({ conditionSets: [exported('last')] }))
    await environment.execute('deleteConditionSet', { params: { condition_set_id: 'last' } })
    await environment.execute('importSchema', beyond)
  })

  test('make room with the resource that they are of', async () => {
    const environment = await withSets(2)
    for (const key of ['a', 'b']) {
      await addSet(environment, key, { type: 'resourceset', resource_id: 'document' })
    }
    await expect(addSet(environment, 'beyond')).rejects.toMatchObject(REFUSED)
    await environment.execute('deleteResource', { params: { resource_id: 'document' } })
    for (const key of ['a', 'b']) await addSet(environment, key)
    await expect(addSet(environment, 'beyond')).rejects.toMatchObject(REFUSED)
  })

  test('added at the same moment where there is room for one: one goes through', async () => {
    const environment = await withSets(LOW.conditionSets - 1)
    const outcomes = await Promise.allSettled(['x', 'y', 'z'].map(key => addSet(environment, key)))
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(environment.count('condition-set')).toBe(LOW.conditionSets)
  })
})

describe('rules', () => {
  test('on one permission are as many as may be, and one more is refused by itself and in a copy', async () => {
    const environment = await withSets(4)
    for (let set = 0; set < LOW.rulesPerAction; set += 1) await addRule(environment, set)
    await expect(addRule(environment, 3)).rejects.toMatchObject({
      ...REFUSED,
      message: 'permission "document:read" has 3 rules, which is the most',
    })
    const rule = { user_set: 'set-3', permission: 'document:read', resource_set: '__autogen_document' }
    await expect(environment.execute('importSchema', copyOf({ rules: [rule] }))).rejects.toMatchObject(
      REFUSED,
    )
    await addRule(environment, 3, 'write')
  })

  test('in a bulk are as many as may be, and with one more none is created', async () => {
    const environment = await withSets(4)
    const rule = (set: number, action: string) => ({
      user_set: `set-${set}`,
      permission: `document:${action}`,
      resource_set: 'document',
    })
    const bulk = (...operations: ReturnType<typeof rule>[]) =>
      environment.execute('createSetRules', { body: { operations } })
    const most = [0, 1, 2].map(set => rule(set, 'read'))
    await expect(bulk(...most, rule(3, 'read'))).rejects.toMatchObject(REFUSED)
    await bulk(...most)
    await expect(bulk(rule(0, 'write'), rule(1, 'write'), rule(2, 'write'))).rejects.toMatchObject({
      ...REFUSED,
      message: 'there are 5 rules, which is the most',
    })
    const answer = await bulk(rule(0, 'write'), rule(1, 'write'), rule(0, 'read'))
    expect(answer).toMatchObject({ body: { rules_created: 2 } })
  })

  test('are as many as may be in an environment, and what is removed makes room at once', async () => {
    const environment = await withSets(4)
    for (let set = 0; set < 3; set += 1) await addRule(environment, set)
    for (let set = 0; set < 2; set += 1) await addRule(environment, set, 'write')
    await expect(addRule(environment, 2, 'write')).rejects.toMatchObject({
      ...REFUSED,
      message: 'there are 5 rules, which is the most',
    })
    // Two rules go with it, whether or not their rows are purged by now.
    await environment.execute('deleteConditionSet', { params: { condition_set_id: 'set-0' } })
    await addRule(environment, 2, 'write')
    await addRule(environment, 3, 'read')
    await expect(addRule(environment, 3, 'write')).rejects.toMatchObject(REFUSED)
  })

  test('that are dead and not purged yet count for nothing', async () => {
    const max = 40
    const ceilings = { ...SCHEMA_CEILINGS, rules: max }
    const environment = await RunningEnvironment.open('memory:', ceilings)
    await environment.execute('createResource', {
      body: { key: 'document', name: 'D', actions: { read: {} } },
    })
    for (const key of ['a', 'b']) await environment.execute('createTenantRole', { body: { key, name: 'R' } })
    const sets = Array.from({ length: max }, (_, index) => `set-${index}`)
    for (const key of sets) await addSet(environment, key, { type: 'resourceset' })
    const rule = (user_set: string, resource_set: string) => ({
      body: { user_set, permission: 'document:read', resource_set },
    })
    for (const key of sets) await environment.execute('createSetRule', rule('a', key))
    // In one draft, so that no purge comes between; it takes some of the rows along by itself.
    const { work } = environment.attempt(function* (context) {
      yield* deleteTenantRole(context, { params: { role_id: 'a' } })
      for (const key of sets) yield* createSetRule(context, rule('b', key))
      yield* checkSchemaCeilings(context, ceilings)
    })
    expect(() => runAtOnce(work)).not.toThrow()
    const { work: beyond } = environment.attempt(function* (context) {
      yield* deleteTenantRole(context, { params: { role_id: 'a' } })
      for (const key of sets) yield* createSetRule(context, rule('b', key))
      yield* createSetRule(context, rule('b', 'document'))
      yield* checkSchemaCeilings(context, ceilings)
    })
    expect(() => runAtOnce(beyond)).toThrow(/there are 40 rules/u)
  })

  test('added at the same moment where there is room for one: one goes through', async () => {
    const environment = await withSets(4)
    await addRule(environment, 0)
    await addRule(environment, 1)
    const outcomes = await Promise.allSettled([2, 3].map(set => addRule(environment, set)))
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(environment.count('rule')).toBe(LOW.rulesPerAction)
  })
})

describe('all conditions together', () => {
  /** A condition of so many bytes of JSON. */
  function ofBytes(bytes: number) {
    const empty = { 'user.a': { equals: '' } }
    return { 'user.a': { equals: 'x'.repeat(bytes - JSON.stringify(empty).length) } }
  }

  test('say as much as they may, and no more, made, changed or copied', async () => {
    const environment = await withSets(0)
    await addSet(environment, 'a', { conditions: ofBytes(60) })
    const refused = {
      ...REFUSED,
      message: 'all condition sets together would have 101 bytes of conditions, and may have 100',
    }
    await expect(addSet(environment, 'b', { conditions: ofBytes(41) })).rejects.toMatchObject(refused)
    await addSet(environment, 'b', { conditions: ofBytes(40) })
    const change = (key: string, bytes: number) =>
      environment.execute('updateConditionSet', {
        params: { condition_set_id: key },
        body: { conditions: ofBytes(bytes) },
      })
    await expect(change('b', 41)).rejects.toMatchObject(refused)
    const copied = copyOf({ conditionSets: [exported('b', ofBytes(41))] })
    await expect(environment.execute('importSchema', copied)).rejects.toMatchObject(refused)
    await change('a', 59)
    await environment.execute('importSchema', copied)
    await environment.execute('deleteConditionSet', { params: { condition_set_id: 'a' } })
    await change('b', 100)
  })

  test('of the sets of a resource go with it', async () => {
    const environment = await withSets(0)
    const conditions = { 'resource.a': ofBytes(80)['user.a'] }
    await addSet(environment, 'a', { type: 'resourceset', resource_id: 'document', conditions })
    await expect(addSet(environment, 'b', { conditions: ofBytes(40) })).rejects.toMatchObject(REFUSED)
    await environment.execute('deleteResource', { params: { resource_id: 'document' } })
    await addSet(environment, 'b', { conditions: ofBytes(90) })
  })
})

test('an import is held to the real ceilings, which are those of the contract', () => {
  const sets = Array.from({ length: CONDITION_SETS_MAX + 1 }, (_, index) => {
    return { kind: 'condition_set', key: `s${index}`, name: 'X', type: 'userset', conditions: {} }
  })
  expect(importedRows(sets.slice(1))).toBe(CONDITION_SETS_MAX + 1)
  expect(() => importedRows(sets)).toThrow(/there are 10000 condition sets/u)
  expect([SCHEMA_CEILINGS.conditionSets, SCHEMA_CEILINGS.rules, SCHEMA_CEILINGS.rulesPerAction]).toEqual([
    10_000, 100_000, 10_000,
  ])
})
