/** Trials of condition sets on samples before they are saved: values, findings, warnings and limits. */
import { describe, expect, test } from 'vitest'
import { CONDITION_SAMPLES_MAX, SENT_ATTRIBUTES_BYTES_MAX, TRIED_TESTS_BYTES_MAX } from '#model/limits.ts'
import type { TriedSample, TriedSet } from '#entities/tried-set.ts'
import { FACTS, fresh, revisionOf, SCHEMA, sharedService } from '#testing/processes/running-service.ts'
import { type Problem, refusal } from '../../support/calls/refusals.ts'

const verdict = await sharedService()
const SETS = `${SCHEMA}/condition_sets`
const TRY = `${SETS}/try`
const SALES = { 'user.department': { equals: 'sales' } }
/** A condition on the tenant, so that there is no warning. */
const MEMBER = { 'user.tenants': { array_contains: { ref: 'tenant.key' } } }

await verdict.tenant('acme')
await verdict.post(`${FACTS}/users`, {
  key: 'ann',
  email: 'ann@acme.example',
  attributes: { department: 'sales', home: { city: 'Bern' } },
})
for (const role of ['clerk', 'agent', 'buyer']) {
  await verdict.tenantRole(role, [])
  await verdict.assign('ann', role, 'acme')
}
await verdict.resource({ key: 'document', attributes: { pages: { type: 'number' } } })
await verdict.resource({ key: 'folder' })
for (const [resource, key, attributes] of [
  ['document', 'plan', { public: true, folder: 'top' }],
  ['folder', 'top', { open: true }],
] as const) {
  await verdict.post(`${FACTS}/resource_instances`, { resource, key, tenant: 'acme', attributes })
}

const tried = (body: object) => verdict.done<TriedSet>('POST', TRY, body)

async function samplesOf(body: object): Promise<readonly TriedSample[]> {
  const { valid, samples } = await tried(body)
  expect(valid).toBe(true)
  return samples
}

describe('the trial of a user set', () => {
  test('returns the value of each sample, and each condition with the value found', async () => {
    const body = {
      conditions: { allOf: [SALES, { not: { 'user.level': { 'less-than': 2 } } }] },
      samples: [{ user: 'ann' }, { attributes: { department: 'law', level: 3 } }],
    }
    const department = { path: 'user.department', operator: 'equals', operand: 'sales' }
    const level = { path: 'user.level', operator: 'less-than', operand: 2 }
    expect(await samplesOf(body)).toEqual([
      {
        user: 'ann',
        tenant: 'default',
        value: 'unknown',
        conditions: [
          { ...department, found: 'sales', value: 'true' },
          { ...level, found: 'missing', is_missing: true, value: 'unknown' },
        ],
      },
      {
        tenant: 'default',
        value: 'false',
        conditions: [
          { ...department, found: 'law', value: 'false' },
          { ...level, found: 3, value: 'false' },
        ],
      },
    ])
  })

  test('reads stored attributes of a user, but attributes of the sample have precedence', async () => {
    const conditions = {
      'user.key': { equals: 'ann' },
      'user.email': { match: '*@acme.example' },
      'user.home.city': { equals: 'Bern' },
      'user.home.floor': { equals: 2 },
      'user.department': { equals: 'law' },
    }
    const attributes = { department: 'law', home: { floor: 2 } }
    expect(await samplesOf({ conditions, samples: [{ user: 'ann', attributes }] })).toMatchObject([
      { value: 'true', conditions: Array(5).fill({ value: 'true' }) },
    ])
  })

  test('reads the tenants of the user, and its roles and the tenant attributes in the named tenant', async () => {
    await verdict.patch(`${FACTS}/tenants/acme`, { attributes: { plan: 'gold' } })
    const body = {
      conditions: {
        'user.roles': { equals: ['agent', 'buyer', 'clerk'] },
        'user.tenants': { equals: ['acme'] },
        'tenant.plan': { equals: 'gold' },
      },
      samples: [{ user: 'ann' }],
    }
    expect(await samplesOf({ ...body, tenant: 'acme' })).toMatchObject([{ tenant: 'acme', value: 'true' }])
    expect(await samplesOf(body)).toMatchObject([
      {
        tenant: 'default',
        value: 'false',
        conditions: [{ found: [] }, { found: ['acme'] }, { is_missing: true }],
      },
    ])
  })

  test('has no results without samples, accepts unknown users, and is true for a set without conditions', async () => {
    expect(await tried({ conditions: MEMBER })).toEqual({
      valid: true,
      findings: [],
      warnings: [],
      samples: [],
    })
    const samples = [{ user: 'unknown', attributes: { department: 'sales' } }]
    expect(await samplesOf({ conditions: SALES, samples })).toMatchObject([
      { user: 'unknown', not_stored: ['user'], value: 'true' },
    ])
    expect(await samplesOf({ samples: [{}] })).toEqual([{ tenant: 'default', value: 'true', conditions: [] }])
  })

  test('warns if a rule on the set would hold in every tenant', async () => {
    const { warnings } = await tried({ conditions: SALES })
    expect(warnings).toEqual([
      { loc: ['body', 'conditions'], msg: expect.stringContaining('every tenant'), type: 'every_tenant' },
    ])
    expect((await tried({ type: 'resourceset', conditions: SALES })).warnings).toEqual([])
  })
})

describe('the trial of a resource set', () => {
  test('reads the attributes and tenant of a stored instance, and of instances that it refers to', async () => {
    const conditions = {
      'resource.public': { equals: true },
      'resource.tenant': { equals: 'acme' },
      'resource.type': { equals: 'document' },
      'resource.key': { equals: 'plan' },
      'resource.folder': { object_match: { fk_resource_type: 'folder', match: { open: { equals: true } } } },
    }
    const samples = [{ resource_instance: 'document:plan' }]
    expect(await samplesOf({ type: 'resourceset', conditions, samples, tenant: 'default' })).toEqual([
      {
        resource_instance: 'document:plan',
        tenant: 'acme',
        value: 'true',
        conditions: [
          expect.objectContaining({ found: true }),
          expect.objectContaining({ found: 'acme' }),
          expect.objectContaining({ found: 'document' }),
          expect.objectContaining({ found: 'plan' }),
          { path: 'resource.folder', operator: 'object_match', found: 'top', value: 'true' },
        ],
      },
    ])
  })

  test('evaluates no conditions for an instance of another resource type', async () => {
    const body = {
      type: 'resourceset',
      resource_id: 'document',
      conditions: { 'resource.type': { equals: 'document' } },
      samples: [{ resource_instance: 'folder:top' }, { resource_instance: 'document:new' }, {}],
    }
    expect(await samplesOf(body)).toMatchObject([
      { value: 'false', is_of_other_resource: true, conditions: [] },
      { value: 'true', not_stored: ['resource_instance'] },
      { value: 'true' },
    ])
  })
})

describe('the trial of a set with a parent', () => {
  test('includes the conditions of each ancestor, with the key of this ancestor', async () => {
    const [top, mid] = fresh('top', 'mid')
    await verdict.conditionSet({ key: top, conditions: { 'user.active': { equals: true } } })
    await verdict.conditionSet({ key: mid, parent_id: top, conditions: MEMBER })
    const [sample] = await samplesOf({
      conditions: SALES,
      parent_id: mid,
      samples: [{ user: 'ann' }],
      tenant: 'acme',
    })
    expect(sample).toMatchObject({
      value: 'unknown',
      conditions: [
        { path: 'user.department', value: 'true' },
        { path: 'user.tenants', value: 'true', set: mid },
        { path: 'user.active', value: 'unknown', set: top },
      ],
    })
    expect(sample!.conditions[0]).not.toHaveProperty('set')
  })

  test('with the key of a saved set returns the values that this set would have after the change', async () => {
    const [top, low] = fresh('top', 'low')
    await verdict.conditionSet({ key: top, conditions: MEMBER })
    await verdict.conditionSet({ key: low, conditions: SALES, parent_id: top })
    const samples = [{ user: 'ann' }]
    const pathsOf = async (body: object) =>
      (await samplesOf({ ...body, samples })).flatMap(({ conditions }) => conditions.map(({ path }) => path))
    expect(await pathsOf({ key: low })).toEqual(['user.department', 'user.tenants'])
    expect(await pathsOf({ key: low, parent_id: null })).toEqual(['user.department'])
    expect(await pathsOf({ key: low, conditions: {} })).toEqual(['user.tenants'])
    expect(refusal(await verdict.post(TRY, { key: top, parent_id: low }))).toEqual([400, 'INVALID_INPUT'])
  })
})

describe('a trial of invalid conditions', () => {
  test.each<[fault: string, fields: object]>([
    ['an unknown operator', { conditions: { allOf: [SALES, { 'user.a': { like: 1 } }] } }],
    ['several findings', { conditions: { 'usr.a': { equals: 1 }, 'user.b': { 'less-than': 'x' } } }],
    ['a user set with a resource', { resource_id: 'document' }],
    [
      'an operator that does not fit the declared type',
      { type: 'resourceset', resource_id: 'document', conditions: { 'resource.pages': { contains: 'x' } } },
    ],
  ])('returns the same findings as the creation of the set: %s', async (_, fields) => {
    const created = await verdict.post<Problem>(SETS, { key: fresh('refused')[0], name: 'X', ...fields })
    expect(refusal(created)).toEqual([422, 'INVALID_INPUT'])
    expect(await tried({ ...fields, samples: [{ user: 'ann' }] })).toEqual({
      valid: false,
      findings: created.body.detail,
      warnings: [],
      samples: [],
    })
  })

  test('returns a finding if the conditions are not an object', async () => {
    const msg = expect.stringContaining('expected an object')
    for (const conditions of [[], null, 'x'])
      expect((await tried({ conditions })).findings).toEqual([
        { loc: ['body', 'conditions'], msg, type: 'condition' },
      ])
  })

  test('is rejected with 404 if it names an entity other than a user that does not exist', async () => {
    for (const fields of [
      { parent_id: 'nowhere' },
      { type: 'resourceset', resource_id: 'nowhere' },
      { tenant: 'nowhere' },
      { samples: [{ resource_instance: 'c0ffee00-0000-4000-8000-000000000000' }] },
    ]) {
      expect(refusal(await verdict.post(TRY, fields)), JSON.stringify(fields)).toEqual([404, 'NOT_FOUND'])
    }
  })
})

describe('a trial of a condition set', () => {
  test(`accepts ${CONDITION_SAMPLES_MAX} samples, each of which can have as many attributes as a check`, async () => {
    const samples = Array.from({ length: CONDITION_SAMPLES_MAX }, () => ({}))
    expect(await samplesOf({ samples })).toHaveLength(CONDITION_SAMPLES_MAX)
    const tooMany = await verdict.post<Problem>(TRY, { samples: [...samples, {}] })
    expect([refusal(tooMany), tooMany.body.detail?.[0]?.loc]).toEqual([
      [422, 'INVALID_INPUT'],
      ['body', 'samples'],
    ])
    const long = { attributes: { x: 'x'.repeat(SENT_ATTRIBUTES_BYTES_MAX) } }
    expect(refusal(await verdict.post(TRY, { samples: [long] }))).toEqual([400, 'INVALID_INPUT'])
  })

  test('has the condition budget of a check, and warns that conditions beyond this budget are unknown', async () => {
    const costly = { 'user.text': { match: '*a*a*a*a*a*a*a*a*a*a*a*a*a*b' } }
    const conditions = { anyOf: Array.from({ length: 10 }, () => costly), ...MEMBER }
    const attributes = { text: 'a'.repeat(5_000) }
    const body = { conditions, tenant: 'acme', samples: [{ user: 'ann' }, { user: 'ann', attributes }] }
    const { samples, warnings } = await tried(body)
    expect(samples.map(({ value }) => value)).toEqual(['unknown', 'unknown'])
    expect(samples[1]!.conditions.slice(0, 10).map(({ value }) => value)).toEqual([
      'false',
      ...Array(9).fill('unknown'),
    ])
    expect(warnings).toEqual([
      { loc: ['body', 'samples', 1], msg: expect.stringContaining('unknown'), type: 'budget' },
    ])
  })

  test('omits conditions from a response that would be too large, but never the values of samples', async () => {
    const text = 'x'.repeat(60_000)
    const conditions = { allOf: Array.from({ length: 100 }, () => ({ 'user.text': { exists: true } })) }
    const samples = [{ attributes: { text } }, {}]
    const results = await samplesOf({ conditions, samples })
    expect(JSON.stringify(results).length).toBeLessThan(TRIED_TESTS_BYTES_MAX + 1_000)
    expect(results).toMatchObject([{ value: 'true', more: true }, { value: 'false' }])
    expect(results[0]!.conditions.length).toBeGreaterThan(0)
    expect(results[1]).not.toHaveProperty('more')
    expect(results[1]!.conditions).toHaveLength(100)
  })

  test('changes nothing, and is not in the audit log', async () => {
    const before = revisionOf(await verdict.get(SETS))
    const [key] = fresh('tried')
    const answer = await verdict.post<TriedSet>(TRY, { key, conditions: SALES, samples: [{ user: 'ann' }] })
    expect(revisionOf(answer)).toBe(before)
    expect(refusal(await verdict.get(`${SETS}/${key}`))).toEqual([404, 'NOT_FOUND'])
    const path = '/v2/audit-log/default/default?operation=tryConditionSet'
    expect((await verdict.admin<{ data: unknown[] }>('GET', path)).body.data).toEqual([])
  })
})

test('a set with the key `try` can be read, changed and deleted like any other set', async () => {
  await verdict.conditionSet({ key: 'try' })
  expect(await verdict.get(TRY)).toMatchObject({ status: 200, body: { key: 'try' } })
  expect((await verdict.patch(TRY, { name: 'Try' })).status).toBe(200)
  expect((await verdict.delete(TRY)).status).toBe(204)
})
