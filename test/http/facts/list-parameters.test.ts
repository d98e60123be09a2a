/** Query parameters of lists: filters by attributes, and rejection of unknown parameters. */
import { describe, expect, test } from 'vitest'
import { routes } from '#testing/requests/routes.ts'
import { SIGN_IN } from '../../support/calls/member-calls.ts'
import { type Envelope, FACTS, RESOURCES, SCHEMA, sharedService } from '#testing/processes/running-service.ts'
import { INVALID, type Problem, refusal } from '../../support/calls/refusals.ts'
import { TOLERATED_PARAMETERS } from '#http/routing/tolerated-parameters.ts'

const verdict = await sharedService(SIGN_IN)
const plans = [
  { plan: 'gold', seats: 3, trial: true },
  { plan: 'gold', seats: 30, trial: false },
  { plan: 'lead', nested: { plan: 'gold' }, list: ['gold'], nothing: null },
]
const named = plans.map((attributes, n) => ({ key: `k${n + 1}`, name: `N${n + 1}`, attributes }))
await verdict.resource({
  key: 'document',
  actions: Object.fromEntries(named.map(({ key, attributes }) => [key, { attributes }])),
  roles: Object.fromEntries(named.map(({ key, ...role }) => [key, role])),
})
for (const each of named) {
  const { attributes: type_attributes, ...resource } = each
  await verdict.post(RESOURCES, { ...resource, actions: {}, type_attributes })
  await verdict.post(`${RESOURCES}/document/action_groups`, { ...each, actions: [] })
  await verdict.post(`${SCHEMA}/roles`, each)
  await verdict.post(`${FACTS}/tenants`, each)
  const { key, attributes } = each
  await verdict.post(`${FACTS}/users`, {
    key,
    first_name: key === 'k2' ? 'Second' : 'Other',
    attributes,
    role_assignments: [{ role: 'k1', tenant: 'k1' }],
  })
  await verdict.post(`${FACTS}/resource_instances`, { key, resource: 'document', tenant: key, attributes })
}

const LISTS = [
  RESOURCES,
  `${RESOURCES}/document/actions`,
  `${RESOURCES}/document/action_groups`,
  `${RESOURCES}/document/roles`,
  `${SCHEMA}/roles`,
  `${FACTS}/tenants`,
  `${FACTS}/tenants/k1/users`,
  `${FACTS}/users`,
  `${FACTS}/resource_instances`,
]

const keysIn = async (path: string) => (await verdict.itemsIn(path)).map(({ key }) => key)

describe.each(LISTS)('an attribute filter of %s', path => {
  test.each([
    ['matches a string', 'attr_plan=gold', ['k1', 'k2']],
    ['matches a number', 'attr_seats=30', ['k2']],
    ['matches a boolean', 'attr_trial=true', ['k1']],
    ['requires all attributes of the query', 'attr_plan=gold&attr_trial=false', ['k2']],
    ['does not match a part of a value', 'attr_plan=go', []],
    ['does not match an attribute that no entity has', 'attr_other=gold', []],
    ['does not match properties inherited from Object', 'attr_constructor=x', []],
    ['does not match an object', `attr_nested=${encodeURIComponent('{"plan":"gold"}')}`, []],
    ['does not match an item of a list', 'attr_list=gold', []],
    ['does not match null', 'attr_nothing=null', []],
    ['returns the second page', 'attr_plan=gold&page=2&per_page=1', ['k2']],
    ['returns an empty page after the last one', 'attr_plan=gold&page=3&per_page=1', []],
  ])('%s', async (_, query, keys) => {
    expect(await keysIn(`${path}?${query}`)).toEqual(keys)
  })

  test('can be given only once per attribute', async () => {
    const refused = await verdict.get<Problem>(`${path}?attr_plan=gold&attr_plan=lead`)
    expect(refusal(refused)).toEqual(INVALID)
    expect(refused.body.detail).toEqual([
      { loc: ['query', 'attr_plan'], msg: 'must be given once', type: 'type' },
    ])
  })

  test('needs a name', async () => {
    expect(refusal(await verdict.get(`${path}?attr_=gold`))).toEqual(INVALID)
  })
})

describe('attribute filters', () => {
  test('combine with a role and a search for users', async () => {
    const path = `${FACTS}/users?attr_plan=gold`
    expect(await keysIn(`${path}&role=k1`)).toEqual(['k1', 'k2'])
    expect(await keysIn(`${path}&role=`)).toEqual([])
    expect(await keysIn(`${path}&search=second`)).toEqual(['k2'])
    const { body } = await verdict.get<Envelope<object>>(`${path}&per_page=1`)
    expect(body).toMatchObject({ total_count: 2, page_count: 2 })
  })

  test('combine with a tenant and a resource type for instances', async () => {
    const path = `${FACTS}/resource_instances?attr_plan=gold`
    expect(await keysIn(`${path}&tenant=k2`)).toEqual(['k2'])
    expect(await keysIn(`${path}&tenant=k3&resource=document`)).toEqual([])
    const { body } = await verdict.get<Envelope<object>>(`${path}&include_total_count=true`)
    expect(body.total_count).toBe(2)
  })
})

describe('an unknown query parameter', () => {
  /** All lists of an environment or of the organization. */
  const lists = routes.filter(
    ({ family, method, query }) =>
      family === 'management' && method === 'GET' && 'page' in (query?.schema.properties ?? {}),
  )
  const pathOf = (template: string): string =>
    template
      .replace('{proj_id}', 'default')
      .replace('{env_id}', 'default')
      .replaceAll(/\{\w+\}/g, 'k1')

  test('is tested for every list operation', () => {
    const listing = routes.filter(
      ({ family, operationId }) => family === 'management' && operationId.startsWith('list'),
    )
    expect(listing.length).toBeGreaterThan(30)
    expect(lists).toEqual(listing)
  })

  test.each(lists.map(({ operationId, path }) => [operationId, pathOf(path)] as const))(
    'is named in a 422 response of %s',
    async (_, path) => {
      const refused = await verdict.admin<Problem>('GET', `${path}?tenent=acme&colour=red&page=1`)
      expect(refusal(refused)).toEqual(INVALID)
      const finding = { msg: 'is not a parameter of this list', type: 'unknown' }
      expect(refused.body.detail).toEqual(
        ['tenent', 'colour'].map(name => ({ loc: ['query', name], ...finding })),
      )
    },
  )

  test('is tolerated if known clients send it', async () => {
    for (const name of TOLERATED_PARAMETERS.keys()) {
      expect(await keysIn(`${RESOURCES}/document/actions?${name}=true`)).toEqual(['k1', 'k2', 'k3'])
    }
  })

  test('is ignored by operations that are not lists', async () => {
    expect((await verdict.get(`${FACTS}/users/k1?colour=red`)).status).toBe(200)
    expect((await verdict.get(`${FACTS}/resource_instances/document:k1?colour=red`)).status).toBe(200)
  })

  test('is reported at most 16 times per response', async () => {
    const query = Array.from({ length: 40 }, (_, n) => `x${n}=1`).join('&')
    const { body } = await verdict.get<Problem>(`${FACTS}/users?${query}`)
    expect(body.detail).toHaveLength(16)
  })
})
