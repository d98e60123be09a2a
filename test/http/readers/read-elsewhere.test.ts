/**
 * Large bodies of decision requests, which a pool thread reads. The tests compare a service with a pool
 * thread and one without: responses, metrics and decision logs are the same.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BYTES_HERE_MAX } from '#http/routing/large-bodies.ts'
import { LARGE_BODY_BYTES_MIN } from '#http/edge/arrival-scheduler.ts'
import { ACTIONS, EVALUATION, EVALUATIONS } from '../../support/calls/access-requests.ts'
import { loadWorld } from '../../support/hostile-world.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { API_KEY, type Client, sharedService, startedService } from '#testing/processes/running-service.ts'
import { linesWritten } from '#testing/processes/written-lines.ts'
import { sharedDirectory } from '../../support/processes/temporary-directories.ts'

const CHECKS_MAX = 3_000
const LISTED_BYTES_MAX = 4 * 1_024 * 1_024
const settings = {
  bulkChecksMax: CHECKS_MAX,
  hasBytesPath: true,
  listedBytesMax: LISTED_BYTES_MAX,
  // Also raises the body limit of single checks.
  attributesBytesMax: 1_024 * 1_024,
  minRevisionWaitMs: 50,
}
/** Decision logs of the two services. */
const logs = sharedDirectory()
const pooled = await sharedService({ ...settings, poolThreads: 1, decisionLog: join(logs, 'pooled') })
const local = await sharedService({ ...settings, poolThreads: 0, decisionLog: join(logs, 'local') })
const debugPooled = await sharedService({ ...settings, hasDebug: true, poolThreads: 1 })
const debugLocal = await sharedService({ ...settings, hasDebug: true, poolThreads: 0 })
for (const service of [pooled, local, debugPooled, debugLocal]) await loadWorld(service)

const LONG = 'x'.repeat(LARGE_BODY_BYTES_MIN)
const check = (user: string, key: string | null = 'd1', more: object = {}) => ({
  user: { key: user },
  action: 'read',
  resource: { type: 'document', key },
  ...more,
})
const USERS = ['alice', 'bob', 'carol', 'dave', 'stranger', '鍵😀', 'a"b']
const mixed = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, index) =>
    check(USERS[index % USERS.length]!, index % 3 === 0 ? 'a1' : 'd1', more),
  )
const item = (id: string, more: object = {}) => ({
  subject: { type: 'user', id },
  action: { name: 'read' },
  resource: { type: 'document', id: 'd1' },
  ...more,
})
const items = USERS.map(user => item(user))

type Sent = readonly [path: string, body: unknown, headers?: Readonly<Record<string, string>>]

const bulk = (body: unknown): Sent => ['/allowed/bulk', body]
const context = { long: LONG }
const evaluations = (more = {}, headers = {}): Sent => [
  EVALUATIONS,
  { evaluations: items, context, ...more },
  headers,
]

const bytes = (...parts: readonly (string | readonly number[])[]) =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

const SENT: Readonly<Record<string, Sent>> = {
  'a bulk of a few long checks': bulk(mixed(7, { context: { long: LONG.slice(0, 40_000) } })),
  // Contains a member twice.
  'a bulk that has to be parsed': bulk(
    bytes(JSON.stringify(mixed(7, { context })).replace('"user":', '"user":null,"user":')),
  ),
  'a bulk of thousands of checks that is too long for an HTTP thread': bulk(
    mixed(CHECKS_MAX, { context: { long: 'y'.repeat(Math.ceil(BYTES_HERE_MAX / CHECKS_MAX)) } }),
  ),
  'a bulk of many small objects': bulk([
    check('alice', 'd1', { context: { many: Array(100_000).fill({}) } }),
  ]),
  'a typical bulk': bulk(mixed(CHECKS_MAX).map(one => ({ ...one, sdk: 'a'.repeat(60) }))),
  'a bulk of too many checks': bulk(mixed(CHECKS_MAX + 1, { context: { a: 'b'.repeat(100) } })),
  'a bulk with some invalid checks': bulk(
    mixed(2_000, { context: { long: 'x'.repeat(200) } }).map((one, index) =>
      index % 100 === 7 ? { ...one, action: 7, user: null } : one,
    ),
  ),
  'invalid JSON': bulk(bytes('[', '{"a":1},'.repeat(40_000))),
  'invalid UTF-8': bulk(bytes('["', LONG, [0xff], '"]')),
  'JSON that is nested too deeply': bulk(bytes('['.repeat(200_000), ']'.repeat(200_000))),
  'a bulk with a byte order mark': bulk(bytes([0xef, 0xbb, 0xbf], JSON.stringify(mixed(3, { context })))),
  'an empty bulk with much white space': bulk(bytes('[', ' '.repeat(LARGE_BODY_BYTES_MIN), ']')),
  'a single check': ['/allowed', check('alice', 'd1', { context: { long: LONG, 'é\\': 1 } })],
  'a list of permissions': ['/user-permissions', { user: { key: 'alice' }, context }],
  'a list of tenants that allow': ['/allowed/all-tenants', check('alice', undefined, { context })],
  'a list of users': [
    '/authorized_users',
    { action: 'read', resource: { type: 'document', key: 'd1', tenant: 'default' }, context },
  ],
  'an evaluation': [EVALUATION, item('alice', { context })],
  'evaluations with some invalid items': evaluations({
    evaluations: [...items, 5, { subject: { type: 'user' } }, { subject: { type: 'robot', id: 'r' } }, null],
  }),
  'typical evaluations with long defaults': evaluations(),
  'evaluations that stop at the first deny': evaluations({
    options: { evaluations_semantic: 'deny_on_first_deny' },
  }),
  'a search for actions': [
    ACTIONS,
    { subject: { type: 'user', id: 'alice' }, resource: { type: 'document', id: 'd1' }, context },
  ],
  'evaluations without a content type': evaluations({}, { 'content-type': 'text/plain' }),
}

/** The response to a request, without values that vary. */
async function ask(service: Client, [path, body, headers = {}]: Sent) {
  const answer = await fetch(service.address + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
      'x-request-id': 'asked',
      ...headers,
    },
    body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body),
  })
  const stable = Object.fromEntries(
    [...answer.headers].filter(([name]) => !['date', 'uwebsockets'].includes(name)),
  )
  const text = await answer.text()
  return { status: answer.status, headers: stable, text: text.replace(/"id":"[0-9a-f]{32}"/, '"id":""') }
}

const counted = (scrape: Scrape) => ({
  allowed: scrape.sum('verdict_checks_total', { decision: 'allow' }),
  denied: scrape.sum('verdict_checks_total', { decision: 'deny' }),
  batches: scrape.sum('verdict_batch_checks_count'),
  inBatches: scrape.sum('verdict_batch_checks_sum'),
  limits: scrape.sum('verdict_limit_reached_total'),
})

test.each(Object.entries(SENT))(
  'the response is the same with and without a pool thread: %s',
  async (_, sent) => {
    const expected = await ask(local, sent)
    expect(await ask(pooled, sent)).toEqual(expected)
    // When the second request is read, the reader has learned the form of such checks.
    expect(await ask(pooled, sent)).toEqual(expected)
    await ask(local, sent)
  },
)

test.each(['a bulk of a few long checks', 'a single check', 'evaluations with some invalid items'])(
  'the response with DEBUG_DECISIONS is the same with and without a pool thread: %s',
  async name => expect(await ask(debugPooled, SENT[name]!)).toEqual(await ask(debugLocal, SENT[name]!)),
)

test.each([
  ['a bulk that has to be parsed', 1],
  ['a bulk of many small objects', 1],
  ['a single check', 1],
  ['a bulk of a few long checks', 0],
])('after %s, the number of pool threads is %i', async (name, threads) => {
  // These bulks have too few checks to be decided by pool threads.
  const service = await startedService({ ...settings, poolThreads: 1 })
  await ask(service, SENT[name]!)
  expect((await Scrape.of(service.address)).sum('verdict_pool_threads')).toBe(threads)
})

test('a request waits for a future X-Min-Revision only after its body was validated', async () => {
  const good = SENT['a bulk that has to be parsed']!
  const bad = SENT['invalid JSON']!
  const present = await debugPooled.revision()
  const [epoch, sequence] = present.split('.') as [string, string]
  const future = { 'x-min-revision': `${epoch}.${Number(sequence) + 1_000}` }
  const withRevision = await ask(debugPooled, [good[0], good[1], { 'x-min-revision': present }])
  expect(withRevision.text).toBe((await ask(debugLocal, good)).text)
  expect((await ask(debugPooled, [bad[0], bad[1], future])).text).toBe((await ask(debugLocal, bad)).text)
  const refused = await ask(debugPooled, [good[0], good[1], future])
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('did not reach')])
})

test('metrics and decision logs are the same with and without a pool thread', async () => {
  const scrapes = [await Scrape.of(pooled.address), await Scrape.of(local.address)] as const
  const [one, other] = [counted(scrapes[0]), counted(scrapes[1])]
  expect(one).toEqual(other)
  expect(one.allowed).toBeGreaterThan(100)
  for (const [index, name] of ['pooled', 'local'].entries()) {
    const written = scrapes[index]!.sum('verdict_decision_log_records_total', { result: 'written' })
    await linesWritten(join(logs, name), written)
  }
  await Promise.all([pooled.close(), local.close()])
  const [records, expected] = ['pooled', 'local'].map(name =>
    readFileSync(join(logs, name), 'utf8')
      .split('\n')
      .map(line => line.replace(/"time":"[^"]*","request_id":"asked","environment_id":"[^"]*"/, '')),
  )
  expect(records!.length).toBeGreaterThan(2 * CHECKS_MAX)
  expect(records).toEqual(expected)
})
