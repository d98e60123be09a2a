/** Limits of plans, each with a plan at the limit and one above it (filter.md P52 to P56). */
import { describe, expect, test } from 'vitest'
import type { AccessPlan } from '#filter/tree.ts'
import type { Change } from '#model/change.ts'
import {
  FILTER_BYTES_MAX,
  FILTER_NODES_MAX,
  FILTER_PARTS_MAX,
  PLAN_REASONS_MAX,
  PLAN_TENANTS_MAX,
} from '#model/limits.ts'
import { askRoutes } from '#testing/engines/ask-routes.ts'
import * as made from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const EVERYONE = made.conditionSet('everyone', {})
const MODEL: readonly Change[] = [
  ...made.FOLDERS,
  ...made.DOCUMENTS,
  made.tenantRole('reader', { can: ['document:read'] }),
  made.user('alice'),
  EVERYONE,
]

/** A rule that allows all users to read documents that meet the conditions. */
function allowedIf(conditions: object): readonly Change[] {
  return [
    made.conditionSet('wanted', conditions, { side: 'resource', type: 'document' }),
    made.ruleOf('everyone', 'wanted'),
  ]
}

function withAttributes(name: string, attributes: object, inTenant = 'default'): Change {
  return { ...made.instance(name, inTenant), attributes: attributes as never }
}

type Asked = readonly [
  error: { readonly code: string; readonly planDetail: unknown } | null,
  plan: AccessPlan | null,
]

/** Plans that alice reads documents. Returns the error or the plan. */
async function plan(changes: readonly Change[], parts: object): Promise<Asked> {
  const engine = SharedEngine.with([...MODEL, ...changes])
  const body = { user: { key: 'alice' }, action: 'read', resource: { type: 'document' }, ...parts }
  try {
    const answer = await askRoutes(() => engine, Date.UTC(2026, 10, 26))<AccessPlan>(
      'planAccess',
      JSON.stringify(body),
    )
    return [null, answer]
  } catch (error) {
    return [error as { code: string; planDetail: unknown }, null]
  }
}

const KEYS = ['a', 'b', 'c'] as const
const inDefault = { resource: { type: 'document', tenant: 'default' } }
const text = (name: string, nulls = 'sent') => ({ attributes: { [name]: { type: 'string', nulls } } })

describe('max_ids limits', () => {
  test.each<[string, string, readonly Change[], object]>([
    ['instance_roles', 'key', KEYS.map(key => made.assign('alice', 'viewer', `document:${key}`)), inDefault],
    [
      'relation_subjects',
      'relations.parent',
      KEYS.map(key => made.assign('alice', 'viewer', `folder:${key}`)),
      { ...inDefault, columns: { relations: ['parent'] } },
    ],
    [
      'other_tenants',
      'key',
      [
        made.tenant('acme'),
        made.assignInTenant('alice', 'reader', 'default'),
        ...KEYS.map(key => made.instance(`document:${key}`, 'acme')),
      ],
      inDefault,
    ],
    [
      'tenants',
      'tenant',
      KEYS.flatMap(key => [made.tenant(key), made.assignInTenant('alice', 'reader', key)]),
      { columns: { tenant: true }, tenants_agree: true },
    ],
    [
      'tenants',
      'key',
      [
        made.tenant('acme'),
        made.assignInTenant('alice', 'reader', 'acme'),
        ...KEYS.map(key => made.instance(`document:${key}`, 'acme')),
      ],
      {},
    ],
    [
      'stored_attributes',
      'key',
      [
        ...allowedIf({ 'resource.owner': { equals: 'alice' } }),
        ...KEYS.map(key => withAttributes(`document:${key}`, { owner: 'alice' })),
      ],
      inDefault,
    ],
    [
      'lookup',
      'attributes.folder',
      [
        ...allowedIf({
          'resource.folder': { object_match: { match: { x: { equals: 1 } }, fk_resource_type: 'folder' } },
        }),
        ...KEYS.map(key => withAttributes(`folder:${key}`, { x: 1 })),
      ],
      { ...inDefault, columns: text('folder') },
    ],
    [
      'condition',
      'attributes.owner',
      allowedIf({ 'resource.owner': { in: [...KEYS] } }),
      { ...inDefault, columns: text('owner') },
    ],
  ])('the lists of %s in %s', async (source, field, facts, parts) => {
    const changes = facts.flatMap(change =>
      change.kind === 'assignment-put' && 'instance' in change.scope
        ? [
            {
              kind: 'instance-put',
              instance: change.scope.instance,
              tenant: 'default',
              attributes: null,
            } as const,
            change,
          ]
        : [change],
    )
    const [, at] = await plan(changes, { ...parts, max_ids: 3 })
    expect(at).toMatchObject({ ids: 3 })
    const [above] = await plan(changes, { ...parts, max_ids: 2 })
    expect(above).toMatchObject({ code: 'FILTER_TOO_LARGE', planDetail: [{ field, source, limit: 2 }] })
  })

  test('the sum of all lists, and the error names the longest list first', async () => {
    const facts = [
      ...['a', 'b'].flatMap(key => [
        made.instance(`document:${key}`),
        made.assign('alice', 'viewer', `document:${key}`),
      ]),
      ...allowedIf({ 'resource.owner': { in: [...KEYS] } }),
    ]
    const parts = { ...inDefault, columns: text('owner') }
    expect((await plan(facts, { ...parts, max_ids: 5 }))[1]).toMatchObject({ ids: 5 })
    expect((await plan(facts, { ...parts, max_ids: 4 }))[0]).toMatchObject({
      planDetail: [
        { field: 'attributes.owner', source: 'condition', limit: 4 },
        { field: 'key', source: 'instance_roles', limit: 4 },
      ],
    })
  })
})

/** Rules with `count` tests of one column together. */
function rulesOfTests(count: number): readonly Change[] {
  return Array.from({ length: Math.ceil(count / 1_000) }, (_, group) => {
    const tests = Array.from({ length: Math.min(1_000, count - 1_000 * group) }, (_each, index) => ({
      'resource.owner': { match: `${group}-${index}*` },
    }))
    const set = `set-${group}`
    return [
      made.conditionSet(set, { anyOf: tests }, { side: 'resource', type: 'document' }),
      made.ruleOf('everyone', set),
    ]
  }).flat()
}

test('a filter has at most 5,000 nodes', async () => {
  const parts = { ...inDefault, columns: text('owner') }
  // One more node combines the tests.
  const [, at] = await plan(rulesOfTests(FILTER_NODES_MAX - 1), parts)
  expect(JSON.stringify(at).match(/"type"/gu)).toHaveLength(FILTER_NODES_MAX)
  const [above] = await plan(rulesOfTests(FILTER_NODES_MAX), parts)
  expect(above).toMatchObject({
    code: 'FILTER_TOO_LARGE',
    planDetail: [{ source: 'nodes', limit: FILTER_NODES_MAX }],
  })
})

test('a filter whose parts are too large is refused, unless a rule allows all rows', async () => {
  const parts = { ...inDefault, columns: text('owner') }
  const large = rulesOfTests(FILTER_PARTS_MAX + 1)
  expect((await plan(large, parts))[0]).toMatchObject({
    code: 'FILTER_TOO_LARGE',
    planDetail: [{ source: 'nodes', limit: FILTER_NODES_MAX }],
  })
  const all = made.ruleOf('everyone')
  expect((await plan([...large, all], parts))[1]).toMatchObject({ kind: 'always_allowed' })
})

test('a filter has at most 8 MiB', async () => {
  const SIZE = 512
  const COUNT = Math.floor(FILTER_BYTES_MAX / (SIZE + '"",'.length))
  const documents = (count: number) => [
    made.tenant('acme'),
    made.assignInTenant('alice', 'reader', 'acme'),
    ...Array.from({ length: count }, (_, index) =>
      made.instance(`document:${String(index).padStart(SIZE, 'k')}`, 'acme'),
    ),
  ]
  const [, at] = await plan(documents(COUNT), { max_ids: 30_000 })
  expect(at).toMatchObject({ ids: COUNT })
  const [above] = await plan(documents(COUNT + 1), { max_ids: 30_000 })
  expect(above).toMatchObject({
    code: 'FILTER_TOO_LARGE',
    planDetail: [{ source: 'bytes', limit: FILTER_BYTES_MAX }],
  })
})

test('an error contains at most 100 tests without an exact filter', async () => {
  const names = Array.from({ length: PLAN_REASONS_MAX }, (_, index) => `n${index}`)
  const columns = { attributes: Object.fromEntries(names.map(name => [name, { type: 'string' }])) }
  const NOW = '2026-01-01T00:00:00Z'
  const tests = names.map(name => ({ [`resource.${name}`]: { 'less-than': NOW } }))
  const another = { 'resource.n0': { 'greater-than': NOW } }
  for (const anyOf of [tests, [...tests, another]]) {
    const [error] = await plan(allowedIf({ anyOf }), { ...inDefault, columns })
    expect(error).toMatchObject({ code: 'FILTER_NOT_EXPRESSIBLE' })
    expect(error!.planDetail).toHaveLength(PLAN_REASONS_MAX)
  }
})

test('a plan distinguishes at most 10,000 tenants', async () => {
  const tenants = (count: number) => [
    ...allowedIf({ 'tenant.key': { equals: 't1' } }),
    ...Array.from({ length: count - 1 }, (_, index) => made.tenant(`t${index}`)),
  ]
  const parts = { columns: { tenant: true }, tenants_agree: true }
  const [, at] = await plan(tenants(PLAN_TENANTS_MAX), parts)
  expect(at).toMatchObject({ filter: { field: 'tenant', operator: 'eq', value: 't1' } })
  const [above] = await plan(tenants(PLAN_TENANTS_MAX + 1), parts)
  expect(above).toMatchObject({
    code: 'FILTER_TOO_COSTLY',
    planDetail: [{ source: 'tenants', limit: PLAN_TENANTS_MAX }],
  })
})

test('a plan evaluates at most 20,000,000 steps', async () => {
  const numbers = (from: number) => Array.from({ length: 1_000 }, (_, index) => from + index)
  const documents = (count: number) => [
    ...allowedIf({ 'resource.numbers': { array_intersect: [-1] } }),
    ...Array.from({ length: count }, (_, index) =>
      withAttributes(`document:${index}`, { numbers: numbers(index) }),
    ),
  ]
  const [, below] = await plan(documents(1_000), inDefault)
  expect(below).toMatchObject({ kind: 'always_denied' })
  const [above] = await plan(documents(1_600), inDefault)
  expect(above).toMatchObject({
    code: 'FILTER_TOO_COSTLY',
    planDetail: [{ source: 'steps', limit: 20_000_000 }],
  })
})

test('a plan has at most 100 columns of attributes, and 100 of relations', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`)
  const attributes = (count: number) => ({
    columns: { attributes: Object.fromEntries(names(count).map(name => [name, { type: 'string' }])) },
  })
  expect((await plan([], attributes(100)))[1]).toMatchObject({ kind: 'always_denied' })
  expect((await plan([], attributes(101)))[0]).toMatchObject({ code: 'LIMIT_EXCEEDED' })
  const relations = names(100).map(name => made.relation('document', name, 'folder'))
  expect((await plan(relations, { columns: { relations: names(100) } }))[1]).toMatchObject({
    kind: 'always_denied',
  })
  expect((await plan(relations, { columns: { relations: names(101) } }))[0]).toMatchObject({
    code: 'LIMIT_EXCEEDED',
  })
})

test.each([
  ['user', { user: { key: 'alice', attributes: { x: 'a'.repeat(65_536) } } }],
  ['resource', { resource: { type: 'document', tenant: 'default', attributes: { x: 'a'.repeat(65_536) } } }],
  ['context', { ...inDefault, context: { x: 'a'.repeat(65_536) } }],
])('attributes of the %s above 64 KiB are refused only if a condition reads them', async (root, parts) => {
  const [error] = await plan(allowedIf({ [`${root}.x`]: { exists: true } }), { ...inDefault, ...parts })
  expect(error).toMatchObject({ code: 'LIMIT_EXCEEDED' })
  const computed = ['resource.key', 'user.key', 'tenant.key', 'server.time', 'resource.type']
  for (const path of computed) {
    const [, unread] = await plan(allowedIf({ [path]: { exists: true } }), { ...inDefault, ...parts })
    expect(unread, path).toMatchObject({ kind: 'always_allowed' })
  }
})
