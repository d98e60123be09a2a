/** Limits of schemas, with low values. `test/long/system/index-limits.test.ts` reaches the real limits. */
import { describe, expect, test } from 'vitest'
import {
  CONDITION_SETS_MAX,
  MAPPING_BYTES_TOTAL_MAX,
  MAPPING_RULES_MAX,
  MAPPING_RULES_PER_CONFIG_MAX,
  PROXY_CONFIGS_MAX,
} from '#model/limits.ts'
import type { RecordKind } from '#entities/records.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import {
  checkSchemaCeilings,
  SCHEMA_CEILINGS,
  type SchemaCeilings,
} from '#management/schema/schema-ceilings.ts'
import type { ExportedSchema } from '#management/schema/transfer/schema-export.ts'
import { SIZE_CEILINGS } from '#management/schema/schema-size.ts'
import { createSetRule } from '#management/schema/condition-sets/set-rules.ts'
import { deleteTenantRole } from '#management/schema/tenant-roles.ts'
import { importedRows } from '../../support/imported-rows.ts'
import { RunningEnvironment } from '../../support/running-environment.ts'
import { copiedSet, copyOf } from '../../support/calls/schema-copies.ts'

const REFUSED = { code: 'LIMIT_EXCEEDED' }
const LOW: SchemaCeilings = {
  resources: 6,
  roles: 40,
  tenantRoles: 20,
  relations: 30,
  partsPerResource: 16,
  conditionSets: 4,
  rules: 5,
  rulesPerAction: 3,
  proxyConfigs: 3,
}

type Environment = RunningEnvironment
const opened = () => RunningEnvironment.open('memory:', LOW)

function keyed<Part>(count: number, part: Part): Record<string, Part> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`part-${n}`, part]))
}

function addResource(it: Environment, key: string, parts: object = {}) {
  return it.execute('createResource', { body: { key, name: 'X', actions: {}, ...parts } })
}

function removeResource(it: Environment, key: string) {
  return it.execute('deleteResource', { params: { resource_id: key } })
}

function copiedResource(key: string, parts: object = {}) {
  const body = { name: 'X', actions: {}, ...parts }
  return { resources: [{ key, body, relationTexts: [], actionGroups: [] }] }
}

function addSet(it: Environment, key: string, fields: object = {}) {
  return it.execute('createConditionSet', { body: { key, name: 'X', ...fields } })
}

/** Expects that each failure is a refusal because of a limit. Returns the number of successes. */
async function doneOf(...work: readonly Promise<unknown>[]): Promise<number> {
  const outcomes = await Promise.allSettled(work)
  const refusals = outcomes.flatMap(outcome =>
    outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
  )
  for (const refusal of refusals) expect(refusal).toMatchObject(REFUSED)
  return outcomes.length - refusals.length
}

const at = new Date(0).toISOString()
const KINDS: readonly {
  readonly what: string
  readonly max: number
  readonly kind: RecordKind
  add(it: Environment, key: string): Promise<unknown>
  remove(it: Environment, key: string): Promise<unknown>
  copied(key: string): Partial<ExportedSchema>
}[] = [
  {
    what: 'resources',
    max: LOW.resources,
    kind: 'type',
    add: addResource,
    remove: removeResource,
    copied: copiedResource,
  },
  {
    what: 'tenant roles',
    max: LOW.tenantRoles,
    kind: 'role',
    add: (it, key) => it.execute('putRolesInBulk', { body: { operations: [{ key, name: 'X' }] } }),
    remove: (it, key) => it.execute('deleteTenantRole', { params: { role_id: key } }),
    copied: key => ({ tenantRoles: [[key, { name: 'X' }]] }),
  },
  {
    what: 'condition sets',
    max: LOW.conditionSets,
    kind: 'condition-set',
    add: addSet,
    remove: (it, key) => it.execute('deleteConditionSet', { params: { condition_set_id: key } }),
    copied: key => ({ conditionSets: [copiedSet(key)] }),
  },
  {
    what: 'proxy configs',
    max: LOW.proxyConfigs,
    kind: 'proxy-config',
    add: (it, key) =>
      it.execute('createProxyConfig', { body: { key, name: 'X', secret: 'x', mapping_rules: [] } }),
    remove: (it, key) => it.execute('deleteProxyConfig', { params: { proxy_config_id: key } }),
    copied: key => {
      const config = { key, name: 'X', auth_mechanism: 'Bearer', mapping_rules: [] } as const
      return { proxyConfigs: [{ ...config, created_at: at, updated_at: at }] }
    },
  },
]

test.each(KINDS)('the number of $what is limited', async ({ what, max, kind, add, remove, copied }) => {
  const environment = await opened()
  for (let n = 1; n < max; n += 1) await add(environment, `part-${n}`)
  expect(await doneOf(...['x', 'y', 'z'].map(key => add(environment, key)))).toBe(1)
  expect(environment.count(kind)).toBe(max)
  const message = expect.stringMatching(`there are ${max} ${what}, which is the maximum`) as string
  await expect(add(environment, 'beyond')).rejects.toMatchObject({ ...REFUSED, message })
  await expect(environment.execute('importSchema', copyOf(copied('beyond')))).rejects.toMatchObject(REFUSED)
  // Importing an existing part does not change the count.
  await environment.execute('importSchema', copyOf(copied('part-1')))
  await remove(environment, 'part-1')
  await environment.execute('importSchema', copyOf(copied('beyond')))
  expect(environment.count(kind)).toBe(max)
})

test('a resource type that is created for a new group counts toward the limit of resources', async () => {
  const environment = await opened()
  for (let n = 0; n < LOW.resources; n += 1) await addResource(environment, `part-${n}`)
  const group = { body: { group_instance_key: 'beyond:g', group_tenant: 'default' } }
  await expect(environment.execute('createGroup', group)).rejects.toMatchObject(REFUSED)
})

test('relations of several resources together, and roles of one resource, are limited even for concurrent creations', async () => {
  const environment = await opened()
  const create = (key: string, count: number) =>
    addResource(environment, key, { relations: keyed(count, key) })
  await create('full', 16)
  expect(await doneOf(create('a', 8), create('b', 8), create('c', 8))).toBe(1)
  await create('last', 6)
  expect(environment.count('relation')).toBe(LOW.relations)
  await expect(create('beyond', 1)).rejects.toMatchObject(REFUSED)
  await removeResource(environment, 'last')
  await create('again', 6)

  await addResource(environment, 'r', { roles: keyed(15, { name: 'X' }) })
  const addRole = (key: string) =>
    environment.execute('createResourceRole', { params: { resource_id: 'r' }, body: { key, name: 'X' } })
  expect(await doneOf(...['x', 'y', 'z'].map(addRole))).toBe(1)
})

test('tenant roles and resource roles count toward the same limit of roles, including in a schema import', async () => {
  const environment = await opened()
  const operations = Object.keys(keyed(20, null)).map(key => ({ key, name: 'X' }))
  await environment.execute('putRolesInBulk', { body: { operations } })
  await addResource(environment, 'r', { roles: keyed(16, { name: 'X' }) })
  const copyWith = (key: string, count: number) =>
    copyOf(copiedResource(key, { roles: keyed(count, { name: 'X' }) }))
  await expect(environment.execute('importSchema', copyWith('beyond', 5))).rejects.toMatchObject(REFUSED)
  await environment.execute('importSchema', copyWith('last', 4))
  // Replacing all roles of a resource by the same number of roles does not change the count.
  const roles = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`other-${n}`, { name: 'X' }]))
  await environment.execute('updateResource', { params: { resource_id: 'r' }, body: { roles } })
  expect(environment.count('role')).toBe(LOW.roles)
})

test('deleting a resource frees the capacity of its condition sets', async () => {
  const environment = await opened()
  await addResource(environment, 'document')
  for (const key of ['a', 'b', 'c', 'd']) {
    await addSet(environment, key, { type: 'resourceset', resource_id: 'document' })
  }
  await expect(addSet(environment, 'beyond')).rejects.toMatchObject(REFUSED)
  await removeResource(environment, 'document')
  await addSet(environment, 'again')
})

describe('the limit of rules', () => {
  const rule = (set: number, action = 'read') => ({
    user_set: `set-${set}`,
    permission: `document:${action}`,
    resource_set: 'document',
  })
  const add = (it: Environment, set: number, action?: string) =>
    it.execute('createSetRule', { body: rule(set, action) })

  async function withSets(count = 4): Promise<Environment> {
    const environment = await opened()
    await addResource(environment, 'document', { actions: { read: {}, write: {} } })
    for (let set = 0; set < count; set += 1) await addSet(environment, `set-${set}`)
    return environment
  }

  test('per permission applies to single creations, concurrent creations and schema imports', async () => {
    const environment = await withSets()
    for (let set = 0; set < LOW.rulesPerAction - 1; set += 1) await add(environment, set)
    const outcomes = await Promise.allSettled([2, 3].map(set => add(environment, set)))
    const left = outcomes[0]!.status === 'rejected' ? 2 : 3
    expect(environment.count('rule')).toBe(LOW.rulesPerAction)
    const copied = copyOf({ rules: [{ ...rule(left), resource_set: '__autogen_document' }] })
    const refused = { ...REFUSED, message: 'permission "document:read" has 3 rules, which is the maximum' }
    await expect(add(environment, left)).rejects.toMatchObject(refused)
    await expect(environment.execute('importSchema', copied)).rejects.toMatchObject(REFUSED)
    await add(environment, 3, 'write')
  })

  test('applies to a bulk, which creates no rule if it exceeds the limit', async () => {
    const environment = await withSets()
    const bulk = (...operations: ReturnType<typeof rule>[]) =>
      environment.execute('createSetRules', { body: { operations } })
    const most = [0, 1, 2].map(set => rule(set))
    await expect(bulk(...most, rule(3))).rejects.toMatchObject(REFUSED)
    await bulk(...most)
    await expect(bulk(rule(0, 'write'), rule(1, 'write'), rule(2, 'write'))).rejects.toMatchObject({
      ...REFUSED,
      message: 'there are 5 rules, which is the maximum',
    })
    const answer = await bulk(rule(0, 'write'), rule(1, 'write'), rule(0))
    expect(answer).toMatchObject({ body: { rules_created: 2 } })
  })

  test('per environment applies, and deleting a condition set frees capacity immediately', async () => {
    const environment = await withSets()
    for (let set = 0; set < 3; set += 1) await add(environment, set)
    for (let set = 0; set < 2; set += 1) await add(environment, set, 'write')
    const refused = { ...REFUSED, message: 'there are 5 rules, which is the maximum' }
    await expect(add(environment, 2, 'write')).rejects.toMatchObject(refused)
    // The two rules of the set do not count any more, even if their rows are not purged yet.
    await environment.execute('deleteConditionSet', { params: { condition_set_id: 'set-0' } })
    await add(environment, 2, 'write')
    await add(environment, 3, 'read')
    await expect(add(environment, 3, 'write')).rejects.toMatchObject(REFUSED)
  })

  test('ignores dead rules that are not purged yet', async () => {
    const max = 40
    const ceilings = { ...SCHEMA_CEILINGS, rules: max }
    const environment = await RunningEnvironment.open('memory:', ceilings)
    await addResource(environment, 'document', { actions: { read: {} } })
    for (const key of ['a', 'b']) await environment.execute('createTenantRole', { body: { key, name: 'R' } })
    const sets = Array.from({ length: max }, (_, index) => `set-${index}`)
    for (const key of sets) await addSet(environment, key, { type: 'resourceset' })
    const ofRole = (user_set: string, resource_set: string) => ({
      body: { user_set, permission: 'document:read', resource_set },
    })
    for (const key of sets) await environment.execute('createSetRule', ofRole('a', key))
    // All changes are in one draft, so that no purge runs in between. The draft removes some of the rows.
    const replacedBy = (resourceSets: readonly string[]) =>
      environment.attempt(function* (context) {
        yield* deleteTenantRole(context, { params: { role_id: 'a' } })
        for (const key of resourceSets) yield* createSetRule(context, ofRole('b', key))
        yield* checkSchemaCeilings(context, ceilings)
      }).work
    expect(() => runAtOnce(replacedBy(sets))).not.toThrow()
    expect(() => runAtOnce(replacedBy([...sets, 'document']))).toThrow(/there are 40 rules/u)
  })
})

test('imports are subject to the documented limits', () => {
  const sets = Array.from({ length: CONDITION_SETS_MAX + 1 }, (_, index) => {
    return { kind: 'condition_set', key: `s${index}`, name: 'X', type: 'userset', conditions: {} }
  })
  const configs = (count: number, rules: number) =>
    Array.from({ length: count }, (_, index) => {
      const rule = (n: number) => ({ url: `https://a.org/${n}`, http_method: 'get', resource: 'page' })
      const mapping_rules = Array.from({ length: rules }, (_rule, n) => rule(n))
      return { kind: 'proxy_config', key: `c${index}-${rules}`, name: 'X', mapping_rules }
    })
  const full = configs(MAPPING_RULES_MAX / MAPPING_RULES_PER_CONFIG_MAX, MAPPING_RULES_PER_CONFIG_MAX)
  for (const [lines, beyond, message] of [
    [sets.slice(1), sets[0]!, /there are 10000 condition sets/u],
    [configs(PROXY_CONFIGS_MAX, 0), configs(1, 1)[0]!, /there are 1000 proxy configs/u],
    [full, configs(1, 1)[0]!, /10001 mapping rules/u],
  ] as const) {
    expect(importedRows(lines)).toBe(lines.length + 1)
    expect(() => importedRows([...lines, beyond])).toThrow(message)
  }
  expect(SCHEMA_CEILINGS).toMatchObject({
    conditionSets: 10_000,
    rules: 100_000,
    rulesPerAction: 10_000,
    proxyConfigs: PROXY_CONFIGS_MAX,
  })
  expect(SIZE_CEILINGS).toMatchObject({
    mappingRules: MAPPING_RULES_MAX,
    mappingBytes: MAPPING_BYTES_TOTAL_MAX,
  })
})
