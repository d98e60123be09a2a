/** Keys that begin with what somebody has typed: `…/key_completions`. */
import { expect, test } from 'vitest'
import { COMPLETIONS_DEFAULT, COMPLETIONS_MAX, LONG_KEY_BYTES_MAX } from '#model/limits.ts'
import type { KeyCompletion, KeyCompletions } from '#model/wire/key-completion.ts'
import {
  ADMIN_KEY,
  API_KEY,
  FACTS,
  GROUPS,
  neighbourOf,
  refusal,
  SCHEMA,
  sharedService,
} from '#testing/processes/running-service.ts'

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

interface Asked {
  readonly kind: string
  readonly prefix?: string
  readonly resource?: string
  readonly limit?: number
}

function ask(asked: Asked, key = API_KEY, facts = FACTS) {
  const query = new URLSearchParams(
    Object.entries(asked).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return verdict.send<KeyCompletions>('GET', `${facts}/key_completions?${query.toString()}`, { key })
}

async function completed(asked: Asked, key?: string, facts?: string): Promise<KeyCompletions> {
  const { status, body } = await ask(asked, key, facts)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

async function keys(
  kind: string,
  prefix: string,
  rest: Omit<Asked, 'kind' | 'prefix'> = {},
): Promise<string[]> {
  return (await completed({ kind, prefix, ...rest })).data.map(({ key }) => key)
}

/** What is said beside a key. */
async function told(asked: Asked): Promise<Partial<KeyCompletion>[]> {
  return (await completed(asked)).data.map(each =>
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
  '%s is completed by the keys that begin with exactly this text, in key order',
  async (prefix, expected) => {
    expect(await keys('user', prefix)).toEqual(expected)
  },
)

test('an empty or absent text is completed by all keys', async () => {
  expect(await keys('tenant', '')).toEqual(['acme', 'acorn', 'default', 'umbrella'])
  expect((await completed({ kind: 'tenant' })).data).toHaveLength(4)
})

test(`a request gets ${COMPLETIONS_DEFAULT} keys by default, at most ${COMPLETIONS_MAX}, and reads whether there are more`, async () => {
  const first = (count: number) =>
    Array.from({ length: count }, (_, n) => `many-${String(n).padStart(3, '0')}`)
  const some = await completed({ kind: 'tenant', prefix: 'ac', limit: 1 })
  expect([some.data.map(({ key }) => key), some.has_more]).toEqual([['acme'], true])
  expect(await completed({ kind: 'tenant', prefix: 'ac', limit: 2 })).toMatchObject({ has_more: false })
  expect(await keys('user', 'many-')).toEqual(first(COMPLETIONS_DEFAULT))
  expect(await keys('user', 'many-', { limit: COMPLETIONS_MAX })).toEqual(first(COMPLETIONS_MAX))
})

const D1 = { key: 'd1', resource: 'document', tenant: 'acme' }
const [DESIGNERS, DEVS] = [
  { key: 'designers', resource: 'team', tenant: 'acorn' },
  { key: 'devs', resource: 'group', tenant: 'acme' },
]
const IN_FOLDER = { key: 'd1', resource: 'folder', tenant: 'umbrella' }
const NAMED = expect.any(String)

test.each<[asked: Asked, found: readonly object[]]>([
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
])('%j: each key has what a person needs beside it', async (asked, found) => {
  expect(await told(asked)).toEqual(found)
})

test('a built-in resource completes nothing', async () => {
  await verdict.post(`${SCHEMA}/users/attributes`, { key: 'level', type: 'string' })
  expect(await keys('resource', '__')).toEqual([])
})

test.each<Asked>([
  { kind: 'relation' },
  { kind: 'user', resource: 'document' },
  { kind: 'user', prefix: 'a'.repeat(LONG_KEY_BYTES_MAX + 1) },
  { kind: 'user', limit: 0 },
  { kind: 'user', limit: COMPLETIONS_MAX + 1 },
])('is refused for %j', async asked => {
  expect(refusal(await ask(asked))).toEqual([422, 'INVALID_INPUT'])
})

test('a resource that does not exist has no groups', async () => {
  expect(await completed({ kind: 'group', resource: 'nothing' })).toEqual({ data: [], has_more: false })
})

test('keys are those of the environment that the key of the caller opens', async () => {
  const neighbour = await neighbourOf(verdict, 'completed')
  const there = '/v2/facts/default/completed'
  expect((await completed({ kind: 'user' }, neighbour, there)).data).toEqual([])
  await verdict.send('POST', `${there}/users`, { key: neighbour, body: { key: 'bob-next-door' } })
  expect((await completed({ kind: 'user', prefix: 'bob' }, ADMIN_KEY, there)).data).toMatchObject([
    { key: 'bob-next-door' },
  ])
  expect(await keys('user', 'bob')).toEqual(['bob', 'bobby'])
  expect(refusal(await ask({ kind: 'user' }, neighbour))).toEqual([403, 'FORBIDDEN_ACCESS'])
  const mounted = await verdict.get<KeyCompletions>('/facts/key_completions?kind=user&prefix=bobb')
  expect(mounted.body.data.map(({ key }) => key)).toEqual(['bobby'])
})

test('what is completed has its id, by which paths may name what they cannot by its key: clients take `.` and `..` for steps', async () => {
  await verdict.put(`${FACTS}/bulk/users`, { operations: [{ key: '.' }, { key: '..' }] })
  for (const key of ['.', '..']) {
    const [first] = (await completed({ kind: 'user', prefix: key, limit: 1 })).data
    expect(first!.key).toBe(key)
    expect((await verdict.get<{ key: string }>(`${FACTS}/users/${first!.id}`)).body.key).toBe(key)
  }
  const ids = async (asked: Asked) => (await completed(asked)).data.map(({ id }) => id)
  const { id } = (await verdict.get<{ id: string }>(`${GROUPS}/direct/devs`)).body
  expect(await ids({ kind: 'group', prefix: 'devs' })).toEqual([id])
})
