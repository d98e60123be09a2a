/**
 * Large bulks, batches and searches in a service with a pool: a caller cannot tell, by no answer, that other threads took
 * part in it.
 */
import { expect, test } from 'vitest'
import { loadModel } from '#testing/requests/load-model.ts'
import { WORLD } from '#testing/hostile/hostile-requests.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { API_KEY, type Client, sharedService, startedService } from '#testing/processes/running-service.ts'
import { RawConnection } from '#testing/requests/raw-connection.ts'

const pooled = await sharedService({ poolThreads: 2 })
const alone = await sharedService({ poolThreads: 0 })
for (const service of [pooled, alone]) await loadWorld(service)

function loadWorld(service: Client): Promise<void> {
  return loadModel(async (method, path, body) => {
    const answer = await service.send(method, path, { body })
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(200)
  }, WORLD)
}

/** Asks a service that has asked its pool for nothing yet, until it has. */
async function untilPooled(ask: (service: Client) => Promise<void>): Promise<void> {
  const service = await startedService({ poolThreads: 1 })
  await loadWorld(service)
  do await ask(service)
  while ((await Scrape.of(service.address)).sum('verdict_pool_busy_seconds_total') === 0)
}

const USERS = ['alice', 'bob', 'carol', 'dave', 'stranger']
const INSTANCES = ['d1', 'd2', 'a:b', 'a1', 'none', null]
const ACTIONS = ['read', 'update', 'fly']
const LARGE = 9_001

/** Neighbours differ, so that answers in another order would be other answers. */
const QUESTIONS = Array.from({ length: LARGE }, (_, index) => ({
  user: USERS[(index * 7) % USERS.length]!,
  action: ACTIONS[(index * 5) % ACTIONS.length]!,
  key: INSTANCES[(index * 11 + Math.floor(index / 97)) % INSTANCES.length]!,
}))

const CHECKS = QUESTIONS.map(({ user, action, key }) => ({
  user: { key: user },
  action,
  resource: { type: 'document', key },
}))

async function sameAnswer(path: string, body: unknown) {
  // Twice: a pool is asked from the second time on, when its threads have started.
  await pooled.post(path, body)
  const [one, other] = [await pooled.post(path, body), await alone.post(path, body)]
  expect([one.status, one.body]).toEqual([other.status, other.body])
  return one
}

test('a bulk of thousands is answered in order, as without a pool', async () => {
  const { status, body } = await sameAnswer('/allowed/bulk', CHECKS)
  const { allow } = body as { allow: { allow: boolean }[] }
  expect([status, allow.length]).toEqual([200, LARGE])
  expect(new Set(allow.map(one => one.allow)).size).toBe(2)
})

test('a bulk of thousands whose keys are in other scripts, and escaped, is spread over the pool as well', async () => {
  const text = JSON.stringify(
    Array.from({ length: LARGE }, (_, index) => ({
      user: { key: ['鍵😀', 'bob', '鍵', 'a"b'][(index * 7) % 4]! },
      action: ACTIONS[(index * 5) % ACTIONS.length]!,
      resource: { type: 'document', key: index % 3 === 0 ? 'd1' : 'a1' },
    })),
  ).replaceAll('😀', '\\ud83d\\ude00')
  const ask = async (service: Client) => {
    const headers = { authorization: `Bearer ${API_KEY}` }
    const answer = await fetch(`${service.address}/allowed/bulk`, { method: 'POST', headers, body: text })
    expect(answer.status).toBe(200)
    return ((await answer.json()) as { allow: { allow: boolean }[] }).allow.map(({ allow }) => allow)
  }
  const right = await ask(alone)
  expect(right.length).toBe(LARGE)
  expect(right.filter(Boolean).length).toBeGreaterThan(500)
  await untilPooled(async service => expect(await ask(service)).toEqual(right))
})

test('a bulk of thousands that asks for a state that is there is spread over the pool as well', async () => {
  const { body: right } = await alone.post('/allowed/bulk', CHECKS)
  await untilPooled(async service => {
    const headers = { 'x-min-revision': await service.revision() }
    expect((await service.send('POST', '/allowed/bulk', { body: CHECKS, headers })).body).toEqual(right)
  })
})

test('a batch of thousands is answered in order, as without a pool', async () => {
  const evaluations = QUESTIONS.map(({ user, action, key }) => ({
    subject: { type: 'user', id: user },
    action: { name: action },
    resource: { type: 'document', id: key },
  }))
  const { status, body } = await sameAnswer('/access/v1/evaluations', { evaluations })
  expect([status, (body as { evaluations: unknown[] }).evaluations.length]).toEqual([200, LARGE])
})

test('a bulk of thousands that has to be parsed is spread over the pool as well', async () => {
  const body = QUESTIONS.map(({ user, action, key }, index) => ({
    user: { key: index === LARGE - 1 ? '鍵' : user },
    action: index === LARGE - 1 ? 'lesenä' : action,
    resource: { type: 'document', key },
  }))
  const { body: right } = await alone.post('/allowed/bulk', body)
  await untilPooled(async service => expect((await service.post('/allowed/bulk', body)).body).toEqual(right))
})

test('a batch of thousands with items that cannot be read is spread over the pool, and they are told of at their places', async () => {
  const evaluations: unknown[] = QUESTIONS.map(({ user, action, key }) => ({
    subject: { type: 'user', id: user },
    action: { name: action },
    resource: { type: 'document', id: key },
  }))
  evaluations[0] = 5
  evaluations[LARGE - 2] = { subject: { type: 'user' } }
  evaluations[LARGE - 1] = {
    subject: { type: 'robot', id: 'r' },
    action: { name: 'read' },
    resource: { type: 'document' },
  }
  const { body: right } = await alone.post<{ evaluations: { decision: boolean; context?: unknown }[] }>(
    '/access/v1/evaluations',
    { evaluations },
  )
  expect(right.evaluations.flatMap(({ context }, place) => (context ? [place] : []))).toEqual([0, LARGE - 2])
  expect(new Set(right.evaluations.map(({ decision }) => decision)).size).toBe(2)
  await untilPooled(async service => {
    expect((await service.post('/access/v1/evaluations', { evaluations })).body).toEqual(right)
  })
})

const MEGABYTE = 'x'.repeat(1_000_000)
const document = { type: 'document', id: 'd1' }
const others = { resource: { type: 'folder', id: 'f1' } }
test.each([
  ['a subject id', { subject: { type: 'user', id: MEGABYTE } }, others],
  ['an action', { action: { name: MEGABYTE } }, others],
  [
    'a tenant',
    { resource: { ...document, properties: { tenant: MEGABYTE } } },
    { action: { name: 'update' } },
  ],
])(
  '%s of a megabyte that thousands of items inherit costs what it takes to read it once',
  async (_what, own, other) => {
    const batch = {
      subject: { type: 'user', id: 'stranger' },
      action: { name: 'read' },
      resource: document,
      ...own,
      // Neighbours that differ in what they ask beside their keys.
      evaluations: QUESTIONS.map((_, index) => (index % 2 === 0 ? {} : other)),
    }
    const { body } = await sameAnswer('/access/v1/evaluations', batch)
    const { evaluations } = body as { evaluations: unknown[] }
    expect(evaluations).toEqual(QUESTIONS.map(() => ({ decision: false })))
  },
)

const ITEMS = QUESTIONS.map(({ user }) => ({ subject: { type: 'user', id: user } }))
test.each([
  ['a bulk', '/allowed/bulk', CHECKS],
  ['a bulk that has to be parsed', '/allowed/bulk', [...CHECKS, { ...CHECKS[0], action: 'lesenä' }]],
  [
    'a batch with an item that cannot be read',
    '/access/v1/evaluations',
    { action: { name: 'read' }, resource: { type: 'document', id: 'd1' }, evaluations: [...ITEMS, 5] },
  ],
])('%s beyond POOL_JOBS_MAX is 503 with Retry-After', async (_what, path, body) => {
  const service = await startedService({ poolThreads: 1, poolJobsMax: 1 })
  await loadWorld(service)
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const text = JSON.stringify(body)
  const seen = new Set<string>()
  while (seen.size < 2) {
    const asked = Array.from({ length: 8 }, () =>
      fetch(service.address + path, { method: 'POST', headers, body: text }),
    )
    for (const answer of await Promise.all(asked)) {
      await answer.arrayBuffer()
      seen.add(`${answer.status} ${answer.headers.get('retry-after')}`)
    }
  }
  expect(seen).toEqual(new Set(['200 null', '503 1']))
})

test.each([0, LARGE / 2, LARGE - 1])(
  'a bad element at place %i is refused as without a pool',
  async place => {
    const checks: unknown[] = [...CHECKS]
    checks[Math.floor(place)] = { user: { key: 'alice' }, action: 'read' }
    expect((await sameAnswer('/allowed/bulk', checks)).status).toBe(400)
    const evaluations: unknown[] = QUESTIONS.map(({ user }) => ({ subject: { type: 'user', id: user } }))
    evaluations[Math.floor(place)] = 5
    const batch = { action: { name: 'read' }, resource: { type: 'document', id: 'd1' }, evaluations }
    expect((await sameAnswer('/access/v1/evaluations', batch)).status).toBe(200)
  },
)

test('searches find page by page what they find without a pool', async () => {
  for (const [kind, question] of [
    ['subject', { subject: { type: 'user' }, resource: { type: 'document', id: 'd1' } }],
    ['resource', { subject: { type: 'user', id: 'alice' }, resource: { type: 'document' } }],
  ] as const) {
    const body = { ...question, action: { name: 'read' }, page: { limit: 1 } }
    await pooled.post(`/access/v1/search/${kind}`, body)
    const walks = await Promise.all(
      [pooled, alone].map(async service => {
        const found: unknown[] = []
        for (let token = ''; ;) {
          const asked = token === '' ? body : { ...body, page: { token } }
          const answer = await service.post<{ results: unknown[]; page: { next_token: string } }>(
            `/access/v1/search/${kind}`,
            asked,
          )
          expect(answer.status).toBe(200)
          found.push(...answer.body.results)
          token = answer.body.page.next_token
          if (token === '') return found
        }
      }),
    )
    expect(walks[0]!.length).toBeGreaterThan(0)
    expect(walks[0]).toEqual(walks[1])
  }
})

test('a caller who hangs up leaves the pool to the others', async () => {
  const body = JSON.stringify(CHECKS)
  const head = `POST /allowed/bulk HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\n`
  for (let count = 0; count < 20; count++) {
    const connection = await RawConnection.open(pooled.port)
    await connection.send(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
    connection.destroy()
  }
  expect((await sameAnswer('/allowed/bulk', CHECKS)).status).toBe(200)
})
