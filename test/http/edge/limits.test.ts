/** Limits: each returns its documented error, is counted, and does not affect other requests. */
import { describe, expect, test } from 'vitest'
import { IMPORTS_MAX } from '#model/limits.ts'
import { createKeyRates, KeyRates } from '#threads/channel/key-rates.ts'
import { evaluation } from '../../support/calls/access-requests.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import {
  ADMIN_KEY,
  type Answer,
  API_KEY,
  type Client,
  FACTS,
  neighbourOf,
  question,
  SCHEMA,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { type Problem, refusal } from '../../support/calls/refusals.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'
import { HANG_MS } from '../../support/hang.ts'

async function counted(verdict: Client, limit: string): Promise<number> {
  return (await Scrape.of(verdict.address)).sum('verdict_limit_reached_total', { limit })
}

const narrow = await sharedService({ bodyBytesMax: 4_096, bulkChecksMax: 3, listedEntriesMax: 1 })
await narrow.createDocumentModel()
await narrow.user('alice')
for (const document of ['document:1', 'document:2']) await narrow.assign('alice', 'viewer', document)
const roomy = await sharedService({ attributesBytesMax: 4_194_304 })

const four = Array(4)
test.each<[limit: string, status: number, send: () => Promise<Answer>]>([
  ['body', 413, () => narrow.send('POST', '/allowed', { text: ' '.repeat(4_097) })],
  ['batch', 400, () => narrow.post('/allowed/bulk', four.fill(question('alice', 'read', 'document')))],
  [
    'batch',
    400,
    () => {
      const defaults = evaluation('alice', 'read', 'document:1')
      return narrow.post('/access/v1/evaluations', { ...defaults, evaluations: four.fill({}) })
    },
  ],
  ['list', 400, () => narrow.post('/user-permissions', { user: { key: 'alice' } })],
  ['page', 422, () => narrow.get(`${FACTS}/users?per_page=101`)],
  [
    'depth',
    422,
    () => {
      const text = `{"key":"bob","attributes":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`
      return narrow.send('POST', `${FACTS}/users`, { text })
    },
  ],
])('a request over the limit %s is rejected with %i and counted', async (limit, status, send) => {
  const before = await counted(narrow, limit)
  expect((await send()).status).toBe(status)
  expect(await counted(narrow, limit)).toBe(before + 1)
})

describe('a page with large attributes', () => {
  const attributes = { long: 'x'.repeat(500_000) }

  test('is rejected in one environment, while a smaller page is returned', async () => {
    for (let n = 0; n < 17; n++) {
      expect((await roomy.post(`${FACTS}/users`, { key: `user-${n}`, attributes })).status).toBe(200)
    }
    const { status, body } = await roomy.get<Problem>(`${FACTS}/users?per_page=17`)
    expect([status, body.error_code]).toEqual([400, 'INVALID_INPUT'])
    expect(/per_page of at most (\d+)/.exec(body.message)?.[1]).toBe('16')
    expect(await counted(roomy, 'page')).toBe(1)
    for (const page of [1, 2]) {
      expect((await roomy.get(`${FACTS}/users?per_page=16&page=${page}`)).status).toBe(200)
    }
  })

  test('is rejected in a list over several environments', async () => {
    const key = await neighbourOf(roomy, 'other')
    const made = { key, body: { key: 'user-of-other', attributes } }
    expect((await roomy.send('POST', '/v2/facts/default/other/users', made)).status).toBe(200)
    const page = (size: number) => roomy.admin('GET', `/v1/users?per_page=${size}`)
    expect([(await page(18)).status, (await page(12)).status]).toEqual([400, 200])
  })

  test('is rejected if many rows contain the same large entity', async () => {
    await roomy.tenantRole('guest', [])
    const operations = Array.from({ length: 17 }, (_, n) => ({ key: `tenant-${n}`, name: 'Tenant' }))
    expect((await roomy.post(`${FACTS}/bulk/tenants`, { operations })).status).toBe(200)
    const held = operations.map(({ key }) => ({ user: 'user-1', role: 'guest', tenant: key }))
    expect((await roomy.post(`${FACTS}/role_assignments/bulk`, held)).status).toBe(200)
    const rows = `${FACTS}/role_assignments/detailed`
    expect((await roomy.get(`${rows}?per_page=100`)).status).toBe(400)
    expect((await roomy.get(`${rows}?per_page=10`)).status).toBe(200)
  })
})

test('connections over MAX_CONNECTIONS are closed immediately until other connections are closed', async () => {
  const verdict = await startedService({ connectionsMax: 2, httpThreads: 2 })
  const first = await RawConnection.open(verdict.port)
  const second = await RawConnection.open(verdict.port)
  const healthy = async (connection: RawConnection) => {
    return (await connection.ask(requestText('GET /healthy', [])))?.status
  }
  expect([await healthy(first), await healthy(second)]).toEqual([200, 200])
  const third = await RawConnection.open(verdict.port)
  await third.closed
  expect(await third.answer()).toBe(null)
  // Existing connections remain open.
  const scrape = new Scrape((await second.ask(requestText('GET /metrics', [])))!.body)
  expect(scrape.sum('verdict_limit_reached_total', { limit: 'connections' })).toBe(1)
  first.destroy()
  for (;;) {
    const next = await RawConnection.open(verdict.port)
    const status = await Promise.race([healthy(next).catch(() => undefined), next.closed])
    next.destroy()
    if (status === 200) break
  }
  second.destroy()
})

/** Sends an endless body byte by byte until the connection is closed, which can cut off the response. */
async function dripUntilRejected(verdict: Client, target: string, start: string) {
  const slow = await RawConnection.open(verdict.port)
  const head = ['Content-Length: 1000000', `Authorization: Bearer ${API_KEY}`]
  await slow.send(requestText(target, head, start))
  const connection = { isOver: false }
  void slow.closed.then(() => (connection.isOver = true))
  const dripping = (async () => {
    while (!connection.isOver) {
      await slow.send(' ')
      await new Promise(resolve => setImmediate(resolve))
    }
  })()
  const answer = await slow.answer()
  await slow.closed
  await dripping
  return answer
}

describe('a body that takes longer than BODY_TIMEOUT_MS', () => {
  test('is rejected with 408, and the connection is closed', async () => {
    const verdict = await startedService({ receiveMsMax: 200 })
    // The client keeps sending, so the connection can be closed before the response arrives. Then try again.
    let tries = 0
    let answer
    do {
      tries += 1
      answer = await dripUntilRejected(verdict, 'POST /allowed', '{')
    } while (answer === null)
    expect(answer?.status).toBe(408)
    expect(await counted(verdict, 'receive-time')).toBe(tries)
    // A body in pieces that arrives in time is accepted.
    const inTime = await startedService({ receiveMsMax: HANG_MS })
    const brisk = await RawConnection.open(inTime.port)
    const body = JSON.stringify(question('alice', 'read', 'document'))
    const rest = [`Content-Length: ${body.length}`, `Authorization: Bearer ${API_KEY}`]
    await brisk.send(requestText('POST /allowed', rest, body.slice(0, 5)))
    expect((await brisk.ask(body.slice(5)))?.status).toBe(200)
    brisk.destroy()
  })

  test('is rejected with 408 in an import, and no longer counts as a running import', async () => {
    const verdict = await startedService({ receiveMsMax: 200 })
    const target = 'POST /v2/projects/default/envs/default/import'
    const statuses: unknown[] = []
    do statuses.push((await dripUntilRejected(verdict, target, '{"kind":'))?.status)
    while ((await counted(verdict, 'receive-time')) <= IMPORTS_MAX)
    // An import can still count for a moment after its connection was closed, so the next one can be 429. A
    // client that keeps sending can miss the response.
    expect(statuses.filter(status => ![408, 429, undefined].includes(status as number))).toEqual([])
  })
})

describe('management requests', () => {
  test('over half of MAX_MANAGEMENT_QUEUE in one environment get 429; requests of other environments are served', async () => {
    const verdict = await startedService({ managementQueueMax: 4 })
    const key = await neighbourOf(verdict, 'polite')
    const answers: Answer[] = []
    // Repeats until requests of one round overlap.
    while (answers.every(({ status }) => status === 200)) {
      const from = answers.length
      const flood = Array.from({ length: 40 }, (_, n) =>
        verdict.post(`${FACTS}/users`, { key: `user-${from + n}` }),
      )
      const body = { key: `bob-${from}` }
      await verdict.done('POST', '/v2/facts/default/polite/users', body, key)
      answers.push(...(await Promise.all(flood)))
    }
    const rejected = answers.filter(({ status }) => status !== 200)
    expect(rejected.length).toBeGreaterThan(0)
    expect(answers.length - rejected.length).toBeGreaterThan(0)
    for (const answer of rejected) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
    }
    const scrape = await Scrape.of(verdict.address)
    expect(scrape.sum('verdict_limit_reached_total', { limit: 'share' })).toBe(rejected.length)
    expect(scrape.sum('verdict_management_in_flight')).toBe(0)
  })

  test('over MAX_MANAGEMENT_QUEUE get 503 with Retry-After, and decisions continue', async () => {
    const verdict = await startedService({ managementQueueMax: 2 })
    const keys = [API_KEY, await neighbourOf(verdict, 'second'), await neighbourOf(verdict, 'third')]
    const names = ['default', 'second', 'third']
    const answers: Answer[] = []
    while (!answers.some(({ status }) => status === 503)) {
      const from = answers.length
      const calls = Array.from({ length: 60 }, (_, n) => {
        const options = { key: keys[n % 3]!, body: { key: `user-${from + n}` } }
        return verdict.send('POST', `/v2/facts/default/${names[n % 3]}/users`, options)
      })
      answers.push(...(await Promise.all(calls)))
    }
    const rejected = answers.filter(({ status }) => status === 503)
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
    expect(rejected.length).toBeGreaterThan(0)
    for (const answer of rejected) {
      expect(refusal(answer)).toEqual([503, 'UNEXPECTED_ERROR'])
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    const { body } = await verdict.get<{ total_count: number }>(`${FACTS}/users?include_total_count=true`)
    expect(body.total_count).toBe(answers.filter(({ status }, n) => status === 200 && n % 3 === 0).length)
    const scrape = await Scrape.of(verdict.address)
    expect(scrape.sum('verdict_limit_reached_total', { limit: 'queue' })).toBe(rejected.length)
    expect(scrape.sum('verdict_management_in_flight')).toBe(0)
    expect(await verdict.allows('user-0', 'read', 'document')).toBe(false)
  })
})

describe('the rate limit', () => {
  test('applies to each key on all threads together, with 429 and Retry-After', async () => {
    const verdict = await startedService({ requestsPerSecondMax: 2, httpThreads: 2 })
    const neighbour = await neighbourOf(verdict, 'neighbour')
    const ask = (key: string) =>
      verdict.send('POST', '/allowed', { key, body: question('alice', 'read', 'document') })
    const rejected: Answer[] = []
    while (rejected.length === 0) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask(API_KEY)))
      rejected.push(...answers.filter(({ status }) => status !== 200))
    }
    for (const { status, headers, body } of rejected) {
      const message = 'too many requests with this key; try again shortly'
      expect([status, headers.get('retry-after'), body]).toEqual([429, '1', { code: 429, message }])
    }
    expect((await ask(neighbour)).status).toBe(200)
    // Routes without a key have no rate limit.
    for (let call = 0; call < 10; call += 1) {
      expect((await verdict.send('GET', '/ready', { key: null })).status).toBe(200)
    }
    expect(await counted(verdict, 'rate')).toBe(rejected.length)
    while ((await ask(API_KEY)).status !== 200);
  })

  test('has the error form of the API family of the path', async () => {
    const verdict = await startedService({ requestsPerSecondMax: 1 })
    const spent = async (method: string, path: string, key: string) => {
      for (;;) {
        const answer = await verdict.send(method, path, { key, body: {} })
        if (answer.status === 429) return answer
      }
    }
    expect((await spent('POST', '/access/v1/evaluation', API_KEY)).body).toMatch(/^too many requests/)
    const rejected = await spent('DELETE', `${SCHEMA}/roles/unknown`, ADMIN_KEY)
    expect(refusal(rejected)).toEqual([429, 'UNEXPECTED_ERROR'])
  })

  test('counts only accepted requests per second, and recovers within a second if its clock wraps around', () => {
    let now = 1_700_000_000_000
    const handle = createKeyRates()
    const threads = [new KeyRates(handle, 3, () => now), new KeyRates(handle, 3, () => now)]
    const organization = { kind: 'organization', level: 'admin', organizationId: 'o' } as const
    const principal = (keyId: string) => ({ ...organization, keyId })
    for (const rates of threads) {
      rates.replaceAll([
        { principal: principal('a'), slot: 0 },
        { principal: principal('b'), slot: 10_000 },
      ])
    }
    const take = (keyId: string) => threads.map(rates => rates.take(keyId))
    const [all, half] = [
      [true, true],
      [true, false],
    ]
    expect([take('a'), take('a')]).toEqual([all, half])
    expect(take('b')).toEqual(all)
    now += 999
    expect(take('a')).toEqual([false, false])
    now += 1
    expect([take('a'), take('a')]).toEqual([all, half])
    // A cell stores seconds modulo 4,096, so this second looks like the last one.
    now += 4_096_000
    expect(take('a')).toEqual([false, false])
    now += 1_000
    expect(take('a')).toEqual([true, true])
  })
})
