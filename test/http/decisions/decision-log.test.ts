/** The decision log: one record per decision, written without delaying decisions. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { actorText, shortActor } from '#http/message/short-actor.ts'
import { KEPT_REQUEST_ID_LENGTH_MAX } from '#model/limits.ts'
import { DecisionLog } from '#telemetry/decision-log.ts'
import { ThreadCounters } from '#telemetry/thread-counters.ts'
import { evaluation } from '../../support/calls/access-requests.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import {
  API_KEY,
  Client,
  question,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'
import { linesWritten } from '#testing/processes/written-lines.ts'

function recordsIn(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Record<string, unknown>)
}

function logTo(
  path: string,
  drawing: { readonly share: number; readonly random: () => number },
): DecisionLog {
  return new DecisionLog({
    destination: path,
    ...drawing,
    now: () => 0,
    shownId: id => id,
    shortActor,
    actorText,
    counters: null,
    onFault: error => expect(error).toBe(undefined),
  })
}

/**
 * Returns the records of a log after the service was closed. A close waits for the disk for a limited time
 * only, so the service is closed when the file has `count` records.
 */
async function recordsOf(path: string, count: number, verdict: Client): Promise<Record<string, unknown>[]> {
  await linesWritten(path, count)
  await verdict.close()
  return recordsIn(readFileSync(path, 'utf8'))
}

async function ask(verdict: Client, user: string): Promise<void> {
  const headers = { 'x-request-id': `about-${user}` }
  await verdict.send('POST', '/allowed', { body: question(user, 'read', 'document:d1', 'acme'), headers })
}

/** A service with a decision log, in which the user is a viewer of document:d1. */
async function startedWithLog(user: string, settings: Parameters<typeof startedService>[0] = {}) {
  const path = join(storeDirectory(), 'decisions.log')
  const verdict = await startedService({ decisionLog: path, ...settings })
  await verdict.createViewer(user, 'document:d1')
  return { path, verdict }
}

test('the decision log has a record of each decision, including each check of a bulk, with the request id', async () => {
  const { path, verdict } = await startedWithLog('alice', { hasBytesPath: true })
  const revision = await verdict.revision()
  await ask(verdict, 'alice')
  const bulk = [question('alice', 'read', 'document:d1'), question('eve\n"', 'read', 'document')]
  await verdict.send('POST', '/allowed/bulk', { body: bulk, headers: { 'x-request-id': 'in-bulk' } })
  await verdict.send('POST', '/access/v1/evaluation', {
    body: evaluation('alice', 'read', 'document:d1'),
    headers: { 'x-request-id': 'waited', 'x-min-revision': revision },
  })
  await verdict.send('POST', '/access/v1/evaluation', {
    body: evaluation('eve', 'read', 'document:d1'),
    headers: { 'x-request-id': 'evaluated' },
  })
  const scrape = await Scrape.of(verdict.address)
  const records = await recordsOf(path, 5, verdict)
  const scope = {
    environment_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    time: expect.stringMatching(/^\d{4}-.*Z$/),
  }
  const about = { action: 'read', resource_type: 'document', resource_key: 'd1', tenant: null, ...scope }
  expect(records).toEqual([
    { ...about, request_id: 'about-alice', user: 'alice', tenant: 'acme', allow: false },
    { ...about, request_id: 'in-bulk', user: 'alice', allow: true },
    { ...about, request_id: 'in-bulk', user: 'eve\n"', resource_key: null, allow: false },
    { ...about, request_id: 'waited', user: 'alice', allow: true },
    { ...about, request_id: 'evaluated', user: 'eve', allow: false },
  ])
  expect(scrape.sum('verdict_decision_log_records_total', { result: 'written' })).toBe(5)
  expect(scrape.sum('verdict_checks_total')).toBe(5)
})

test('the decision log has a record of each plan without its filter, and the metrics count plans by kind', async () => {
  const { path, verdict } = await startedWithLog('alice')
  const plan = (user: string, columns: object) =>
    verdict.post('/allowed/plan', { ...question(user, 'read', 'document'), columns })
  await plan('alice', {})
  await plan('eve', { attributes: { secret: { type: 'string' } } })
  await plan('alice', { relations: ['parent'] })
  const scrape = await Scrape.of(verdict.address)
  const records = await recordsOf(path, 3, verdict)
  const about = { action: 'read', resource_type: 'document', tenant: null, ids: 0 }
  const own = { time: expect.any(String), request_id: expect.any(String), environment_id: expect.any(String) }
  expect(records).toEqual([
    { ...own, ...about, user: 'alice', plan: 'conditional' },
    { ...own, ...about, user: 'eve', plan: 'always_denied' },
    { ...own, ...about, user: 'alice', plan: 'refused' },
  ])
  const counted = ['always_allowed', 'always_denied', 'conditional', 'refused'].map(kind =>
    scrape.sum('verdict_plans_total', { kind }),
  )
  expect(counted).toEqual([0, 1, 1, 1])
  expect(scrape.sum('verdict_plan_duration_seconds_count')).toBe(3)
  expect(scrape.sum('verdict_checks_total')).toBe(0)
})

test('the decision log never contains attributes or context', async () => {
  const { path, verdict } = await startedWithLog('alice')
  const secret = { note: 'secret' }
  const isSecret = { equals: secret.note }
  const conditions = { 'user.note': isSecret, 'resource.note': isSecret, 'context.note': isSecret }
  await verdict.conditionSet({ key: 'set', conditions })
  await verdict.setRule('set', 'document:read', 'document')
  const native = {
    user: { key: 'eve', attributes: secret },
    action: 'read',
    resource: { type: 'document', key: 'd1', attributes: secret },
    context: secret,
  }
  const authzen = {
    subject: { type: 'user', id: 'eve', properties: secret },
    action: { name: 'read', properties: secret },
    resource: { type: 'document', id: 'd1', properties: secret },
    context: secret,
  }
  await verdict.post('/allowed', native)
  await verdict.post('/allowed/bulk', [native])
  await verdict.post('/access/v1/evaluation', authzen)
  await verdict.post('/access/v1/evaluations', { evaluations: [authzen] })
  const records = await recordsOf(path, 4, verdict)
  expect(records.map(({ allow }) => allow)).toEqual([true, true, true, true])
  expect(readFileSync(path, 'utf8')).not.toContain('note')
})

test('the decision log records the decisions that a batch returns, except those about subjects that are not users', async () => {
  const { path, verdict } = await startedWithLog('alice')
  const subjects = (...ids: string[]) => ids.map(id => ({ subject: { type: 'user', id } }))
  const robots = ['user', 'robot', 'user'].map(type => ({ subject: { type, id: 'r2' } }))
  const logged: [string, string][] = []
  for (const [semantic, evaluations, decisions, users] of [
    ['permit_on_first_permit', subjects('alice', 'eve'), [true], ['alice']],
    ['deny_on_first_deny', subjects('alice', 'eve', 'alice'), [true, false], ['alice', 'eve']],
    ['execute_all', subjects('alice', 'eve', 'alice'), [true, false, true], ['alice', 'eve', 'alice']],
    ['execute_all', robots, [false, false, false], ['r2', 'r2']],
    // A body with an escape in a member name is parsed by the JSON parser.
    ['execute_all', [{ 'line\nend': 1 }, ...robots], [false, false, false, false], ['unknown', 'r2', 'r2']],
  ] as const) {
    const id = `batch-${logged.length}`
    const options = { evaluations_semantic: semantic }
    const sent = { ...evaluation('unknown', 'read', 'document:d1'), options, evaluations }
    const { body } = await verdict.send<{ evaluations: { decision: boolean }[] }>(
      'POST',
      '/access/v1/evaluations',
      { headers: { 'x-request-id': id }, body: sent },
    )
    expect(body.evaluations.map(({ decision }) => decision)).toEqual(decisions)
    logged.push(...users.map(user => [id, user] as [string, string]))
  }
  const scrape = await Scrape.of(verdict.address)
  const records = await recordsOf(path, logged.length, verdict)
  expect(records.map(({ request_id: id, user }) => [id, user])).toEqual(logged)
  expect(scrape.sum('verdict_checks_total')).toBe(logged.length)
})

// administration.md N6
test('the decision log has the claimed actor of each request; a claim that is not valid refuses no decision', async () => {
  const { path, verdict } = await startedWithLog('alice', { hasBytesPath: true })
  const check = question('alice', 'read', 'document:d1')
  const scope = await verdict.admin<{ id: string }>('GET', '/v2/api-key/default/default')
  const by = { claimed_by: { api_key_id: scope.body.id } }
  const behalf = { 'x-actor': 'agent%207', 'x-actor-for': 'bob' }
  for (const headers of [{}, behalf, { 'x-actor': 'a,b' }, { 'x-actor-for': 'bob' }]) {
    const { body } = await verdict.send('POST', '/allowed', { body: check, headers })
    expect(body).toMatchObject({ allow: true })
    await verdict.send('POST', '/access/v1/evaluation', {
      body: evaluation('alice', 'read', 'document:d1'),
      headers: { ...headers, 'x-min-revision': await verdict.revision() },
    })
  }
  await verdict.send('POST', '/allowed/bulk', { body: [check, check], headers: behalf })
  const records = await recordsOf(path, 10, verdict)
  const claimed = { actor: { kind: 'claimed', name: 'agent 7', on_behalf_of: ['bob'], ...by } }
  const malformed = { actor: { kind: 'claimed', malformed: true } }
  const origins = [{}, claimed, malformed, malformed].flatMap(each => [each, each])
  const actors = records.map(record => ('actor' in record ? record['actor'] : 0))
  expect(actors).toEqual([...origins, claimed, claimed].map(each => ('actor' in each ? each.actor : 0)))
})

test('the decision log has the decisions of a large bulk in order, with its request id and actor', async () => {
  const { path, verdict } = await startedWithLog('zoë', { poolThreads: 1 })
  const users = Array.from({ length: 3_000 }, (_, index) => (index % 3 === 0 ? 'zoë' : `user-${index}`))
  const body = users.map(user => question(user, 'read', 'document:d1'))
  let bulks = 0
  do {
    const headers = { 'x-request-id': `bulk-${bulks++}`, 'x-actor': 'ann' }
    // Concurrent checks keep their own request ids.
    const bulk = verdict.send('POST', '/allowed/bulk', { body, headers })
    const [answer] = await Promise.all([bulk, ask(verdict, 'eve'), ask(verdict, 'eve')])
    expect(answer.status).toBe(200)
    // The buffer can hold the records of one bulk, but not those of many bulks.
    await linesWritten(path, bulks * (users.length + 2))
  } while ((await Scrape.of(verdict.address)).sum('verdict_pool_busy_seconds_total') === 0)
  const records = await recordsOf(path, bulks * (users.length + 2), verdict)
  for (let bulk = 0; bulk < bulks; bulk++) {
    const ofBulk = records.filter(({ request_id: id }) => id === `bulk-${bulk}`)
    expect(ofBulk.map(({ user }) => user)).toEqual(users)
    expect(ofBulk.map(({ allow }) => allow)).toEqual(users.map(user => user === 'zoë'))
    expect(ofBulk.filter(({ actor }) => (actor as { name: string } | undefined)?.name !== 'ann')).toEqual([])
  }
  expect(records.filter(({ request_id: id }) => id === 'about-eve').length).toBe(2 * bulks)
  expect(records.length).toBe(bulks * (users.length + 2))
})

test('the decision log truncates long request ids, so that one id cannot fill it', async () => {
  const path = join(storeDirectory(), 'decisions.log')
  const verdict = await startedService({ decisionLog: path, poolThreads: 0 })
  const body = Array.from({ length: 1_000 }, () => question('eve', 'read', 'document:d1'))
  const id = 'i'.repeat(3_000)
  const answer = await verdict.send('POST', '/allowed/bulk', { body, headers: { 'x-request-id': id } })
  expect(answer.headers.get('x-request-id')).toBe(id)
  const records = await recordsOf(path, body.length, verdict)
  expect(records.length).toBe(body.length)
  for (const { request_id: kept } of records) expect(kept).toBe(id.slice(0, KEPT_REQUEST_ID_LENGTH_MAX))
})

test('the decision log on standard output is complete after SIGTERM', async () => {
  const service = new ServiceProcess({
    cwd: storeDirectory(),
    env: {
      API_KEY,
      DECISION_LOG: 'stdout',
      STORE_URL: 'memory:',
      HTTP_THREADS: '2',
    },
  })
  const client = Client.at(await service.address())
  for (let index = 0; index < 50; index += 1)
    await client.allowsAll([0, 1, 2].map(at => question(`user-${index}-${at}`, 'read', 'document')))
  expect(await service.end('SIGTERM')).toBe(0)
  const lines = service.stdout.split('\n').filter(line => line.startsWith('{'))
  const users = new Set(lines.map(line => (JSON.parse(line) as { user: string }).user))
  expect(users.size).toBe(150)
})

test('a new decision log file is readable only by its user, and an existing file keeps its mode', async () => {
  for (const mode of [null, 0o640]) {
    const path = join(storeDirectory(), 'decisions.log')
    if (mode !== null) writeFileSync(path, '')
    if (mode !== null) chmodSync(path, mode)
    await logTo(path, { share: 1, random: () => 0 }).close()
    expect(statSync(path).mode & 0o777).toBe(mode ?? 0o600)
  }
})

test('a sampled decision log contains the configured share of the decisions, and formats no other records', async () => {
  const path = join(storeDirectory(), 'decisions.log')
  const draws = [0.9, 0.1, 0.9, 0.1, 0.9, 0.9, 0.1]
  const log = logTo(path, { share: 0.25, random: () => draws.shift()! })
  const read: number[] = []
  const query = (index: number) => {
    read.push(index)
    return { user: `user-${index}`, action: 'read', type: 'document', key: null, tenant: null }
  }
  log.decided(Uint8Array.of(1), { query }, 'environment', { requestId: 'first' })
  log.decided(Uint8Array.of(0, 1), { query }, 'environment', { requestId: 'first' })
  log.decided(Uint8Array.of(0, 0, 0, 1), { query }, 'environment', { requestId: 'second' })
  expect(read).toEqual([0, 0, 3])
  await log.close()
  await linesWritten(path, 3)
  const records = recordsIn(readFileSync(path, 'utf8'))
  expect(records.map(({ request_id: id, user, allow }) => [id, user, allow])).toEqual([
    ['first', 'user-0', false],
    ['second', 'user-0', false],
    ['second', 'user-3', true],
  ])
})

test('the decision log truncates names at the maximum length of keys', async () => {
  const path = join(storeDirectory(), 'decisions.log')
  const log = logTo(path, { share: 1, random: () => 0 })
  const longest = 'k'.repeat(512)
  const names = { user: longest, action: longest, type: longest, key: longest, tenant: longest }
  const longer = Object.fromEntries(Object.keys(names).map(name => [name, `${longest}kk`])) as typeof names
  const asked = { query: (index: number) => [names, longer][index]! }
  log.decided(Uint8Array.of(1, 1), asked, 'environment', { requestId: 'request' })
  await log.close()
  await linesWritten(path, 2)
  const fields = ['user', 'action', 'resource_type', 'resource_key', 'tenant']
  const logged = recordsIn(readFileSync(path, 'utf8')).map(record => fields.map(field => record[field]))
  expect(logged).toEqual([Array(5).fill(longest), Array(5).fill(`${longest}…`)])
})

// administration.md N6
test.each([
  ['short', 'ann', ['bob', 'c'.repeat(250)], 2, false],
  ['long', 'ann', ['bob', 'c'.repeat(251), 'dora'], 1, true],
  ['long in its first name', 'a'.repeat(256), ['b'], 0, true],
] as const)(
  'only the first line of a request contains a %s actor as a whole',
  async (_, name, names, kept, isCut) => {
    const path = join(storeDirectory(), 'decisions.log')
    const log = logTo(path, { share: 1, random: () => 0 })
    const claimed_by = { api_key_id: null }
    const actor = { kind: 'claimed', name, on_behalf_of: names, claimed_by }
    const query = () => ({ user: 'eve', action: 'read', type: 'document', key: null, tenant: null })
    for (let request = 0; request < 2; request++)
      log.decided(Uint8Array.of(1, 1, 1), { query }, 'environment', { requestId: 'request', actor })
    await log.close()
    await linesWritten(path, 6)
    const short = { ...actor, on_behalf_of: names.slice(0, kept), ...(isCut && { is_cut: true }) }
    const logged = recordsIn(readFileSync(path, 'utf8')).map(record => record['actor'])
    expect(logged).toEqual([actor, short, short, actor, short, short])
  },
)

test('the decision log drops and counts records beyond its buffer limit', async () => {
  // At first, no process reads this pipe.
  const pipe = join(storeDirectory(), 'pipe')
  execFileSync('mkfifo', [pipe])
  const counters = ThreadCounters.create([], 0)
  const log = new DecisionLog({
    destination: pipe,
    share: 1,
    random: () => 0,
    now: () => 0,
    shownId: id => id,
    shortActor,
    actorText,
    counters,
    onFault: error => expect(error).toBe(undefined),
  })
  const query = { user: 'u'.repeat(400), action: 'read', type: 'document', key: null, tenant: null }
  const asked = { query: () => query }
  for (let count = 0; count < 20_000; count += 1)
    log.decided(Uint8Array.of(1), asked, 'environment', { requestId: 'request' })
  const [written, dropped] = counters
    .metrics('here')
    .find(({ name }) => name === 'verdict_decision_log_records_total')!
    .values.map(({ value }) => value)
  expect(written! + dropped!).toBe(20_000)
  // 4 MiB of lines of about 580 bytes.
  expect(written).toBeGreaterThan(6_000)
  expect(written).toBeLessThan(9_000)
  const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'inherit'] })
  let read = ''
  reader.stdout.setEncoding('utf8').on('data', (text: string) => (read += text))
  const isRead = once(reader, 'close')
  await log.close()
  // The reader receives all buffered records.
  await isRead
  expect(recordsIn(read)).toHaveLength(written!)
})

test('a decision log that cannot be opened prevents the start of the service', async () => {
  const decisionLog = join(storeDirectory(), 'nowhere', 'decisions.log')
  await expect(startedService({ decisionLog })).rejects.toThrow('setting DECISION_LOG: ENOENT')
})

test('a decision log on a full disk is reported once, and decisions continue', async () => {
  const service = new ServiceProcess({
    cwd: storeDirectory(),
    // Every write to this device fails like a write to a full disk.
    env: { API_KEY, DECISION_LOG: '/dev/full', STORE_URL: 'memory:', HTTP_THREADS: '1' },
  })
  const client = Client.at(await service.address())
  for (let count = 0; count < 100; count += 1) await client.allows('alice', 'read', 'document')
  expect(await service.end('SIGTERM')).toBe(0)
  expect(service.stderr.match(/the decision log cannot be written/g)).toHaveLength(1)
  expect(service.stderr).toContain('ENOSPC')
})
