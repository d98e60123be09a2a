/**
 * Questions of a few bytes whose answers would be immense, or immensely long in coming: lists, explanations, action searches. They
 * are answered whole, or say what was left out, or are refused with the way out; with a pool and without.
 */
import { describe, expect, test } from 'vitest'
import { type HostileModel, longWays, wideLists } from '#testing/hostile/models.ts'
import {
  API_KEY,
  type Client,
  question,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'

/** With 100 actions of some 30 bytes each instance has an entry of over 3 kB. */
const LISTS = { instances: 400, actions: 100, users: 300 }
/** More than an explanation may take: 1,000 roles × 300 folders, and from the user 300 papers with 1,000 derivations each. */
const WAYS = { roles: 1_000, folders: 300, wide: 300, aside: 300 }
const lists = wideLists(LISTS)
const ways = longWays(WAYS)

async function make(client: Client, { calls }: HostileModel): Promise<void> {
  for (const { method, path, body } of calls()) {
    const answer = await client.send(method, path, { body })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  }
}

interface Explained {
  readonly allow: boolean
  readonly debug: {
    readonly rebac: {
      readonly code: string
      readonly reason: string
      readonly allowing_roles: readonly string[]
      readonly path?: readonly object[]
      readonly truncated?: boolean
    }
  }
}

const pooled = await sharedService({ poolThreads: 1, hasDebug: true })
const alone = await sharedService({ poolThreads: 0, hasDebug: true })
for (const client of [pooled, alone]) for (const model of [lists, ways]) await make(client, model)

describe.each([
  ['with a pool', pooled],
  ['without a pool', alone],
] as const)('%s', (_about, client) => {
  const ask = <Body>(model: HostileModel, name: string) =>
    client.post<Body>(model.questions[name]!.path, model.questions[name]!.body)

  test('a list that is long is right however many ask for it at once', async () => {
    const whole = await ask<Record<string, { permissions: string[] }>>(lists, 'permissions')
    expect([whole.status, Object.keys(whole.body).length]).toEqual([200, LISTS.instances])
    for (const { permissions } of Object.values(whole.body)) expect(permissions).toHaveLength(LISTS.actions)
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask<object>(lists, 'users')))
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      const { users } = body as { users: Record<string, object[]> }
      expect(Object.keys(users)).toHaveLength(LISTS.users + 1)
    }
  })

  test('why something is denied is found once for all roles, however many there are and however far it is', async () => {
    const { status, body } = await ask<Explained>(ways, 'deep')
    expect(status).toBe(200)
    expect(body.allow).toBe(false)
    expect(body.debug.rebac.code).toBe('no_graph_roles')
    expect(body.debug.rebac.truncated).toBe(undefined)
  })

  test('an explanation that would take too many steps says that it was cut short', async () => {
    const { status, body } = await ask<Explained>(ways, 'wide')
    expect(status).toBe(200)
    expect(body.allow).toBe(false)
    expect(body.debug.rebac).toMatchObject({ code: 'no_permission', truncated: true })
    expect(body.debug.rebac.reason).toMatch(/held: none and perhaps others/)
  })

  test('many explanations in one bulk share what one may cost: the last ones are cut short, all decisions are right', async () => {
    const bulk = Array.from({ length: 200 }, (_, index) =>
      question('mallory', 'read', index % 2 === 0 ? 'paper:wide' : 'paper:0'),
    )
    const answer = await client.post<{ allow: Explained[] }>('/allowed/bulk', bulk)
    expect(answer.status).toBe(200)
    expect(answer.body.allow.map(({ allow }) => allow)).toEqual(bulk.map((_, index) => index % 2 === 1))
    for (const [index, { debug }] of answer.body.allow.entries()) {
      if (index % 2 === 0) expect(debug.rebac.truncated).toBe(true)
      else expect(debug.rebac.path).toHaveLength(2)
    }
  })

  test('the actions of somebody on something deep are searched for once for all of them', async () => {
    const { status, body } = await ask<{ results: object[] }>(ways, 'actions')
    expect([status, body.results]).toEqual([200, []])
  })
})

test('a list as long as MAX_LISTED_BYTES is whole, a longer one 400 that names the filters and the pages there are', async () => {
  const bytesOf = async (client: Client, name: string) => {
    const { path, body } = lists.questions[name]!
    const answer = await fetch(client.address + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
      body: JSON.stringify(body),
    })
    return { status: answer.status, text: await answer.text() }
  }
  for (const name of ['permissions', 'users']) {
    const whole = await bytesOf(pooled, name)
    const bytes = Buffer.byteLength(whole.text)
    const exact = await startedService({ listedBytesMax: bytes })
    const below = await startedService({ listedBytesMax: bytes - 200 })
    for (const client of [exact, below]) await make(client, lists)
    expect(await bytesOf(exact, name)).toEqual(whole)
    const refused = await bytesOf(below, name)
    expect(refused.status).toBe(400)
    const wayOut =
      name === 'users' ? ['subject search'] : ['tenants', 'resources', 'resource_types', 'resource search']
    for (const part of ['MAX_LISTED_BYTES', ...wayOut]) expect(refused.text).toContain(part)
  }
})
