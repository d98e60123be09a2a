/**
 * The public todo vectors (authzen.md 10.1), over HTTP with a model that the management API creates.
 *
 * Editors can change the todos they own. The request contains the owner, and a rule for editors has the
 * condition that `resource.ownerID` equals `user.email`. Users are stored, todos are not.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { EVALUATION, EVALUATIONS, textOf } from '../../support/calls/access-requests.ts'
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
  readFileSync(new URL('../../vectors/authzen-todo.json', import.meta.url), 'utf8'),
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

function nameOf({ subject, action, resource, evaluations }: Request): string {
  const about = (evaluations ?? [{ resource }]).map(item => {
    const owner = nameOfEmail.get(item.resource.properties?.ownerID ?? '')
    return owner === undefined ? item.resource.id : `of ${owner}`
  })
  return `${nameOfKey.get(subject.id)} ${action.name} ${about.join(', ')}`
}

async function load(client: Client): Promise<void> {
  await client.resource({
    key: 'todo',
    actions: { can_read_todos: {}, can_create_todo: {}, can_update_todo: {}, can_delete_todo: {} },
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
  await client.conditionSet({
    key: 'own_todos',
    type: 'resourceset',
    resource_id: 'todo',
    conditions: { 'resource.ownerID': { equals: { ref: 'user.email' } } },
  })
  for (const action of ['can_update_todo', 'can_delete_todo']) {
    await client.setRule('editor', `todo:${action}`, 'own_todos')
  }
}

const ruled = await sharedService()
await load(ruled)

test('the vector files are complete, and all subjects are known', () => {
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

/** The expected body is compared as text, because an additional member would fail the public test runner. */
describe.each(Object.entries(sets))('the vectors %s', (_name, { evaluation, evaluations = [] }) => {
  const named = (vectors: readonly Vector[]) =>
    vectors.map(vector => [nameOf(vector.request), vector] as const)

  test.each(named(evaluation))('pass as single evaluations and in a batch: %s', async (_, vector) => {
    const { request, expected } = vector
    expect(await textOf(ruled, EVALUATION, request)).toBe(JSON.stringify(expected))
    expect(await textOf(ruled, EVALUATIONS, request)).toBe(JSON.stringify(expected))
    const batch = JSON.stringify({ evaluations: [expected] })
    expect(await textOf(ruled, EVALUATIONS, { evaluations: [request] })).toBe(batch)
  })

  test('pass as batches', async () => {
    for (const [about, { request, expected }] of named(evaluations))
      expect(await textOf(ruled, EVALUATIONS, request), about).toBe(JSON.stringify(expected))
  })
})
