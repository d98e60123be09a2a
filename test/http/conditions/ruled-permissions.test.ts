/** `/user-permissions` and `/authorized_users` with rules and in pages (conditions.md 8.1 and 8.2). */
import { expect, test } from 'vitest'
import { FACTS, sharedService } from '#testing/processes/running-service.ts'

interface Entry {
  readonly permissions: readonly string[]
  readonly roles: readonly string[]
  readonly userset?: readonly string[]
  readonly resourceset?: readonly string[]
  readonly resource?: { readonly attributes: object }
}
type Permissions = Readonly<Record<string, Entry>>
interface Users {
  readonly users: Readonly<Record<string, readonly { resource: string; role: string; tenant: string }[]>>
}

const verdict = await sharedService({ listedEntriesMax: 12 })
await verdict.resource({
  key: 'document',
  actions: { read: {}, write: {} },
  roles: { editor: { name: 'editor', permissions: ['write'] } },
})
await verdict.tenantRole('reader', ['document:read'])
await verdict.users('ann', 'bob')
for (const [n, key] of ['a', 'b', 'c', 'd'].entries()) {
  const attributes = { owner: n % 2 === 0 ? 'ann' : 'bob' }
  const body = { key, resource: 'document', tenant: 'default', attributes }
  expect((await verdict.post(`${FACTS}/resource_instances`, body)).status).toBe(200)
}
await verdict.assign('ann', 'editor', 'document:a')
await verdict.assign('ann', 'reader', 'default')
await verdict.conditionSet({ key: 'all', conditions: {} })
await verdict.conditionSet({ key: 'at-home', conditions: { 'context.home': { equals: true } } })
const conditions = { 'resource.owner': { 'equals-ref': 'user.key' } }
await verdict.conditionSet({ key: 'owned', type: 'resourceset', resource_id: 'document', conditions })
await verdict.setRule('all', 'document:read', 'owned')
await verdict.setRule('at-home', 'document:write', '__autogen_document')

async function permissions(body: object, query = ''): Promise<Permissions> {
  const sent = { user: { key: 'ann' }, ...body }
  const answer = await verdict.post<Permissions>(`/user-permissions${query}`, sent)
  expect([answer.status, answer.body]).toEqual([200, answer.body])
  return answer.body
}

const FLAG = { enable_abac_user_permissions: true }
const withRules = { resource_types: ['document', '__tenant'], context: FLAG }

test('permissions from rules are listed only if the context sets the flag and the request names resource types', async () => {
  for (const body of [
    {},
    { context: FLAG },
    { resource_types: withRules.resource_types },
    { ...withRules, context: { enable_abac_user_permissions: 1 } },
  ]) {
    expect(Object.keys(await permissions(body)).toSorted()).toEqual(['__tenant:default', 'document:a'])
  }
  expect(await permissions(withRules)).toEqual({
    '__tenant:default': {
      tenant: { key: 'default', attributes: {} },
      permissions: ['read:document'],
      roles: ['reader'],
    },
    'document:a': {
      resource: { key: 'a', type: 'document', attributes: { owner: 'ann' } },
      permissions: ['read:document', 'write:document'],
      roles: ['editor'],
      userset: ['all'],
      resourceset: ['owned'],
    },
    'document:c': {
      resource: { key: 'c', type: 'document', attributes: { owner: 'ann' } },
      permissions: ['read:document'],
      roles: [],
      userset: ['all'],
      resourceset: ['owned'],
    },
  })
})

test('pages of permissions are ordered by name, with and without rules, and pages after the last one are empty', async () => {
  const pageOf = async (body: object, page: number, size: number) =>
    Object.keys(await permissions(body, `?page=${page}&per_page=${size}`))
  expect(await pageOf(withRules, 1, 2)).toEqual(['__tenant:default', 'document:a'])
  expect(await pageOf(withRules, 2, 2)).toEqual(['document:c'])
  expect(await pageOf(withRules, 3, 2)).toEqual([])
  expect([await pageOf({}, 1, 1), await pageOf({}, 2, 1)]).toEqual([['__tenant:default'], ['document:a']])
})

test.each([
  ['?page=1', 400, 'page and per_page'],
  ['?per_page=2', 400, 'page and per_page'],
  ['?page=0&per_page=2', 400, 'page'],
  ['?page=1&per_page=x', 400, 'per_page'],
  ['?page=4&per_page=4', 400, 'MAX_LISTED_ENTRIES'],
])('the query %s is rejected', async (query, status, reason) => {
  const answer = await verdict.post(`/user-permissions${query}`, { user: { key: 'ann' } })
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringContaining(reason)])
})

test('a page that ends exactly at MAX_LISTED_ENTRIES is returned', async () => {
  expect(await permissions({}, '?page=3&per_page=4')).toEqual({})
})

test.each([
  ['in the context', { context: { enable_abac_authorized_users: true } }],
  ['in the context of the resource', { resource: { context: { enable_abac_authorized_users: true } } }],
  ['in the resource', { resource: { enable_abac_authorized_users: true } }],
])(
  'authorized users include those allowed by rules, with the matching sets, if a flag is %s',
  async (_, how) => {
    const resource = { type: 'document', key: 'b', ...('resource' in how && how.resource) }
    const { body } = await verdict.post<Users>('/authorized_users', { action: 'read', ...how, resource })
    expect(body.users).toEqual({
      ann: [{ user: 'ann', tenant: 'default', resource: '__tenant:default', role: 'reader' }],
      bob: [{ user: 'bob', tenant: 'default', resource: 'owned', role: 'all' }],
    })
    const plain = await verdict.post<Users>('/authorized_users', {
      action: 'read',
      resource: { type: 'document', key: 'b' },
    })
    expect(Object.keys(plain.body.users)).toEqual(['ann'])
  },
)
