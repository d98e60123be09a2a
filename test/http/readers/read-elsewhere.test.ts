/**
 * Large bodies of decisions, which another thread reads: no answer, no count and no record tells so. Two services, one of them
 * without such a thread, are asked the same.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { BYTES_HERE_MAX } from '#http/routing/large-bodies.ts'
import { LARGE_BODY_BYTES_MIN } from '#http/edge/request-scheduler.ts'
import { ACTIONS, EVALUATION, EVALUATIONS } from '../../support/access-requests.ts'
import { loadWorld } from '../../support/hostile-world.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { API_KEY, type Client, sharedService, startedService } from '#testing/processes/running-service.ts'

const CHECKS_MAX = 3_000
const LISTED_BYTES_MAX = 4 * 1_024 * 1_024
const settings = {
  bulkChecksMax: CHECKS_MAX,
  hasBytesPath: true,
  listedBytesMax: LISTED_BYTES_MAX,
  // So that bodies of single questions may be large, too.
  attributesBytesMax: 1_024 * 1_024,
  minRevisionWaitMs: 50,
}
/** Decision logs of the two services. */
const logs = mkdtempSync(join(tmpdir(), 'verdict-read-elsewhere-'))
afterAll(() => rmSync(logs, { recursive: true }))
const elsewhere = await sharedService({ ...settings, poolThreads: 1, decisionLog: join(logs, 'elsewhere') })
const here = await sharedService({ ...settings, poolThreads: 0, decisionLog: join(logs, 'here') })
const debugElsewhere = await sharedService({ ...settings, hasDebug: true, poolThreads: 1 })
const debugHere = await sharedService({ ...settings, hasDebug: true, poolThreads: 0 })
for (const service of [elsewhere, here, debugElsewhere, debugHere]) await loadWorld(service)

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

const bytes = (...parts: readonly (string | readonly number[])[]) =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

const SENT: Readonly<Record<string, Sent>> = {
  'a bulk of a few long questions': ['/allowed/bulk', mixed(7, { context: { long: LONG.slice(0, 40_000) } })],
  'a bulk that has to be parsed': [
    '/allowed/bulk',
    // A member that is there twice.
    bytes(JSON.stringify(mixed(7, { context: { long: LONG } })).replace('"user":', '"user":null,"user":')),
  ],
  'a bulk of thousands, longer than any that is read here': [
    '/allowed/bulk',
    mixed(CHECKS_MAX, { context: { long: 'y'.repeat(Math.ceil(BYTES_HERE_MAX / CHECKS_MAX)) } }),
  ],
  'a bulk of many little things': [
    '/allowed/bulk',
    [check('alice', 'd1', { context: { many: Array(100_000).fill({}) } })],
  ],
  'a bulk of the usual kind': [
    '/allowed/bulk',
    mixed(CHECKS_MAX).map(one => ({ ...one, sdk: 'a'.repeat(60) })),
  ],
  'a bulk of too many': ['/allowed/bulk', mixed(CHECKS_MAX + 1, { context: { a: 'b'.repeat(100) } })],
  'wrong shapes, some of many': [
    '/allowed/bulk',
    mixed(2_000, { context: { long: 'x'.repeat(200) } }).map((one, index) =>
      index % 100 === 7 ? { ...one, action: 7, user: null } : one,
    ),
  ],
  'no JSON': ['/allowed/bulk', bytes('[', '{"a":1},'.repeat(40_000))],
  'no UTF-8': ['/allowed/bulk', bytes('["', LONG, [0xff], '"]')],
  'nested too deep': ['/allowed/bulk', bytes('['.repeat(200_000), ']'.repeat(200_000))],
  'behind a byte order mark': [
    '/allowed/bulk',
    bytes([0xef, 0xbb, 0xbf], JSON.stringify(mixed(3, { context: { long: LONG } }))),
  ],
  'an empty bulk in much white': ['/allowed/bulk', bytes('[', ' '.repeat(LARGE_BODY_BYTES_MIN), ']')],
  'one question': ['/allowed', check('alice', 'd1', { context: { long: LONG, 'é\\': 1 } })],
  'a list of permissions': ['/user-permissions', { user: { key: 'alice' }, context: { long: LONG } }],
  'a list of tenants that allow': [
    '/allowed/all-tenants',
    check('alice', undefined, { context: { long: LONG } }),
  ],
  'a list of users': [
    '/authorized_users',
    { action: 'read', resource: { type: 'document', key: 'd1', tenant: 'default' }, context: { long: LONG } },
  ],
  'an evaluation': [EVALUATION, item('alice', { context: { long: LONG } })],
  'evaluations, some of which cannot be read': [
    EVALUATIONS,
    {
      evaluations: [
        ...items,
        5,
        { subject: { type: 'user' } },
        { subject: { type: 'robot', id: 'r' } },
        null,
      ],
      context: { long: LONG },
    },
  ],
  'evaluations of the usual kind behind long defaults': [
    EVALUATIONS,
    { evaluations: items, context: { long: LONG } },
  ],
  'evaluations that stop at the first deny': [
    EVALUATIONS,
    { evaluations: items, context: { long: LONG }, options: { evaluations_semantic: 'deny_on_first_deny' } },
  ],
  'a search for actions': [
    ACTIONS,
    {
      subject: { type: 'user', id: 'alice' },
      resource: { type: 'document', id: 'd1' },
      context: { long: LONG },
    },
  ],
  'evaluations without a content type': [
    EVALUATIONS,
    { evaluations: items, context: { long: LONG } },
    { 'content-type': 'text/plain' },
  ],
}

/** What came, as it came, and what was said of it. */
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
  const said = Object.fromEntries(
    [...answer.headers].filter(([name]) => !['date', 'uwebsockets'].includes(name)),
  )
  const text = await answer.text()
  return { status: answer.status, headers: said, text: text.replace(/"id":"[0-9a-f]{32}"/, '"id":""') }
}

const counted = (scrape: Scrape) => ({
  allowed: scrape.sum('verdict_checks_total', { decision: 'allow' }),
  denied: scrape.sum('verdict_checks_total', { decision: 'deny' }),
  batches: scrape.sum('verdict_batch_checks_count'),
  inBatches: scrape.sum('verdict_batch_checks_sum'),
  limits: scrape.sum('verdict_limit_reached_total'),
})

test.each(Object.entries(SENT))('%s: answered alike', async (_name, sent) => {
  const right = await ask(here, sent)
  expect(await ask(elsewhere, sent)).toEqual(right)
  // Another reads it that knows what such questions look like.
  expect(await ask(elsewhere, sent)).toEqual(right)
  await ask(here, sent)
})

test.each(['a bulk of a few long questions', 'one question', 'evaluations, some of which cannot be read'])(
  'with DEBUG_DECISIONS, %s: answered alike',
  async name => expect(await ask(debugElsewhere, SENT[name]!)).toEqual(await ask(debugHere, SENT[name]!)),
)

test.each([
  ['a bulk that has to be parsed', 1],
  ['a bulk of many little things', 1],
  ['one question', 1],
  ['a bulk of a few long questions', 0],
])('%s: threads that were started for it: %i', async (name, threads) => {
  // All have too few checks for the threads that take parts of bulks.
  const service = await startedService({ ...settings, poolThreads: 1 })
  await ask(service, SENT[name]!)
  expect((await Scrape.of(service.address)).sum('verdict_pool_threads')).toBe(threads)
})

test('a state to come is waited for behind all checks, one that is there is not', async () => {
  const good = SENT['a bulk that has to be parsed']!
  const bad = SENT['no JSON']!
  const present = await debugElsewhere.revision()
  const [epoch, sequence] = present.split('.') as [string, string]
  const future = { 'x-min-revision': `${epoch}.${Number(sequence) + 1_000}` }
  expect((await ask(debugElsewhere, [good[0], good[1], { 'x-min-revision': present }])).text).toBe(
    (await ask(debugHere, good)).text,
  )
  expect((await ask(debugElsewhere, [bad[0], bad[1], future])).text).toBe((await ask(debugHere, bad)).text)
  const refused = await ask(debugElsewhere, [good[0], good[1], future])
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('did not come to')])
})

test('decisions and refusals are counted and recorded as those that are read here, in order', async () => {
  const [one, other] = [counted(await Scrape.of(elsewhere.address)), counted(await Scrape.of(here.address))]
  expect(one).toEqual(other)
  expect(one.allowed).toBeGreaterThan(100)
  await Promise.all([elsewhere.close(), here.close()])
  const [records, right] = ['elsewhere', 'here'].map(name =>
    readFileSync(join(logs, name), 'utf8')
      .split('\n')
      .map(line => line.replace(/"time":"[^"]*","request_id":"asked","environment_id":"[^"]*"/, '')),
  )
  expect(records!.length).toBeGreaterThan(2 * CHECKS_MAX)
  expect(records).toEqual(right)
})
