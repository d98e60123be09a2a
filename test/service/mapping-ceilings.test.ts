/** How many proxy configs and mapping rules an environment may have, whichever way they come (conditions, section 10.4). */
import { describe, expect, test } from 'vitest'
import { SCHEMA_CEILINGS } from '#management/schema/schema-ceilings.ts'
import { SIZE_CEILINGS } from '#management/schema/schema-size.ts'
import {
  MAPPING_BYTES_TOTAL_MAX,
  MAPPING_RULES_MAX,
  MAPPING_RULES_PER_CONFIG_MAX,
  PROXY_CONFIGS_MAX,
} from '#model/limits.ts'
import { importedRows } from '../support/imported-rows.ts'
import { RunningEnvironment } from '../support/running-environment.ts'

const LOW = { ...SCHEMA_CEILINGS, proxyConfigs: 3 }
const SIZES = { ...SIZE_CEILINGS, mappingRules: 4, mappingBytes: 2_000 }
const REFUSED = { code: 'LIMIT_EXCEEDED' }

async function opened(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open('memory:', LOW, SIZES)
  await environment.execute('createResource', { body: { key: 'page', name: 'P', actions: { get: {} } } })
  return environment
}

function rules(count: number, more = '') {
  return Array.from({ length: count }, (_, index) => ({
    url: `https://a.org/${index}${more}`,
    http_method: 'get' as const,
    resource: 'page',
  }))
}

function add(environment: RunningEnvironment, key: string, count = 0, more = '') {
  const body = { key, name: 'X', secret: 'x', mapping_rules: rules(count, more) }
  return environment.execute('createProxyConfig', { body })
}

function change(environment: RunningEnvironment, key: string, count: number, more = '') {
  return environment.execute('updateProxyConfig', {
    params: { proxy_config_id: key },
    body: { mapping_rules: rules(count, more) },
  })
}

function remove(environment: RunningEnvironment, key: string) {
  return environment.execute('deleteProxyConfig', { params: { proxy_config_id: key } })
}

function copyOf(key: string, count: number, more = '') {
  const nothing = { resources: [], tenantRoles: [], builtInTypes: [], conditionSets: [], rules: [] }
  const at = new Date(0).toISOString()
  const config = { key, name: 'X', auth_mechanism: 'Bearer', created_at: at, updated_at: at } as const
  const proxyConfigs = [{ ...config, mapping_rules: rules(count, more) }]
  return { schema: { ...nothing, proxyConfigs }, conflictStrategy: 'overwrite' } as const
}

describe('proxy configs', () => {
  test('are as many as may be, and one more is refused by itself and in a copy', async () => {
    const environment = await opened()
    for (const key of ['a', 'b', 'c']) await add(environment, key)
    await expect(add(environment, 'd')).rejects.toMatchObject({
      ...REFUSED,
      message: 'there are 3 proxy configs, which is the most',
    })
    await expect(environment.execute('importSchema', copyOf('d', 0))).rejects.toMatchObject(REFUSED)
    await environment.execute('importSchema', copyOf('c', 1))
    await remove(environment, 'a')
    await environment.execute('importSchema', copyOf('d', 0))
  })

  test('added at the same moment where there is room for one: one goes through', async () => {
    const environment = await opened()
    for (const key of ['a', 'b']) await add(environment, key)
    const outcomes = await Promise.allSettled(['x', 'y', 'z'].map(key => add(environment, key)))
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(environment.count('proxy-config')).toBe(3)
  })
})

describe('mapping rules', () => {
  test('of all configs are as many as may be, and one more is refused, made, changed or copied', async () => {
    const environment = await opened()
    await add(environment, 'a', 3)
    const refused = {
      ...REFUSED,
      message: 'all proxy configs together would have 5 mapping rules, and may have 4',
    }
    await expect(add(environment, 'b', 2)).rejects.toMatchObject(refused)
    await add(environment, 'b', 1)
    await expect(change(environment, 'b', 2)).rejects.toMatchObject(refused)
    await expect(environment.execute('importSchema', copyOf('b', 2))).rejects.toMatchObject(refused)
    await change(environment, 'a', 2)
    await environment.execute('importSchema', copyOf('b', 2))
    await remove(environment, 'a')
    await change(environment, 'b', 4)
  })

  test('added at the same moment where there is room for some: those alone go through', async () => {
    const environment = await opened()
    await add(environment, 'a', 2)
    const outcomes = await Promise.allSettled(['x', 'y'].map(key => add(environment, key, 2)))
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  test('say as many bytes as they may, and no more', async () => {
    const environment = await opened()
    /** With one rule that has so many bytes as it is kept. */
    const filler = (bytes: number): string => {
      const kept = { url: 'https://a.org/0', method: 'get', type: 'page', action: null, priority: null }
      return 'x'.repeat(bytes - JSON.stringify([{ ...kept, headers: {} }]).length)
    }
    await add(environment, 'a', 1, filler(1_200))
    await expect(add(environment, 'b', 1, filler(801))).rejects.toMatchObject({
      ...REFUSED,
      message: 'all proxy configs together would have 2001 bytes of mapping rules, and may have 2000',
    })
    await add(environment, 'b', 1, filler(799))
    await change(environment, 'b', 1, filler(800))
    await expect(change(environment, 'a', 1, filler(1_201))).rejects.toMatchObject(REFUSED)
  })
})

test('an import is held to the real ceilings', () => {
  const config = (index: number, count: number) => ({
    kind: 'proxy_config',
    key: `c${index}`,
    name: 'X',
    mapping_rules: rules(count),
  })
  const configs = Array.from({ length: PROXY_CONFIGS_MAX + 1 }, (_, index) => config(index, 0))
  expect(importedRows(configs.slice(1))).toBe(PROXY_CONFIGS_MAX + 1)
  expect(() => importedRows(configs)).toThrow(/there are 1000 proxy configs/u)
  const full = Array.from({ length: MAPPING_RULES_MAX / MAPPING_RULES_PER_CONFIG_MAX }, (_, index) =>
    config(index, MAPPING_RULES_PER_CONFIG_MAX),
  )
  expect(importedRows(full)).toBe(full.length + 1)
  expect(() => importedRows([...full, config(full.length, 1)])).toThrow(/10001 mapping rules/u)
  expect([SIZE_CEILINGS.mappingRules, SIZE_CEILINGS.mappingBytes, SCHEMA_CEILINGS.proxyConfigs]).toEqual([
    MAPPING_RULES_MAX,
    MAPPING_BYTES_TOTAL_MAX,
    PROXY_CONFIGS_MAX,
  ])
})

test('an engine that is loaded knows the rules that the live one has heard of', async () => {
  const environment = await opened()
  await add(environment, 'a', 1)
  await add(environment, 'b', 0)
  await change(environment, 'b', 2, '-b')
  const known = (path: string) => environment.freshEngine().mapped('get', `https://a.org/${path}`)?.type
  expect([known('0'), known('1'), known('1-b')]).toEqual(['page', undefined, 'page'])
  await remove(environment, 'a')
  expect([known('0'), known('1-b')]).toEqual([undefined, 'page'])
})
