/** Every ceiling is reached, says so in its own way, is counted, and leaves the service as it was. */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { IMPORTS_MAX } from '#model/limits.ts'
import { createKeyRates, KeyRates } from '#threads/channel/key-rates.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import {
  ADMIN_KEY,
  type Answer,
  API_KEY,
  type Client,
  FACTS,
  neighbourOf,
  type Problem,
  question,
  refusal,
  SCHEMA,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'
import { HANG_MS } from '../support/hang.ts'

/** Two who stop in the middle of a request. The library gives them eleven seconds, which pass beside the other tests. */
const patient = await sharedService()
const [inHead, inBody] = [await RawConnection.open(patient.port), await RawConnection.open(patient.port)]
await inHead.send('POST /allowed HTTP/1.1\r\nHost: verdict\r\nX-Slow:')
await inBody.send(
  requestText('POST /allowed', [`Authorization: Bearer ${API_KEY}`, 'Content-Length: 9'], '{'),
)

/** And one who needs longer than that for a body that always goes on. */
const inPieces = await RawConnection.open(patient.port)
const trickled = trickle(inPieces, JSON.stringify(question('alice', 'read', 'document')))

async function trickle(connection: RawConnection, body: string): Promise<void> {
  const head = [`Authorization: Bearer ${API_KEY}`, `Content-Length: ${body.length}`]
  await connection.send(requestText('POST /allowed', head))
  const length = Math.ceil(body.length / 14)
  for (let from = 0; from < body.length; from += length) {
    await pause(1_000)
    await connection.send(body.slice(from, from + length))
  }
}

async function counted(verdict: Client, limit: string): Promise<number> {
  return (await Scrape.of(verdict.address)).sum('verdict_limit_reached_total', { limit })
}

describe('a ceiling on one request', () => {
  const withSettings = { bodyBytesMax: 4_096, bulkChecksMax: 3, listedEntriesMax: 1 } as const

  test.each([
    ['body', 413, (verdict: Client) => verdict.send('POST', '/allowed', { text: ' '.repeat(4_097) })],
    [
      'batch',
      400,
      (verdict: Client) =>
        verdict.post('/allowed/bulk', Array(4).fill(question('alice', 'read', 'document'))),
    ],
    [
      'batch',
      400,
      (verdict: Client) =>
        verdict.post('/access/v1/evaluations', {
          subject: { type: 'user', id: 'alice' },
          action: { name: 'read' },
          resource: { type: 'document', id: '1' },
          evaluations: Array(4).fill({}),
        }),
    ],
    ['list', 400, (verdict: Client) => verdict.post('/user-permissions', { user: { key: 'alice' } })],
    ['page', 422, (verdict: Client) => verdict.get(`${FACTS}/users?per_page=101`)],
    [
      'depth',
      422,
      (verdict: Client) =>
        verdict.send('POST', `${FACTS}/users`, {
          text: `{"key":"bob","attributes":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`,
        }),
    ],
  ] as const)('(%s) is answered with %i and counted', async (limit, status, send) => {
    const verdict = await startedService(withSettings)
    await verdict.createDocumentModel()
    await verdict.user('alice')
    for (const document of ['document:1', 'document:2']) {
      await verdict.instance(document)
      await verdict.assign('alice', 'viewer', document)
    }
    expect(await counted(verdict, limit)).toBe(0)
    expect((await send(verdict)).status).toBe(status)
    expect(await counted(verdict, limit)).toBe(1)
  })
})

describe('a page of things with large attributes', () => {
  test('is refused before it is larger than the process can take; a smaller one is told', async () => {
    const verdict = await startedService({ attributesBytesMax: 4_194_304 })
    const attributes = { long: 'x'.repeat(500_000) }
    for (let n = 0; n < 17; n++) {
      expect((await verdict.post(`${FACTS}/users`, { key: `user-${n}`, attributes })).status).toBe(200)
    }
    const { status, body } = await verdict.get<Problem>(`${FACTS}/users?per_page=17`)
    expect([status, body.error_code]).toEqual([400, 'INVALID_INPUT'])
    expect(body.message).toContain('per_page')
    expect(await counted(verdict, 'page')).toBe(1)
    for (const page of [1, 2]) {
      expect((await verdict.get(`${FACTS}/users?per_page=16&page=${page}`)).status).toBe(200)
    }
  })

  test('is refused, too, where it goes over several environments', async () => {
    const verdict = await startedService({ attributesBytesMax: 4_194_304 })
    const attributes = { long: 'x'.repeat(500_000) }
    const keys = { default: API_KEY, other: await neighbourOf(verdict, 'other') }
    for (const [name, key] of Object.entries(keys)) {
      for (let n = 0; n < 9; n++) {
        const made = { key, body: { key: `user-${n}`, attributes } }
        expect((await verdict.send('POST', `/v2/facts/default/${name}/users`, made)).status).toBe(200)
      }
    }
    const page = (size: number) => verdict.send('GET', `/v1/users?per_page=${size}`, { key: ADMIN_KEY })
    expect([(await page(18)).status, (await page(12)).status]).toEqual([400, 200])
  })

  test('is refused, too, where all its rows tell of the same large one', async () => {
    const verdict = await startedService({ attributesBytesMax: 4_194_304 })
    const role = { key: 'guest', name: 'Guest' }
    expect((await verdict.post('/v2/schema/default/default/roles', role)).status).toBe(200)
    const user = { key: 'alice', attributes: { long: 'x'.repeat(80_000) } }
    expect((await verdict.post(`${FACTS}/users`, user)).status).toBe(200)
    const operations = Array.from({ length: 1_000 }, (_, n) => ({ key: `tenant-${n}`, name: 'Tenant' }))
    expect((await verdict.post(`${FACTS}/bulk/tenants`, { operations })).status).toBe(200)
    const held = operations.map(({ key }) => ({ user: 'alice', role: 'guest', tenant: key }))
    expect((await verdict.post(`${FACTS}/role_assignments/bulk`, held)).status).toBe(200)
    const rows = `${FACTS}/role_assignments/detailed`
    expect((await verdict.get(`${rows}?per_page=1000`)).status).toBe(400)
    expect((await verdict.get(`${rows}?per_page=100`)).status).toBe(200)
  })
})

describe('connections', () => {
  test('beyond MAX_CONNECTIONS are closed at once, and taken again when others have gone', async () => {
    const verdict = await startedService({ connectionsMax: 2, httpThreads: 2 })
    const first = await RawConnection.open(verdict.port)
    const second = await RawConnection.open(verdict.port)
    const healthy = async (connection: RawConnection) => {
      await connection.send(requestText('GET /healthy', []))
      return (await connection.answer())?.status
    }
    expect([await healthy(first), await healthy(second)]).toEqual([200, 200])
    const third = await RawConnection.open(verdict.port)
    await third.closed
    expect(await third.answer()).toBe(null)
    // Those that are there go on.
    await second.send(requestText('GET /metrics', []))
    const scrape = new Scrape((await second.answer())!.body)
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
})

/**
 * Sends a body of which some byte is always coming, and never the last, until the connection ends; that may cut off the
 * answer.
 */
async function dripUntilRefused(verdict: Client, target: string, start: string) {
  const slow = await RawConnection.open(verdict.port)
  const head = ['Content-Length: 1000000', `Authorization: Bearer ${API_KEY}`]
  await slow.send(requestText(target, head, start))
  const connection = { isOver: false }
  void slow.closed.then(() => (connection.isOver = true))
  const dripping = (async () => {
    // Never idle, never done.
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

describe('a body', () => {
  test('that keeps coming for longer than BODY_TIMEOUT_MS is 408, and the connection ends', async () => {
    const verdict = await startedService({ receiveMsMax: 200 })
    // The end of the connection may overtake the answer, for a sender that goes on sending.
    let tries = 0
    let answer
    do {
      tries += 1
      answer = await dripUntilRefused(verdict, 'POST /allowed', '{')
    } while (answer === null)
    expect(answer?.status).toBe(408)
    expect(await counted(verdict, 'receive-time')).toBe(tries)
    // Who sends a body in pieces and in time is answered.
    const inTime = await startedService({ receiveMsMax: HANG_MS })
    const brisk = await RawConnection.open(inTime.port)
    const body = JSON.stringify(question('alice', 'read', 'document'))
    const rest = [`Content-Length: ${body.length}`, `Authorization: Bearer ${API_KEY}`]
    await brisk.send(requestText('POST /allowed', rest, body.slice(0, 5)))
    await brisk.send(body.slice(5))
    expect((await brisk.answer())?.status).toBe(200)
    brisk.destroy()
  })

  test('of an import that drips for longer than that is 408 as well, and leaves its place', async () => {
    const verdict = await startedService({ receiveMsMax: 200 })
    const target = 'POST /v2/projects/default/envs/default/import'
    // Each is counted as it is refused, also where the end of the connection overtook the answer.
    for (let i = 0; i <= IMPORTS_MAX; i++) await dripUntilRefused(verdict, target, '{"kind":')
    expect(await counted(verdict, 'receive-time')).toBe(IMPORTS_MAX + 1)
  })
})

describe('management requests', () => {
  test('beyond half of MAX_MANAGEMENT_QUEUE of one environment are 429 with Retry-After, at once, and those of another are served', async () => {
    const verdict = await startedService({ managementQueueMax: 4 })
    const key = await neighbourOf(verdict, 'polite')
    const answers: Answer[] = []
    // However late the calls of one round come: in some they meet.
    while (answers.every(({ status }) => status === 200)) {
      const from = answers.length
      const flood = Array.from({ length: 40 }, (_, n) =>
        verdict.post(`${FACTS}/users`, { key: `user-${from + n}` }),
      )
      const polite = await verdict.send('POST', '/v2/facts/default/polite/users', {
        key,
        body: { key: `bob-${from}` },
      })
      expect(polite.status).toBe(200)
      answers.push(...(await Promise.all(flood)))
    }
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    expect(answers.length - refused.length).toBeGreaterThan(0)
    for (const answer of refused) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
    }
    const scrape = await Scrape.of(verdict.address)
    expect(scrape.sum('verdict_limit_reached_total', { limit: 'share' })).toBe(refused.length)
    expect(scrape.sum('verdict_management_in_flight')).toBe(0)
  })

  test('beyond MAX_MANAGEMENT_QUEUE of all are 503 with Retry-After, at once, and decisions go on', async () => {
    const verdict = await startedService({ managementQueueMax: 2 })
    const keys = [API_KEY, await neighbourOf(verdict, 'second'), await neighbourOf(verdict, 'third')]
    const names = ['default', 'second', 'third']
    const answers: Answer[] = []
    while (!answers.some(({ status }) => status === 503)) {
      const from = answers.length
      const calls = Array.from({ length: 60 }, (_, n) =>
        verdict.send('POST', `/v2/facts/default/${names[n % 3]}/users`, {
          key: keys[n % 3]!,
          body: { key: `user-${from + n}` },
        }),
      )
      answers.push(...(await Promise.all(calls)))
    }
    const refused = answers.filter(({ status }) => status === 503)
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
    expect(refused.length).toBeGreaterThan(0)
    for (const answer of refused) {
      expect(refusal(answer)).toEqual([503, 'UNEXPECTED_ERROR'])
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    const { body } = await verdict.get<{ total_count: number }>(`${FACTS}/users?include_total_count=true`)
    expect(body.total_count).toBe(answers.filter(({ status }, n) => status === 200 && n % 3 === 0).length)
    const scrape = await Scrape.of(verdict.address)
    expect(scrape.sum('verdict_limit_reached_total', { limit: 'queue' })).toBe(refused.length)
    expect(scrape.sum('verdict_management_in_flight')).toBe(0)
    expect(await verdict.allows('user-0', 'read', 'document')).toBe(false)
  })
})

describe('a rate', () => {
  test('holds for a key on all threads together, with 429 and Retry-After, and for no other key', async () => {
    const limit = 5
    const verdict = await startedService({ requestsPerSecondMax: limit, httpThreads: 2 })
    const neighbour = await neighbourOf(verdict, 'neighbour')
    const ask = (key: string) =>
      verdict.send('POST', '/allowed', { key, body: question('alice', 'read', 'document') })
    const from = performance.now()
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(API_KEY)))
    const passed = answers.filter(({ status }) => status === 200).length
    // Those of each second that was touched; on a busy machine not all of the last one's.
    const secondsMax = Math.ceil((performance.now() - from) / 1_000) + 1
    expect(passed).toBeGreaterThanOrEqual(limit)
    expect(passed).toBeLessThanOrEqual(limit * secondsMax)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(40 - passed)
    for (const { headers, body } of refused) {
      expect(headers.get('retry-after')).toBe('1')
      expect(body).toEqual({ code: 429, message: 'too many requests with this key; try again shortly' })
    }
    expect((await ask(neighbour)).status).toBe(200)
    // What needs no key has no rate.
    for (let call = 0; call < 3 * limit; call += 1) {
      expect((await verdict.send('GET', '/ready', { key: null })).status).toBe(200)
    }
    expect(await counted(verdict, 'rate')).toBe(refused.length)
    while ((await ask(API_KEY)).status !== 200);
  })

  test('is told in the form of the path', async () => {
    const verdict = await startedService({ requestsPerSecondMax: 1 })
    const spent = async (method: string, path: string, key: string) => {
      for (;;) {
        const answer = await verdict.send(method, path, { key, body: {} })
        if (answer.status === 429) return answer
      }
    }
    expect((await spent('POST', '/access/v1/evaluation', API_KEY)).body).toMatch(/^too many requests/)
    expect(refusal(await spent('DELETE', `${SCHEMA}/roles/nobody`, ADMIN_KEY))).toEqual([
      429,
      'UNEXPECTED_ERROR',
    ])
  })

  test('counts by the second, what is refused not at all, and lets the second of another one begin anew', () => {
    let now = 1_700_000_000_000
    const handle = createKeyRates()
    const threads = [new KeyRates(handle, 3, () => now), new KeyRates(handle, 3, () => now)]
    const principal = (keyId: string) => ({ kind: 'organization', keyId, organizationId: 'o' }) as const
    for (const rates of threads) {
      rates.replaceAll([
        { principal: principal('a'), slot: 0 },
        { principal: principal('b'), slot: 10_000 },
      ])
    }
    const take = (keyId: string) => threads.map(rates => rates.take(keyId))
    expect([take('a'), take('a')]).toEqual([
      [true, true],
      [true, false],
    ])
    expect(take('b')).toEqual([true, true])
    now += 999
    expect(take('a')).toEqual([false, false])
    now += 1
    expect([take('a'), take('a')]).toEqual([
      [true, true],
      [true, false],
    ])
    // The numbers of seconds in a cell begin anew after 4,096 of them.
    now += 4_096_000
    expect(take('a')).toEqual([false, false])
    now += 1_000
    expect(take('a')).toEqual([true, true])
  })
})

test('a connection on which nothing moves is ended by the library, and the request is an aborted one', async () => {
  await Promise.all([inHead.closed, inBody.closed])
  expect([await inHead.answer(), await inBody.answer()]).toEqual([null, null])
  const scrape = await Scrape.of(patient.address)
  expect(scrape.sum('verdict_http_requests_total', { endpoint: 'isAllowed', status: 'aborted' })).toBe(1)
})

test('a body that comes slowly is waited for, as long as it goes on', async () => {
  await trickled
  expect((await inPieces.answer())?.status).toBe(200)
})
