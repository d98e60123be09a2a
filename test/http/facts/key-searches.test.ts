/** Key search, `…/key_searches`: finds entities by a part of their names, a bounded number per request. */
import { expect, test } from 'vitest'
import { KEY_SEARCH_ROWS_MAX } from '#model/limits.ts'
import type { KeySearch } from '#entities/key-search.ts'
import { FACTS, sharedService } from '#testing/processes/running-service.ts'
import { refusal } from '../../support/calls/refusals.ts'

const verdict = await sharedService()

await verdict.createDocumentModel()
await verdict.tenant('acme')
await verdict.resource({ key: 'page', actions: {} })
for (const [key, tenant] of [
  ['document:plan-a', 'acme'],
  ['document:plan-b', 'default'],
  ['page:plan-c', 'acme'],
] as const)
  await verdict.instance(key, tenant)
await verdict.group('planners', 'acme')
await verdict.group('others', 'acme')

/** More users than two requests examine. Only the first and the last user have names. */
const USERS = 2 * KEY_SEARCH_ROWS_MAX + 5
const users = Array.from({ length: USERS }, (_, n) => ({ key: `user-${n}` }))
Object.assign(users[0]!, { first_name: 'Ann', last_name: 'Lee' })
Object.assign(users.at(-1)!, { first_name: 'Zoë', last_name: 'Lee', email: 'Zoe.Lee@example.org' })
for (let from = 0; from < USERS; from += 5_000)
  await verdict.put(`${FACTS}/bulk/users`, { operations: users.slice(from, from + 5_000) })

const pathOf = (query: string) => `${FACTS}/key_searches?${query}`
const search = (query: string) => verdict.get<KeySearch>(pathOf(query))

/** Runs a search to its end. Returns the keys that each of its requests found. */
async function keysPerRequest(query: string): Promise<string[][]> {
  const found: string[][] = []
  let after = ''
  for (;;) {
    const body = await verdict.done<KeySearch>('GET', pathOf(`${query}${after}`))
    found.push(body.data.map(({ key }) => key))
    if (body.next === null) return found
    after = `&after=${body.next}`
  }
}

const [first, last] = [users[0]!.key, users.at(-1)!.key]

test.for(['lee', 'LEE', 'l*e'])(
  'users are found by a part of their last names (%s), a bounded number per request',
  async text => {
    expect(await keysPerRequest(`kind=user&text=${text}`)).toEqual([[first], [], [last]])
  },
)

test.for(['zoë', 'lee@example', 'user-20004'])(
  'users are found by first name, email address and key: %s',
  async text => {
    expect((await keysPerRequest(`kind=user&text=${encodeURIComponent(text)}`)).flat()).toEqual([last])
  },
)

test('a result has the name and the email address of the user', async () => {
  const { body } = await search('kind=user&text=ann')
  expect(body.data).toEqual([
    expect.objectContaining({ key: first, name: 'Ann Lee', email: null, resource: null, tenant: null }),
  ])
})

test('a request stops at its limit, and the next request continues after the last result', async () => {
  const { body } = await search('kind=user&text=user-900&limit=2')
  expect(body.data.map(({ key }) => key)).toEqual(['user-900', 'user-9000'])
  const { body: next } = await search(`kind=user&text=user-900&limit=2&after=${body.next}`)
  expect(next.data.map(({ key }) => key)).toEqual(['user-9001', 'user-9002'])
})

test('a search finds users that are created between its requests, and omits users that are deleted', async () => {
  const { body } = await search('kind=user&text=late')
  await verdict.users('late-one', 'late-two')
  await verdict.delete(`${FACTS}/users/late-one`)
  const { body: next } = await search(`kind=user&text=late&after=${body.next}`)
  const { body: end } = await search(`kind=user&text=late&after=${next.next}`)
  expect([body.data, next.data, end.data.map(({ key }) => key)]).toEqual([[], [], ['late-two']])
})

test.for([
  ['kind=resource_instance&text=plan-', ['plan-a', 'plan-b', 'plan-c']],
  ['kind=resource_instance&text=plan-&resource=document', ['plan-a', 'plan-b']],
  ['kind=resource_instance&text=plan-&tenant=acme', ['plan-a', 'plan-c']],
  ['kind=resource_instance&text=plan-&tenant=acme&resource=document', ['plan-a']],
  ['kind=group&text=plan', ['planners']],
  ['kind=group&text=plan&tenant=default', []],
  ['kind=group&resource=group&tenant=acme', ['planners', 'others']],
  ['kind=tenant&text=cm', ['acme']],
  ['kind=group&resource=nothing', []],
  ['kind=group&tenant=nothing', []],
] as const)(
  'instances, groups and tenants are filtered by text, resource and tenant: %s',
  async ([query, keys]) => {
    expect(await keysPerRequest(query)).toEqual([keys])
  },
)

test('a result for an instance names its resource and its tenant', async () => {
  const { body } = await search('kind=resource_instance&text=plan-c')
  expect(body.data).toEqual([expect.objectContaining({ key: 'plan-c', resource: 'page', tenant: 'acme' })])
})

test.for([
  'kind=user&resource=document',
  'kind=tenant&tenant=acme',
  'kind=role',
  'kind=user&after=-1',
  'kind=user&limit=0',
  '',
])('the query "%s" is rejected with 422', async query => {
  expect(refusal(await search(query))).toEqual([422, 'INVALID_INPUT'])
})
