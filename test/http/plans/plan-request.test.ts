/** `/allowed/plan`: requests, responses and errors (filter.md, sections 1, 2 and 6). */
import { describe, expect, test } from 'vitest'
import { PLAN_VECTORS } from '#testing/oracle/plan-vectors.ts'
import { sharedService } from '#testing/processes/running-service.ts'
import { planned, plannedFilter, planOf, refusedPlan } from '../../support/calls/plans.ts'

const client = await sharedService()
await client.createFolderModel()
await client.users('alice', 'ann')
await client.tenant('acme')
await client.conditionSet({ key: 'everyone' })
const document = { type: 'resourceset', resource_id: 'document' } as const

/** Creates a rule that allows all users `action` on documents that meet the condition. */
async function rule(action: string, conditions: object): Promise<void> {
  await client.done('POST', '/v2/schema/default/default/resources/document/actions', {
    key: action,
    name: action,
  })
  await client.conditionSet({ key: action, ...document, conditions: conditions as never })
  await client.setRule('everyone', `document:${action}`, action)
}

const IN_DEFAULT = { resource: { type: 'document', tenant: 'default' } }

test.each(PLAN_VECTORS.map((vector, index) => [vector[0], vector[2], vector, index] as const))(
  'the filter of %s, %j, is the vector of filter.md, section 11',
  async (_name, _says, [, column, says, isTrue, isFalse], index) => {
    const [type, nulls] = column.split(' ')
    const columns = { attributes: { c: { type, nulls } } }
    await rule(`true-${index}`, { 'resource.c': says })
    await rule(`false-${index}`, { not: { 'resource.c': says } })
    const ask = (action: string) =>
      plannedFilter(
        client,
        planOf('stranger', action, 'document', { ...IN_DEFAULT, columns, tenants_agree: true }),
      )
    expect([await ask(`true-${index}`), await ask(`false-${index}`)]).toEqual([isTrue, isFalse])
  },
)

test('a plan states its kind, its ids, the revision that it includes and its time', async () => {
  await client.assign('alice', 'viewer', 'document:d1')
  await client.assign('alice', 'viewer', 'document:d2')
  const before = Date.now()
  const plan = await planned(client, planOf('alice', 'read', 'document'))
  expect(plan).toEqual({
    kind: 'conditional',
    filter: { type: 'field', operator: 'in', field: 'key', value: ['d1', 'd2'] },
    ids: 2,
    revision: await client.revision(),
    as_of: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    expires_at: null,
  })
  expect(Date.parse(plan.as_of)).toBeGreaterThanOrEqual(before)
  expect(Date.parse(plan.as_of)).toBeLessThanOrEqual(Date.now())
  // A plan changes nothing, and has no tag.
  const { headers } = await client.post('/allowed/plan', planOf('alice', 'read', 'document'))
  expect(headers.get('etag')).toBeNull()
  expect(await client.revision()).toBe(plan.revision)
})

test('the order of members and relations has no effect on the bytes of a plan', async () => {
  const one = {
    columns: { attributes: { b: { type: 'string' }, a: { type: 'bool' } }, relations: ['parent'] },
  }
  const other = {
    columns: { relations: ['parent'], attributes: { a: { type: 'bool' }, b: { type: 'string' } } },
  }
  await client.assign('alice', 'viewer', 'folder:f1')
  const bytes = async (parts: object) =>
    JSON.stringify({ ...(await planned(client, planOf('alice', 'read', 'document', parts))), as_of: '' })
  expect(await bytes(one)).toBe(await bytes(other))
})

test('the key of a row that is reached only over a relation column is not listed', async () => {
  await client.users('paul')
  await client.assign('paul', 'viewer', 'folder:f9')
  await client.relate('folder:f9', 'parent', 'document:d9')
  const filter = (columns: object) =>
    plannedFilter(client, planOf('paul', 'read', 'document', { ...IN_DEFAULT, tenants_agree: true, columns }))
  expect(await filter({})).toBe('key eq "d9"')
  expect(await filter({ relations: ['parent'] })).toBe('relations.parent eq "f9"')
})

test.each([
  ['user', planOf('nobody', 'read', 'document')],
  ['type', planOf('alice', 'read', 'planet', { columns: { relations: ['parent'] } })],
  ['action', planOf('alice', 'fly', 'document')],
  ['tenant', planOf('alice', 'read', 'document', { resource: { type: 'document', tenant: 'nowhere' } })],
])('an unknown %s is always denied', async (_, body) => {
  expect(await planned(client, body)).toMatchObject({ kind: 'always_denied', ids: 0, expires_at: null })
})

test('members that are null or unknown count as absent, also in the form of older clients', async () => {
  const body = {
    user: 'alice',
    action: 'read',
    resource: { type: 'document', tenant: null, attributes: null, context: null, id: '', other: 1 },
    context: null,
    columns: {
      tenant: null,
      attributes: { owner: { type: 'string', nulls: null, comment: 1 } },
      relations: null,
    },
    tenants_agree: null,
    max_ids: null,
    other: 1,
  }
  expect(await plannedFilter(client, body)).toBe(
    await plannedFilter(client, planOf('alice', 'read', 'document')),
  )
})

const withColumn = (name: string, column: unknown = { type: 'string' }): object => ({
  columns: { attributes: { [name]: column } },
})

describe('a request', () => {
  test.each<[string, object, string]>([
    ['a key', { resource: { type: 'document', key: 'd1' } }, 'resource.key'],
    ['a column without a type', withColumn('c', {}), 'columns.attributes.c.type'],
    ['a column that is null', withColumn('c', null), 'columns.attributes.c'],
    ['a column of objects', withColumn('c', { type: 'json' }), 'columns.attributes.c.type'],
    [
      'an unknown meaning of NULL',
      withColumn('c', { type: 'string', nulls: 'absent' }),
      'columns.attributes.c.nulls',
    ],
    ['an empty name', withColumn(''), 'columns.attributes.'],
    ['a name with a dot', withColumn('owner.name'), 'columns.attributes.owner.name'],
    ['a name with a control character', withColumn('a\u0085'), 'columns.attributes.a'],
    ['a name of 256 bytes', withColumn('é'.repeat(128)), 'at most 255 bytes'],
    ['the name of a computed attribute', withColumn('tenant'), 'columns.attributes.tenant'],
    [
      'the name of a constant',
      { resource: { type: 'document', attributes: { c: 1 } }, ...withColumn('c') },
      'columns.attributes.c',
    ],
    ['a relation twice', { columns: { relations: ['parent', 'parent'] } }, 'columns.relations'],
    ['a tenant column that is not a boolean', { columns: { tenant: 'yes' } }, 'columns.tenant'],
    ['tenants_agree that is not a boolean', { tenants_agree: 1 }, 'tenants_agree'],
    ['max_ids of 0', { max_ids: 0 }, 'max_ids'],
    ['max_ids of 30,001', { max_ids: 30_001 }, 'max_ids'],
    ['max_ids with a fraction', { max_ids: 1.5 }, 'max_ids'],
  ])('with %s is 400 with the place', async (_, parts, place) => {
    const refused = await refusedPlan(client, planOf('alice', 'read', 'document', parts))
    expect(refused).toMatchObject({ status: 400, error_code: 'INVALID_INPUT' })
    expect(refused.message).toContain(place)
    expect(refused.detail.length).toBeGreaterThan(0)
  })

  test.each<[string, object]>([
    ['a name of 255 bytes', withColumn(`${'é'.repeat(127)}x`)],
    ['max_ids of 1', { resource: { type: 'planet' }, max_ids: 1 }],
    ['max_ids of 30,000', { max_ids: 30_000 }],
  ])('with %s is accepted', async (_, parts) => {
    await planned(client, planOf('alice', 'read', 'document', parts))
  })

  test('with a relation that the type does not define is 422', async () => {
    const body = planOf('alice', 'read', 'document', { columns: { relations: ['parent', 'owner'] } })
    expect(await refusedPlan(client, body)).toMatchObject({
      status: 422,
      error_code: 'UNKNOWN_RELATION',
      detail: [{ relation: 'owner' }],
    })
  })
})
