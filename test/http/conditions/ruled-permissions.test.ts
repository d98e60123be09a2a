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
  const place = { key, resource: 'document', tenant: 'default' }
  const { status } = await verdict.post(`${FACTS}/resource_instances`, {
    ...place,
    attributes: { owner: n % 2 === 0 ? 'ann' : 'bob' },
  })
  expect(status).toBe(200)
}
await verdict.assign('ann', 'editor', 'document:a')
await verdict.assign('ann', 'reader', 'default')
await verdict.conditionSet({ key: 'all', conditions: {} })
await verdict.conditionSet({
  key: 'at-home',
  conditions: { 'context.home': { equals: true } },
})
const owned = { 'resource.owner': { 'equals-ref': 'user.key' } }
await verdict.conditionSet({
  key: 'owned',
  type: 'resourceset',
  resource_id: 'document',
  conditions: owned,
})
await verdict.setRule('all', 'document:read', 'owned')
await verdict.setRule('at-home', 'document:write', '__autogen_document')

async function permissions(body: object, query = ''): Promise<Permissions> {
  const answer = await verdict.post<Permissions>(`/user-permissions${query}`, {
    user: { key: 'ann' },
    ...body,
  })
  expect([answer.status, answer.body]).toEqual([200, answer.body])
  return answer.body
}

const FLAG = { enable_abac_user_permissions: true }
const asked = { resource_types: ['document', '__tenant'], context: FLAG }

test('rules count where the context says so and types are named, else they do not', async () => {
  for (const body of [
    {},
    { context: FLAG },
    { resource_types: asked.resource_types },
    { ...asked, context: { enable_abac_user_permissions: 1 } },
  ]) {
    expect(Object.keys(await permissions(body)).toSorted()).toEqual(['__tenant:default', 'document:a'])
  }
  expect(await permissions(asked)).toEqual({
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

test('pages come in the order of names, with rules and without, and end where there is no more', async () => {
  const pageOf = async (body: object, page: number, size: number) =>
    Object.keys(await permissions(body, `?page=${page}&per_page=${size}`))
  expect(await pageOf(asked, 1, 2)).toEqual(['__tenant:default', 'document:a'])
  expect(await pageOf(asked, 2, 2)).toEqual(['document:c'])
  expect(await pageOf(asked, 3, 2)).toEqual([])
  expect([await pageOf({}, 1, 1), await pageOf({}, 2, 1)]).toEqual([['__tenant:default'], ['document:a']])
})

test.each([
  ['?page=1', 400, 'page and per_page'],
  ['?per_page=2', 400, 'page and per_page'],
  ['?page=0&per_page=2', 400, 'page'],
  ['?page=1&per_page=x', 400, 'per_page'],
  ['?page=4&per_page=4', 400, 'MAX_LISTED_ENTRIES'],
])('%s is refused', async (query, status, reason) => {
  const answer = await verdict.post(`/user-permissions${query}`, { user: { key: 'ann' } })
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringContaining(reason)])
})

test('the last page that ends at the ceiling is answered', async () => {
  expect(await permissions({}, '?page=3&per_page=4')).toEqual({})
})

test.each([
  ['in the context', { context: { enable_abac_authorized_users: true } }],
  ['in the context of the resource', { resource: { context: { enable_abac_authorized_users: true } } }],
  ['in the resource', { resource: { enable_abac_authorized_users: true } }],
])('users whom rules allow are listed with the sets that match, if asked for %s', async (_, how) => {
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
})
