/** Large bulks, batches and searches with a thread pool return the same responses as without it. */
import { expect, test } from 'vitest'
import { loadWorld } from '../../support/hostile-world.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { API_KEY, type Client, sharedService, startedService } from '#testing/processes/running-service.ts'
import { RawConnection } from '#testing/requests/raw-connection.ts'

const pooled = await sharedService({ poolThreads: 2 })
const alone = await sharedService({ poolThreads: 0 })
for (const service of [pooled, alone]) await loadWorld(service)

interface Page {
  readonly results: unknown[]
  readonly page: { readonly next_token: string }
}

/** Repeats a request until threads of the pool have worked. */
async function untilPooled(ask: () => Promise<void>): Promise<void> {
  const busy = async () => (await Scrape.of(pooled.address)).sum('verdict_pool_busy_seconds_total')
  const before = await busy()
  do await ask()
  while ((await busy()) === before)
}

const USERS = ['alice', 'bob', 'carol', 'dave', 'stranger']
const INSTANCES = ['d1', 'd2', 'a:b', 'a1', 'none', null]
const ACTIONS = ['read', 'update', 'fly']
const LARGE = 9_001

/** Adjacent checks differ, so that a wrong order of results is detected. */
const QUERIES = Array.from({ length: LARGE }, (_, index) => ({
  user: USERS[(index * 7) % USERS.length]!,
  action: ACTIONS[(index * 5) % ACTIONS.length]!,
  key: INSTANCES[(index * 11 + Math.floor(index / 97)) % INSTANCES.length]!,
}))

const CHECKS = QUERIES.map(({ user, action, key }) => ({
  user: { key: user },
  action,
  resource: { type: 'document', key },
}))

async function sameAnswer(path: string, body: unknown) {
  // The first request starts the threads of the pool. The second request uses these threads.
  await pooled.post(path, body)
  const [one, other] = [await pooled.post(path, body), await alone.post(path, body)]
  expect([one.status, one.body]).toEqual([other.status, other.body])
  return one
}

const EVALUATIONS = QUERIES.map(({ user, action, key }) => ({
  subject: { type: 'user', id: user },
  action: { name: action },
  resource: { type: 'document', id: key },
}))

/** Keys with non-Latin characters, some of them escaped. */
const SCRIPTS = JSON.stringify(
  CHECKS.map((check, index) => ({ ...check, user: { key: ['鍵😀', 'bob', '鍵', 'a"b'][(index * 7) % 4] } })),
).replaceAll('😀', String.raw`\ud83d\ude00`)

test.each<[kind: string, path: string, text: string]>([
  ['a bulk', '/allowed/bulk', JSON.stringify(CHECKS)],
  ['a bulk with escaped and non-Latin keys', '/allowed/bulk', SCRIPTS],
  [
    'a bulk for the JSON parser',
    '/allowed/bulk',
    JSON.stringify([{ ...CHECKS[0], action: 'lesenä' }, ...CHECKS]),
  ],
  ['a batch', '/access/v1/evaluations', JSON.stringify({ evaluations: EVALUATIONS })],
])(
  '%s of thousands of checks uses the pool and returns results in order, as without a pool',
  async (_kind, path, text) => {
    const ask = async (service: Client, revision: string) => {
      const { status, body } = await service.send('POST', path, {
        text,
        headers: { 'x-min-revision': revision },
      })
      expect(status).toBe(200)
      return body as { allow?: { allow: boolean }[]; evaluations?: { decision: boolean }[] }
    }
    const expected = await ask(alone, await alone.revision())
    const decisions =
      expected.allow?.map(({ allow }) => allow) ?? expected.evaluations!.map(({ decision }) => decision)
    expect([decisions.length >= LARGE, new Set(decisions).size]).toEqual([true, 2])
    const revision = await pooled.revision()
    await untilPooled(async () => expect(await ask(pooled, revision)).toEqual(expected))
  },
)

test('a large batch with invalid items uses the pool and returns their errors at their positions', async () => {
  const evaluations: unknown[] = [...EVALUATIONS]
  evaluations[0] = 5
  evaluations[LARGE - 2] = { subject: { type: 'user' } }
  evaluations[LARGE - 1] = { ...EVALUATIONS[0], subject: { type: 'robot', id: 'r' } }
  const { body: expected } = await alone.post<{ evaluations: { decision: boolean; context?: unknown }[] }>(
    '/access/v1/evaluations',
    { evaluations },
  )
  const failed = expected.evaluations.flatMap(({ context }, index) => (context ? [index] : []))
  expect(failed).toEqual([0, LARGE - 2])
  await untilPooled(async () => {
    expect((await pooled.post('/access/v1/evaluations', { evaluations })).body).toEqual(expected)
  })
})

const MEGABYTE = 'x'.repeat(1_000_000)
const document = { type: 'document', id: 'd1' }
const others = { resource: { type: 'folder', id: 'f1' } }
test.each([
  ['a subject id', { subject: { type: 'user', id: MEGABYTE } }, others],
  [
    'a tenant',
    { resource: { ...document, properties: { tenant: MEGABYTE } } },
    { action: { name: 'update' } },
  ],
])('a batch whose thousands of items inherit %s of 1 MB is answered', async (_kind, own, other) => {
  const batch = {
    subject: { type: 'user', id: 'stranger' },
    action: { name: 'read' },
    resource: document,
    ...own,
    // Adjacent items differ in a member other than the large one.
    evaluations: QUERIES.map((_, index) => (index % 2 === 0 ? {} : other)),
  }
  const { body } = await sameAnswer('/access/v1/evaluations', batch)
  expect(body).toEqual({ evaluations: QUERIES.map(() => ({ decision: false })) })
})

const ITEMS = QUERIES.map(({ user }) => ({ subject: { type: 'user', id: user } }))
test.each([
  ['a bulk', '/allowed/bulk', CHECKS],
  ['a bulk for the JSON parser', '/allowed/bulk', [...CHECKS, { ...CHECKS[0], action: 'lesenä' }]],
  [
    'a batch with an invalid item',
    '/access/v1/evaluations',
    { action: { name: 'read' }, resource: { type: 'document', id: 'd1' }, evaluations: [...ITEMS, 5] },
  ],
])('%s over POOL_JOBS_MAX is rejected with 503 and Retry-After', async (_kind, path, body) => {
  const service = await startedService({ poolThreads: 1, poolJobsMax: 1 })
  await loadWorld(service)
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const text = JSON.stringify(body)
  const seen = new Set<string>()
  while (seen.size < 2) {
    const responses = Array.from({ length: 8 }, () =>
      fetch(service.address + path, { method: 'POST', headers, body: text }),
    )
    for (const answer of await Promise.all(responses)) {
      await answer.arrayBuffer()
      seen.add(`${answer.status} ${answer.headers.get('retry-after')}`)
    }
  }
  expect(seen).toEqual(new Set(['200 null', '503 1']))
})

test('an invalid element in the middle of a large bulk is rejected as without a pool', async () => {
  const checks: unknown[] = [...CHECKS]
  checks[Math.floor(LARGE / 2)] = { user: { key: 'alice' }, action: 'read' }
  expect((await sameAnswer('/allowed/bulk', checks)).status).toBe(400)
})

test('pages of searches have the same results as without a pool', async () => {
  for (const [kind, query] of [
    ['subject', { subject: { type: 'user' }, resource: { type: 'document', id: 'd1' } }],
    ['resource', { subject: { type: 'user', id: 'alice' }, resource: { type: 'document' } }],
  ] as const) {
    const body = { ...query, action: { name: 'read' }, page: { limit: 1 } }
    await pooled.post(`/access/v1/search/${kind}`, body)
    const walks = await Promise.all(
      [pooled, alone].map(async service => {
        const found: unknown[] = []
        for (let token = ''; ;) {
          const asked = token === '' ? body : { ...body, page: { token } }
          const { results, page } = await service.done<Page>('POST', `/access/v1/search/${kind}`, asked)
          found.push(...results)
          token = page.next_token
          if (token === '') return found
        }
      }),
    )
    expect(walks[0]!.length).toBeGreaterThan(0)
    expect(walks[0]).toEqual(walks[1])
  }
})

test('requests of clients that disconnected do not block the pool', async () => {
  const body = JSON.stringify(CHECKS)
  const head = `POST /allowed/bulk HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\n`
  for (let count = 0; count < 20; count++) {
    const connection = await RawConnection.open(pooled.port)
    await connection.send(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
    connection.destroy()
  }
  expect((await sameAnswer('/allowed/bulk', CHECKS)).status).toBe(200)
})
