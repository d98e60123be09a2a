/**
 * Small requests with huge or slow responses: lists, explanations and action searches, with and without a
 * pool. The response is complete, states that it is truncated, or is an error that names an alternative.
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

/** With 100 actions of about 30 bytes, each instance has an entry of more than 3 kB. */
const LISTS = { instances: 400, actions: 100, users: 300 }
/** Exceeds the limits of an explanation: many roles on long paths, and many papers with 1,000 derivations. */
const WAYS = { roles: 1_000, folders: 300, wide: 300, aside: 300 }
const lists = wideLists(LISTS)
const ways = longWays(WAYS)

async function make(client: Client, { calls }: HostileModel): Promise<void> {
  for (const { method, path, body } of calls()) await client.done(method, path, body)
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
] as const)('a service %s', (_about, client) => {
  const ask = <Body>(model: HostileModel, name: string) =>
    client.post<Body>(model.questions[name]!.path, model.questions[name]!.body)

  test('returns complete long lists to several clients at the same time', async () => {
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

  test('returns the complete explanation of a deny with many roles and long paths', async () => {
    const { status, body } = await ask<Explained>(ways, 'deep')
    expect(status).toBe(200)
    expect(body.allow).toBe(false)
    expect(body.debug.rebac.code).toBe('no_graph_roles')
    expect(body.debug.rebac.truncated).toBe(undefined)
  })

  test('marks an explanation that takes too many steps as truncated', async () => {
    const { status, body } = await ask<Explained>(ways, 'wide')
    expect(status).toBe(200)
    expect(body.allow).toBe(false)
    expect(body.debug.rebac).toMatchObject({ code: 'no_permission', truncated: true })
    expect(body.debug.rebac.reason).toMatch(/^the user possibly holds roles on the instance/)
  })

  test('shares one step limit among all explanations of a bulk, and makes all decisions correctly', async () => {
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

  test('completes an action search on a deeply nested resource', async () => {
    const { status, body } = await ask<{ results: object[] }>(ways, 'actions')
    expect([status, body.results]).toEqual([200, []])
  })
})

test('a list over MAX_LISTED_BYTES is rejected with 400 that names the available filters and searches', async () => {
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
    const rejected = await bytesOf(below, name)
    expect(rejected.status).toBe(400)
    const alternatives =
      name === 'users' ? ['subject search'] : ['tenants', 'resources', 'resource_types', 'resource search']
    for (const part of ['MAX_LISTED_BYTES', ...alternatives]) expect(rejected.text).toContain(part)
  }
})
