/** `/metrics` after real requests. */
import { describe, expect, test } from 'vitest'
import { freePort } from '#testing/processes/free-port.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import {
  API_KEY,
  FACTS,
  neighbourOf,
  question,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

/** Time that a request waits for a revision that does not arrive. */
const WAIT_MS = 200
const METRICS_TOKEN = 'token-of-the-scraper'

describe('metrics of requests', () => {
  test('count requests by endpoint and status, and their duration by outcome', async () => {
    const from = performance.now()
    const verdict = await startedService({ minRevisionWaitMs: WAIT_MS })
    await verdict.createDocumentModel()
    await verdict.allows('alice', 'read', 'document:d1')
    await verdict.allows('alice', 'read', 'document:d1')
    await verdict.send('POST', '/allowed', { text: '{' })
    await verdict.send('POST', '/allowed', { key: null })
    await verdict.get('/nowhere')
    const [epoch, sequence] = (await verdict.revision()).split('.')
    const headers = { 'x-min-revision': `${epoch}.${Number(sequence) + 1_000}` }
    await verdict.send('POST', '/allowed', { headers, body: question('alice', 'read', 'document:d1') })
    const scrape = await Scrape.of(verdict.address)
    const requests = (labels: Record<string, string>) => scrape.sum('verdict_http_requests_total', labels)
    expect(requests({ endpoint: 'isAllowed', status: '200' })).toBe(2)
    expect(requests({ endpoint: 'isAllowed', status: '400' })).toBe(1)
    expect(requests({ endpoint: 'isAllowed', status: '401' })).toBe(1)
    expect(requests({ endpoint: 'isAllowed', status: '503' })).toBe(1)
    expect(requests({ endpoint: 'none', status: '404' })).toBe(1)
    expect(requests({ endpoint: 'createResource', status: '200' })).toBe(1)
    const durations = (suffix: string, labels: Record<string, string>) =>
      scrape.sum(`verdict_http_request_duration_seconds_${suffix}`, { endpoint: 'isAllowed', ...labels })
    expect(durations('count', { outcome: 'answered' })).toBe(2)
    expect(durations('count', { outcome: 'refused' })).toBe(2)
    expect(durations('bucket', { outcome: 'answered', le: '+Inf' })).toBe(2)
    expect(durations('sum', { outcome: 'answered' })).toBeGreaterThan(0)
    // The duration of the waiting request, in seconds: at least its wait, and at most that of the whole test.
    const seconds = durations('sum', { outcome: 'failed' })
    expect(seconds).toBeGreaterThanOrEqual((WAIT_MS - 1) / 1_000)
    expect(seconds).toBeLessThanOrEqual((performance.now() - from) / 1_000)
    // The scrape itself.
    expect(scrape.sum('verdict_http_requests_in_flight')).toBe(1)
  })

  test('add up all threads, report the memory of each, and count disconnected clients as aborted', async () => {
    const verdict = await startedService({ httpThreads: 3 })
    // Each request has its own connection, which the kernel assigns to one of the threads.
    for (let call = 0; call < 30; call += 1) {
      const response = await fetch(`${verdict.address}/healthy`, { headers: { connection: 'close' } })
      expect(response.status).toBe(200)
    }
    const scrape = await Scrape.of(verdict.address)
    expect(scrape.sum('verdict_http_requests_total', { endpoint: 'healthy' })).toBe(30)
    const threads = scrape.samples
      .filter(({ name }) => name === 'verdict_thread_heap_bytes')
      .map(({ labels, value }) => [labels['thread'], value > 1_000_000])
    expect(threads).toEqual(['main', 'http-1', 'http-2', 'http-3'].map(name => [name, true]))
    const connection = await RawConnection.open(verdict.port)
    const head = [`Authorization: Bearer ${API_KEY}`, 'Content-Length: 100']
    await connection.send(requestText('POST /allowed', head, '{'))
    const sum = async (name: string, labels = {}) => (await Scrape.of(verdict.address)).sum(name, labels)
    await until(async () => (await sum('verdict_http_requests_in_flight')) === 2)
    connection.destroy()
    const aborted = { endpoint: 'isAllowed', status: 'aborted' }
    await until(async () => (await sum('verdict_http_requests_total', aborted)) === 1)
  })

  test('are not collected with METRICS=off, except those of the main thread', async () => {
    const verdict = await startedService({ metrics: 'off' })
    await verdict.get('/healthy')
    const scrape = await Scrape.of(verdict.address)
    expect(scrape.sum('verdict_http_requests_total')).toBe(0)
    expect(scrape.sum('verdict_ready')).toBe(1)
  })
})

describe('metrics of decisions', () => {
  test('count each decision, including those of bulks, batches and AuthZEN', async () => {
    const verdict = await startedService({ opaPort: await freePort() })
    await verdict.createViewer('alice', 'document:d1')
    const [yes, no] = [question('alice', 'read', 'document:d1'), question('alice', 'update', 'document:d1')]
    await verdict.post('/allowed', yes)
    await verdict.post('/allowed/bulk', [yes, no, no])
    const subject = { type: 'user', id: 'alice' }
    const resource = { type: 'document', id: 'd1' }
    await verdict.post('/access/v1/evaluation', { subject, action: { name: 'update' }, resource })
    await verdict.post('/access/v1/evaluations', {
      subject,
      action: { name: 'read' },
      evaluations: [{ resource }, { resource }],
    })
    const opa = `http://127.0.0.1:${verdict.settings.opaPort}/v1/data/permit/root`
    const headers = { authorization: `Bearer ${API_KEY}` }
    const response = await fetch(opa, { method: 'POST', headers, body: JSON.stringify({ input: yes }) })
    expect(await response.json()).toMatchObject({ result: { allow: true } })
    const scrape = await Scrape.of(verdict.address)
    expect(scrape.sum('verdict_checks_total', { decision: 'allow' })).toBe(5)
    expect(scrape.sum('verdict_checks_total', { decision: 'deny' })).toBe(3)
    expect(scrape.sum('verdict_batch_checks_count')).toBe(2)
    expect(scrape.sum('verdict_batch_checks_sum')).toBe(5)
    expect(scrape.sum('verdict_batch_checks_bucket', { le: '1' })).toBe(0)
    expect(scrape.sum('verdict_batch_checks_bucket', { le: '10' })).toBe(2)
    expect(scrape.sum('verdict_http_requests_total', { endpoint: 'isAllowedOpa', status: '200' })).toBe(1)
  })

  test.each([
    ['parsed', 5, { hasBytesPath: false }],
    ['read from their bytes', 5, { hasBytesPath: true }],
    ['spread over the pool', 5_000, { hasBytesPath: true, poolThreads: 1 }],
  ])('do not count checks of subjects that are not users: %s', async (_, count, settings) => {
    const verdict = await startedService(settings)
    await verdict.createDocumentModel()
    const batchOf = (types: readonly string[]) => ({
      action: { name: 'read' },
      resource: { type: 'document', id: 'd1' },
      evaluations: types.map(type => ({ subject: { type, id: 'alice' } })),
    })
    const types = Array.from({ length: count }, (_unused, index) => (index % 5 < 2 ? 'user' : 'robot'))
    for (const sent of [types, ['robot', 'robot']]) {
      const { body } = await verdict.post('/access/v1/evaluations', batchOf(sent))
      expect(body).toEqual({ evaluations: sent.map(() => ({ decision: false })) })
    }
    const scrape = await Scrape.of(verdict.address)
    expect(scrape.sum('verdict_checks_total')).toBe((count * 2) / 5)
    expect(scrape.sum('verdict_batch_checks_count')).toBe(1)
    expect(scrape.sum('verdict_batch_checks_sum')).toBe((count * 2) / 5)
  })
})

describe('metrics of environments', () => {
  test('report the revision, the facts and the bytes of each region', async () => {
    const verdict = await startedService({ metricsToken: METRICS_TOKEN })
    await neighbourOf(verdict, 'empty')
    await verdict.createViewer('alice', 'document:d1')
    const scrape = await Scrape.of(verdict.address, { authorization: `Bearer ${METRICS_TOKEN}` })
    const ours = { project: 'default', environment: 'default' }
    const sequence = Number((await verdict.revision()).split('.')[1])
    expect(scrape.sum('verdict_revision', ours)).toBe(sequence)
    expect(scrape.sum('verdict_revision', { ...ours, environment: 'empty' })).toBeLessThan(sequence)
    expect(scrape.sum('verdict_index_facts', { ...ours, kind: 'assignments' })).toBe(1)
    expect(scrape.sum('verdict_index_facts', { ...ours, kind: 'tuples' })).toBe(0)
    for (const region of ['header', 'graph', 'closures', 'schema']) {
      expect(scrape.sum('verdict_index_bytes', { ...ours, region }), region).toBeGreaterThan(0)
    }
    expect(scrape.sum('verdict_staleness_seconds', ours)).toBe(0)
  })

  test('contain no names without METRICS_TOKEN, only sums over all environments', async () => {
    const verdict = await startedService()
    await neighbourOf(verdict, 'merger-with-globex')
    await verdict.createViewer('alice', 'document:d1')
    const scrape = await Scrape.of(verdict.address)
    expect(scrape.text).not.toContain('merger-with-globex')
    for (const { labels } of scrape.samples) {
      expect(Object.keys(labels)).not.toContain('project')
      expect(Object.keys(labels)).not.toContain('environment')
    }
    const samplesOf = (name: string) =>
      scrape.samples.filter(sample => sample.name === name).map(({ labels, value }) => [labels, value])
    expect(samplesOf('verdict_environment_closed')).toEqual([[{}, 0]])
    expect(samplesOf('verdict_staleness_seconds')).toEqual([[{}, 0]])
    expect(samplesOf('verdict_revision')).toEqual([])
    expect(samplesOf('verdict_index_facts')).toEqual([
      [{ kind: 'assignments' }, 1],
      [{ kind: 'tuples' }, 0],
      [{ kind: 'records' }, expect.any(Number)],
    ])
  })

  test('count built closures, and containers whose closures a change invalidated', async () => {
    const verdict = await startedService()
    await verdict.createNestedFolders()
    await verdict.user('alice')
    for (const key of ['a', 'b', 'c']) await verdict.instance(`folder:${key}`)
    await verdict.relate('folder:a', 'parent', 'folder:b')
    await verdict.assign('alice', 'viewer', 'folder:a')
    expect(await verdict.allows('alice', 'read', 'folder:b')).toBe(true)
    const before = await Scrape.of(verdict.address)
    expect(before.sum('verdict_closures_built_total')).toBeGreaterThan(0)
    await verdict.relate('folder:b', 'parent', 'folder:c')
    await verdict.relate('folder:c', 'parent', 'folder:a')
    expect(await verdict.allows('alice', 'read', 'folder:c')).toBe(true)
    const after = await Scrape.of(verdict.address)
    const voided = 'verdict_closure_containers_voided_total'
    expect(after.sum(voided)).toBeGreaterThan(before.sum(voided))
    expect(after.sum('verdict_closures_built_total')).toBeGreaterThan(
      before.sum('verdict_closures_built_total'),
    )
  })
})

test('metrics report the jobs, threads and busy time of the pool', async () => {
  const verdict = await startedService({ poolThreads: 1 })
  const bulk = Array(10_000).fill(question('alice', 'read', 'document'))
  await until(async () => {
    await verdict.post('/allowed/bulk', bulk)
    const scrape = await Scrape.of(verdict.address)
    return scrape.sum('verdict_pool_busy_seconds_total') > 0 && scrape.sum('verdict_pool_threads') === 1
  })
  await until(async () => (await Scrape.of(verdict.address)).sum('verdict_pool_jobs') === 0)
})

test('metrics count commits with their duration, and conflicts', async () => {
  const verdict = await startedService({ storeUrl: `lmdb:${storeDirectory()}` })
  const before = await Scrape.of(verdict.address)
  const conflicts = (scrape: Scrape) => scrape.sum('verdict_commits_total', { outcome: 'conflict' })
  let after = before
  // All requests write the same key. In some round, two requests conflict.
  for (let round = 0; conflicts(after) === conflicts(before); round += 1) {
    const body = { key: 'alice', email: `${round}@b.c` }
    await Promise.all(Array.from({ length: 20 }, () => verdict.put(`${FACTS}/users/alice`, body)))
    after = await Scrape.of(verdict.address)
  }
  const grown = (name: string, labels = {}) => after.sum(name, labels) - before.sum(name, labels)
  const done = grown('verdict_commits_total', { outcome: 'done' })
  expect(done).toBeGreaterThan(0)
  expect(grown('verdict_commit_duration_seconds_count')).toBe(done)
  expect(after.sum('verdict_commits_total', { outcome: 'failed' })).toBe(0)
})

test('metrics report event-loop delays, memory, processor time and the start of the process', async () => {
  const verdict = await startedService()
  const isMeasured = (scrape: Scrape, thread: string) =>
    scrape.sum('verdict_event_loop_delay_seconds_count', { thread }) > 0
  await until(async () => {
    const scrape = await Scrape.of(verdict.address)
    return isMeasured(scrape, 'main') && isMeasured(scrape, 'http-1')
  })
  const scrape = await Scrape.of(verdict.address)
  expect(scrape.sum('process_resident_memory_bytes')).toBeGreaterThan(30_000_000)
  expect(scrape.sum('process_cpu_seconds_total')).toBeGreaterThan(0)
  expect(scrape.sum('process_start_time_seconds')).toBeGreaterThan(1_600_000_000)
  for (const thread of ['main', 'http-1']) {
    expect(scrape.sum('verdict_thread_active_seconds_total', { thread })).toBeGreaterThan(0)
  }
})

test('with METRICS_TOKEN, metrics require that token, and API keys are rejected', async () => {
  const verdict = await sharedService({ metricsToken: METRICS_TOKEN })
  for (const key of [null, API_KEY, `${METRICS_TOKEN}x`, METRICS_TOKEN.slice(1)]) {
    const answer = await verdict.send('GET', '/metrics', { key })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="verdict"'])
  }
  await Scrape.of(verdict.address, { authorization: `Bearer ${METRICS_TOKEN}` })
})

/** Polls until the condition holds; the timeout of the test is the limit. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setImmediate(resolve))
}
