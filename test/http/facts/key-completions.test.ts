/** Key completion, `…/key_completions`: returns the keys that start with a prefix. */
import { expect, test } from 'vitest'
import { COMPLETIONS_DEFAULT, COMPLETIONS_MAX, LONG_KEY_BYTES_MAX } from '#model/limits.ts'
import type { KeyCompletion, KeyCompletions } from '#entities/key-completion.ts'
import {
  ADMIN_KEY,
  FACTS,
  GROUPS,
  neighbourOf,
  SCHEMA,
  sharedService,
} from '#testing/processes/running-service.ts'
import { refusal } from '../../support/calls/refusals.ts'

const verdict = await sharedService()

const SCRIPTS = 'über-uns übung жук жаба 文字 文書 😀 😀😀 עברית a%b a*b a_b ab'.split(' ')

await verdict.resource({
  key: 'document',
  name: 'Document',
  actions: { read: {} },
  roles: { viewer: { name: 'May view' }, editor: { name: 'Editor' } },
})
await verdict.resource({ key: 'folder', actions: { read: {} }, roles: { viewer: { name: 'Viewer' } } })
await verdict.resource({ key: 'team', actions: {} })
await verdict.tenantRole('viewer', [])
await verdict.tenantRole('visitor', [])
for (const key of ['acme', 'acorn', 'umbrella']) await verdict.tenant(key)
await verdict.put(`${FACTS}/bulk/users`, {
  operations: [
    { key: 'bob', email: 'bob@example.org', first_name: 'Robert', last_name: 'Lee' },
    { key: 'bobby', first_name: '', last_name: 'Lee' },
    { key: 'Bobo' },
    { key: 'bo' },
    ...SCRIPTS.map(key => ({ key })),
    ...Array.from({ length: COMPLETIONS_MAX + 20 }, (_, n) => ({
      key: `many-${String(n).padStart(3, '0')}`,
    })),
  ],
})
for (const key of ['d1', 'd2', 'd10']) await verdict.instance(`document:${key}`, 'acme')
for (const key of ['d1', 'e1']) await verdict.instance(`folder:${key}`, 'umbrella')
await verdict.group('devs', 'acme')
await verdict.post(GROUPS, {
  group_instance_key: 'designers',
  group_tenant: 'acorn',
  group_resource_type_key: 'team',
})
await verdict.instance('team:de-facto', 'acme')
await verdict.conditionSet({ key: 'staff', name: 'All staff' })
await verdict.conditionSet({ key: 'stale', name: 'Stale', type: 'resourceset', resource_id: 'document' })

interface Query {
  readonly kind: string
  readonly prefix?: string
  readonly resource?: string
  readonly limit?: number
}

function pathOf(query: Query, facts = FACTS): string {
  const parameters = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return `${facts}/key_completions?${parameters.toString()}`
}

function complete(query: Query, key?: string, facts?: string): Promise<KeyCompletions> {
  return verdict.done('GET', pathOf(query, facts), undefined, key)
}

async function keys(kind: string, prefix: string, limit?: number): Promise<string[]> {
  const query = { kind, prefix, ...(limit !== undefined && { limit }) }
  return (await complete(query)).data.map(({ key }) => key)
}

/** Fields of the completions that are not null, without the ids. */
async function fields(query: Query): Promise<Partial<KeyCompletion>[]> {
  return (await complete(query)).data.map(each =>
    Object.fromEntries(Object.entries(each).filter(([name, value]) => name !== 'id' && value !== null)),
  )
}

test.each<[prefix: string, keys: readonly string[]]>([
  ['bo', ['bo', 'bob', 'bobby']],
  ['bob', ['bob', 'bobby']],
  ['Bo', ['Bobo']],
  ['ob', []],
  ['ü', ['über-uns', 'übung']],
  ['жа', ['жаба']],
  ['ж', ['жаба', 'жук']],
  ['文', ['文字', '文書']],
  ['😀', ['😀', '😀😀']],
  ['עב', ['עברית']],
  ['a%', ['a%b']],
  ['a*', ['a*b']],
  ['a_', ['a_b']],
  ['*', []],
  ['%', []],
  ['a'.repeat(LONG_KEY_BYTES_MAX), []],
])(
  'the prefix %s returns the keys that start with exactly this text, in key order',
  async (prefix, expected) => {
    expect(await keys('user', prefix)).toEqual(expected)
  },
)

test('an empty or missing prefix returns all keys', async () => {
  expect(await keys('tenant', '')).toEqual(['acme', 'acorn', 'default', 'umbrella'])
  expect((await complete({ kind: 'tenant' })).data).toHaveLength(4)
})

test(`a response has ${COMPLETIONS_DEFAULT} keys by default, at most ${COMPLETIONS_MAX}, and states whether there are more`, async () => {
  const first = (count: number) =>
    Array.from({ length: count }, (_, n) => `many-${String(n).padStart(3, '0')}`)
  const some = await complete({ kind: 'tenant', prefix: 'ac', limit: 1 })
  expect([some.data.map(({ key }) => key), some.has_more]).toEqual([['acme'], true])
  expect(await complete({ kind: 'tenant', prefix: 'ac', limit: 2 })).toMatchObject({ has_more: false })
  expect(await keys('user', 'many-')).toEqual(first(COMPLETIONS_DEFAULT))
  expect(await keys('user', 'many-', COMPLETIONS_MAX)).toEqual(first(COMPLETIONS_MAX))
})

const D1 = { key: 'd1', resource: 'document', tenant: 'acme' }
const [DESIGNERS, DEVS] = [
  { key: 'designers', resource: 'team', tenant: 'acorn' },
  { key: 'devs', resource: 'group', tenant: 'acme' },
]
const IN_FOLDER = { key: 'd1', resource: 'folder', tenant: 'umbrella' }
const NAMED = expect.any(String)

test.each<[query: Query, found: readonly object[]]>([
  [
    { kind: 'user', prefix: 'bob' },
    [
      { key: 'bob', email: 'bob@example.org', name: 'Robert Lee' },
      { key: 'bobby', name: 'Lee' },
    ],
  ],
  [{ kind: 'tenant', prefix: 'acm' }, [{ key: 'acme', name: NAMED }]],
  [{ kind: 'resource', prefix: 'doc' }, [{ key: 'document', name: 'Document' }]],
  [
    { kind: 'condition_set', prefix: 'sta' },
    [
      { key: 'staff', name: 'All staff', type: 'userset' },
      { key: 'stale', name: 'Stale', type: 'resourceset' },
    ],
  ],
  [
    { kind: 'resource_instance', prefix: 'd' },
    [
      D1,
      IN_FOLDER,
      { ...D1, key: 'd10' },
      { ...D1, key: 'd2' },
      { key: 'de-facto', resource: 'team', tenant: 'acme' },
      DESIGNERS,
      DEVS,
    ],
  ],
  [{ kind: 'resource_instance', prefix: '', resource: 'folder' }, [IN_FOLDER, { ...IN_FOLDER, key: 'e1' }]],
  [{ kind: 'group', prefix: 'de' }, [DESIGNERS, DEVS]],
  [{ kind: 'group', prefix: '', resource: 'team' }, [DESIGNERS]],
  [{ kind: 'group', prefix: 'd', resource: 'document' }, []],
  [
    { kind: 'role', prefix: 'vi' },
    [
      { key: 'viewer', name: NAMED },
      { key: 'viewer', name: 'May view', resource: 'document' },
      { key: 'viewer', name: 'Viewer', resource: 'folder' },
      { key: 'visitor', name: NAMED },
    ],
  ],
])('each completion of %j has the fields that identify it to a person', async (query, found) => {
  expect(await fields(query)).toEqual(found)
})

test('built-in resources are not returned', async () => {
  await verdict.post(`${SCHEMA}/users/attributes`, { key: 'level', type: 'string' })
  expect(await keys('resource', '__')).toEqual([])
})

test.each<Query>([
  { kind: 'relation' },
  { kind: 'user', resource: 'document' },
  { kind: 'user', prefix: 'a'.repeat(LONG_KEY_BYTES_MAX + 1) },
  { kind: 'user', limit: 0 },
  { kind: 'user', limit: COMPLETIONS_MAX + 1 },
])('the query %j is rejected with 422', async query => {
  expect(refusal(await verdict.get(pathOf(query)))).toEqual([422, 'INVALID_INPUT'])
})

test('a resource that does not exist has no groups', async () => {
  expect(await complete({ kind: 'group', resource: 'nothing' })).toEqual({ data: [], has_more: false })
})

test('a request returns only keys of the environment to which the API key is scoped', async () => {
  const neighbour = await neighbourOf(verdict, 'completed')
  const there = '/v2/facts/default/completed'
  expect((await complete({ kind: 'user' }, neighbour, there)).data).toEqual([])
  await verdict.send('POST', `${there}/users`, { key: neighbour, body: { key: 'bob-next-door' } })
  expect((await complete({ kind: 'user', prefix: 'bob' }, ADMIN_KEY, there)).data).toMatchObject([
    { key: 'bob-next-door' },
  ])
  expect(await keys('user', 'bob')).toEqual(['bob', 'bobby'])
  expect(refusal(await verdict.send('GET', pathOf({ kind: 'user' }), { key: neighbour }))).toEqual([
    403,
    'FORBIDDEN_ACCESS',
  ])
  const mounted = await verdict.itemsIn('/facts/key_completions?kind=user&prefix=bobb')
  expect(mounted.map(({ key }) => key)).toEqual(['bobby'])
})

// HTTP clients resolve `.` and `..` in paths, so a path cannot contain such keys.
test('each completion has an id, which a path can use in place of keys such as `.` and `..`', async () => {
  await verdict.put(`${FACTS}/bulk/users`, { operations: [{ key: '.' }, { key: '..' }] })
  for (const key of ['.', '..']) {
    const [first] = (await complete({ kind: 'user', prefix: key, limit: 1 })).data
    expect(first!.key).toBe(key)
    expect((await verdict.get<{ key: string }>(`${FACTS}/users/${first!.id}`)).body.key).toBe(key)
  }
  const { id } = (await verdict.get<{ id: string }>(`${GROUPS}/direct/devs`)).body
  expect((await complete({ kind: 'group', prefix: 'devs' })).data.map(each => each.id)).toEqual([id])
})
