/**
 * The public todo vectors (authzen.md 10.1), over HTTP against a model loaded through our own management API.
 *
 * Their intent is that editors may change the todos they own, where the request says who the owner is: a condition,
 * `resource.ownerID` equals `user.email`. Roles and relations have no conditions. So the ownership is prepared as facts,
 * an instance role `owner` on the todos of Rick, Morty and Summer, and what the request says in `ownerID` is ignored.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { EVALUATION, EVALUATIONS, textOf } from '../support/access-requests.ts'
import { type Client, FACTS, SCHEMA, sharedService } from '#testing/processes/running-service.ts'

interface Request {
  readonly subject: { readonly id: string }
  readonly action: { readonly name: string }
  readonly resource: { readonly id: string; readonly properties?: { readonly ownerID?: string } }
  readonly evaluations?: readonly Pick<Request, 'resource'>[]
}

interface Vector {
  readonly request: Request
  readonly expected: object
}

type VectorSet = Readonly<Record<'evaluation' | 'evaluations', readonly Vector[]>>

const sets = JSON.parse(
  readFileSync(new URL('../vectors/authzen-todo.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, VectorSet>>

const keyOf = (part: string) => `CiRmZD${part}2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs`
const PEOPLE = [
  { name: 'Rick', key: keyOf('A'), email: 'rick@the-citadel.com', roles: ['admin', 'evil_genius'] },
  { name: 'Morty', key: keyOf('E'), email: 'morty@the-citadel.com', roles: ['editor'] },
  { name: 'Summer', key: keyOf('I'), email: 'summer@the-smiths.com', roles: ['editor'] },
  { name: 'Beth', key: keyOf('M'), email: 'beth@the-smiths.com', roles: ['viewer'] },
  { name: 'Jerry', key: keyOf('Q'), email: 'jerry@the-smiths.com', roles: ['viewer'] },
]
const nameOfKey = new Map(PEOPLE.map(({ key, name }) => [key, name]))
const nameOfEmail = new Map(PEOPLE.map(({ email, name }) => [email, name]))

/** Beth and Jerry own todos, too, but are viewers: role and ownership must hold together, so they get no fact. */
const OWNERS = [
  ['Rick', '7240d0db-8ff0-41ec-98b2-34a096273b92'],
  ['Morty', '7240d0db-8ff0-41ec-98b2-34a096273b91'],
  ['Summer', '7240d0db-8ff0-41ec-98b2-34a096273b93'],
] as const

/**
 * The vectors that only ownership allows: no role gives these, so in earnest they need the condition. They pass because
 * the ownership is prepared, not because `ownerID` was read.
 */
const NEED_THE_CONDITION = [
  'Morty can_update_todo of Morty',
  'Morty can_delete_todo of Morty',
  'Summer can_update_todo of Summer',
  'Summer can_delete_todo of Summer',
]
const BATCHES_THAT_NEED_THE_CONDITION = ['Morty can_update_todo of Rick, of Morty']

function nameOf({ subject, action, resource, evaluations }: Request): string {
  const about = (evaluations ?? [{ resource }]).map(item => {
    const owner = nameOfEmail.get(item.resource.properties?.ownerID ?? '')
    return owner === undefined ? item.resource.id : `of ${owner}`
  })
  return `${nameOfKey.get(subject.id)} ${action.name} ${about.join(', ')}`
}

async function load(client: Client, { withOwners }: { readonly withOwners: boolean }): Promise<void> {
  await client.resource({
    key: 'todo',
    actions: { can_read_todos: {}, can_create_todo: {}, can_update_todo: {}, can_delete_todo: {} },
    roles: { owner: { name: 'Owner', permissions: ['can_update_todo', 'can_delete_todo'] } },
  })
  await client.resource({ key: 'user', actions: { can_read_user: {} } })
  await client.tenantRole('viewer', ['user:can_read_user', 'todo:can_read_todos'])
  for (const [key, extended, permission] of [
    ['editor', 'viewer', 'todo:can_create_todo'],
    ['admin', 'editor', 'todo:can_delete_todo'],
    ['evil_genius', 'editor', 'todo:can_update_todo'],
  ] as const) {
    const body = { key, name: key, permissions: [permission], extends: [extended] }
    expect((await client.post(`${SCHEMA}/roles`, body)).status).toBe(200)
  }
  for (const { key, email, roles } of PEOPLE) {
    expect((await client.post(`${FACTS}/users`, { key, email })).status).toBe(200)
    for (const role of roles) await client.assign(key, role, 'default')
  }
  if (!withOwners) return
  for (const [name, todo] of OWNERS) {
    await client.assign(PEOPLE.find(person => person.name === name)!.key, 'owner', `todo:${todo}`)
  }
}

const prepared = await sharedService()
await load(prepared, { withOwners: true })
const rolesOnly = await sharedService()
await load(rolesOnly, { withOwners: false })

test('the vectors are all there, about people we know', () => {
  expect(
    Object.entries(sets).map(([name, set]) => [name, set.evaluation.length, set.evaluations?.length]),
  ).toEqual([
    ['todo-1.0', 40, undefined],
    ['todo-1.1', 40, 3],
  ])
  for (const { evaluation } of Object.values(sets)) {
    for (const { request } of evaluation) expect(nameOfKey.has(request.subject.id)).toBe(true)
  }
})

/** The expected body is compared as text: a member more would fail the public runner. */
describe.each(Object.entries(sets))('%s', (_name, { evaluation, evaluations = [] }) => {
  const named = (vectors: readonly Vector[]) =>
    vectors.map(vector => [nameOf(vector.request), vector] as const)

  test.each(named(evaluation))('%s', async (_about, { request, expected }) => {
    expect(await textOf(prepared, EVALUATION, request)).toBe(JSON.stringify(expected))
    expect(await textOf(prepared, EVALUATIONS, request)).toBe(JSON.stringify(expected))
    const batch = JSON.stringify({ evaluations: [expected] })
    expect(await textOf(prepared, EVALUATIONS, { evaluations: [request] })).toBe(batch)
  })

  test('by roles alone 36 of 40 pass, and the other four are those that need the condition', async () => {
    const failed: string[] = []
    for (const [about, { request, expected }] of named(evaluation)) {
      if ((await textOf(rolesOnly, EVALUATION, request)) !== JSON.stringify(expected)) failed.push(about)
    }
    expect(failed).toEqual(NEED_THE_CONDITION)
  })

  test('the ownerID of the request changes nothing, which is why conditions are needed', async () => {
    for (const { request, expected } of evaluation) {
      const resource = { ...request.resource, properties: { ownerID: 'nobody@nowhere.example' } }
      expect(await textOf(prepared, EVALUATION, { ...request, resource })).toBe(JSON.stringify(expected))
    }
  })

  test('batches pass as well, and by roles alone all but those that need the condition', async () => {
    const failed: string[] = []
    for (const [about, { request, expected }] of named(evaluations)) {
      expect(await textOf(prepared, EVALUATIONS, request), about).toBe(JSON.stringify(expected))
      if ((await textOf(rolesOnly, EVALUATIONS, request)) !== JSON.stringify(expected)) failed.push(about)
    }
    expect(failed).toEqual(evaluations.length > 0 ? BATCHES_THAT_NEED_THE_CONDITION : [])
  })
})
