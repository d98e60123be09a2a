/** Commits to Redis over a failing connection: each is executed exactly once. */
import { expect, onTestFinished, test } from 'vitest'
import { COMMIT_ROWS_MAX } from '#model/limits.ts'
import { CALL_ROWS_MAX } from '#store/redis/ledger/commit-call.ts'
import { connect } from '#store/redis/link/redis-client.ts'
import { type RedisKeys, redisKeys } from '#store/redis/link/redis-keys.ts'
import { RedisLedger } from '#store/redis/ledger/redis-ledger.ts'
import { type Argument, RedisLink, type RedisReply, type Script } from '#store/redis/link/redis-link.ts'
import { parseRedisUrl } from '#store/redis/link/redis-url.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'
import { KeptLog } from '../../support/kept-log.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import { linkTo, openLink, sharedLink, sharedRedis } from '../../support/processes/redis-server.ts'
import { allRows, bytes, commitId, commitOf, logged, readable } from '../toy-rows.ts'
import { HANG_MS } from '../../support/hang.ts'

const redis = await sharedRedis()
const direct = await sharedLink(redis)

interface Setup {
  readonly keys: RedisKeys
  readonly proxy: CuttingProxy
  /** A ledger over a connection that can be cut. */
  readonly ledger: RedisLedger
  /** The same ledger over a reliable connection. */
  readonly other: RedisLedger
}

async function setup(options: { readonly logEntriesMax?: number } = {}): Promise<Setup> {
  const proxy = await CuttingProxy.to(redis)
  const url = redis.url(proxy)
  const keys = redisKeys(parseRedisUrl(url).prefix, 'commits')
  const link = await openLink(url)
  const logEntriesMax = options.logEntriesMax ?? 1_000
  const ledger = await RedisLedger.open({ link, keys, logEntriesMax, mayBegin: true })
  const other = await RedisLedger.open({ link: direct, keys, logEntriesMax, mayBegin: false })
  onTestFinished(async () => {
    await ledger.close()
    link.close()
  })
  return { keys, proxy, ledger, other }
}

test('a commit is refused if the log of Redis has no commit, or another one, at the position on which it is based', async () => {
  const { ledger } = await setup({ logEntriesMax: 2 })
  const first = { ...commitOf({ put: { alice: 'ar' } }), id: commitId() }
  const { epoch } = await ledger.commit(first)
  const on = (sequence: number, id: Uint8Array) =>
    ledger.commitOn({ epoch, sequence, id }, commitOf({ put: { bob: 'bg' } }))
  const lost = { code: 'STORE_RESET' }
  await expect(on(1, commitId())).rejects.toMatchObject(lost)
  await expect(on(2, first.id)).rejects.toMatchObject(lost)
  expect((await allRows(ledger)).map(({ key }) => key)).toEqual(['alice'])
  expect(await on(1, first.id)).toMatchObject({ sequence: 2 })
  await ledger.commit(commitOf({}))
  // The log begins at 2. Earlier positions are not checked, because their commits are unknown.
  expect(await on(1, commitId())).toMatchObject({ sequence: 4 })
})

test('a commit that never arrived is executed when the connection is restored', async () => {
  const { proxy, ledger, other } = await setup()
  const lost = proxy.failOn('EVALSHA', 'lose-command')
  expect(await ledger.commit(commitOf({ put: { alice: 'ar' } }))).toMatchObject({ sequence: 1 })
  await lost
  proxy.cut()
  const waiting = ledger.commit(commitOf({ put: { bob: 'ar' } }))
  proxy.mend()
  expect(await waiting).toMatchObject({ sequence: 2 })
  expect(await logged(other)).toHaveLength(2)
})

test('a feed repeats a query without a response, even if the connection reports no error', async () => {
  const { proxy, ledger, other } = await setup()
  const feed = ledger.feed(await ledger.head())[Symbol.asyncIterator]()
  const lost = proxy.failOn('XRANGE', 'lose-command')
  const next = feed.next()
  await lost
  const revision = await other.commit(commitOf({ put: { alice: 'ar' } }))
  expect(await next).toMatchObject({ value: { revision } })
})

const absent = (key: string) => ({ key: bytes(key), absent: true }) as const
const many = Object.fromEntries(
  Array.from({ length: CALL_ROWS_MAX + 1 }, (_, index) => [`row-${index}`, 'ar']),
)

test.each([
  // If this commit were executed twice, it would fail the second time, because the row would exist.
  ['a commit', commitOf({ require: [absent('bob')], put: { bob: 'bg' } }), 1],
  ['a large commit', commitOf({ put: many }), CALL_ROWS_MAX + 1],
  ['a refusal', commitOf({ require: [absent('alice')], put: { alice: 'bg' } }), null],
])('%s is executed once if its response is lost', async (_, commit, rows) => {
  const { proxy, ledger, other } = await setup()
  await ledger.commit(commitOf({ put: { alice: 'ar' } }))
  const lost = proxy.failOn('EVALSHA', 'lose-answer')
  const outcome = await ledger.commit(commit).catch((error: unknown) => error)
  await lost
  expect(outcome).toMatchObject(rows === null ? { code: 'REVISION_CONFLICT' } : { sequence: 2 })
  expect(await logged(other)).toHaveLength(rows === null ? 1 : 2)
  expect(await allRows(other)).toHaveLength(1 + (rows ?? 0))
})

test('a commit with few rows and many bytes is sent in several commands and executed as a whole', async () => {
  const { ledger, other } = await setup()
  const put = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`row-${n}`, 'x'.repeat(1_048_576)]))
  expect(await ledger.commit(commitOf({ put }))).toMatchObject({ sequence: 1 })
  expect((await allRows(other)).map(({ value }) => value.length)).toEqual(
    Object.keys(put).map(() => 1_048_576),
  )
})

/** Deletes staged rows before the commits that use them, as if the server had evicted them. */
class ForgetfulLink extends RedisLink {
  readonly waited: number[] = []
  lose: (staged: string) => Promise<RedisReply>
  lost: RedisReply = 0

  constructor(lose: (staged: string) => Promise<RedisReply>) {
    super(connect(parseRedisUrl(redis.url()), 'test'))
    this.lose = lose
    onTestFinished(() => this.close())
  }

  override async run(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
  ): Promise<RedisReply> {
    const [staged] = keys.slice(4)
    if (staged !== undefined) this.lost = await this.lose(staged)
    return super.run(script, keys, args)
  }

  override recovered(withinMs: number, attempt = 0): Promise<void> {
    this.waited.push(attempt)
    return super.recovered(withinMs, attempt)
  }
}

test.each([
  ['all', 'DEL', []],
  ['the last', 'RPOP', [1]],
] as const)('a large commit is staged again if %s staged rows are lost', async (_, command, count) => {
  const { keys, other } = await setup()
  const link = new ForgetfulLink(staged =>
    link.lost === 0 ? direct.send(command, staged, ...count) : Promise.resolve(link.lost),
  )
  await link.recovered(HANG_MS)
  const ledger = await RedisLedger.open({ link, keys, logEntriesMax: 10, mayBegin: false })
  expect(await ledger.commit(commitOf({ put: many }))).toMatchObject({ sequence: 1 })
  expect(link.lost).not.toBe(0)
  expect(await logged(other)).toHaveLength(1)
  expect((await allRows(other)).map(({ key, value }) => [key, value])).toEqual(Object.entries(many))
})

test('a large commit whose staged rows are always lost is retried until its ledger closes, and then refused', async () => {
  const { keys, other } = await setup()
  const link = new ForgetfulLink(staged => direct.send('DEL', staged))
  await link.recovered(HANG_MS)
  const log = new KeptLog()
  const ledger = await RedisLedger.open({ link, keys, logEntriesMax: 10, mayBegin: false, log })
  const refused = ledger.commit(commitOf({ put: many })).catch((error: unknown) => error)
  while (link.waited.at(-1) !== 2) await new Promise(setImmediate)
  await ledger.close()
  expect(await refused).toMatchObject({
    code: 'STORE_REFUSED',
    message: expect.stringMatching(/^nothing was changed: .* staged/),
  })
  expect(link.waited).toEqual([0, 0, 1, 2])
  expect(log.lines.map(({ fields }) => fields['reason'])).toEqual([expect.stringContaining('staged')])
  expect(await logged(other)).toEqual([])
  await ledger.close()
})

test('a commit whose outcome cannot be determined is not repeated, and fails as unknown', async () => {
  const { proxy, ledger, other } = await setup({ logEntriesMax: 3 })
  await ledger.commit(commitOf({ put: { alice: 'ar' } }))
  const sent = ledger.commit(commitOf({ put: { bob: 'ar' } }))
  proxy.cut()
  for (let index = 0; index < 8; index += 1) await other.commit(commitOf({}))
  proxy.mend()
  const outcome = await sent.catch((error: unknown) => error)
  // The connection was cut before or after the commit. In both cases, the log no longer shows which.
  expect(outcome).toMatchObject({ code: 'STORE_UNAVAILABLE' })
  const sequence = (await other.head()).sequence
  expect([9, 10]).toContain(sequence)
})

test('a commit that might be executed is not reported as refused, even if Redis returns an error', async () => {
  const { keys, proxy, ledger } = await setup()
  const lost = proxy.failOn('EVALSHA', 'lose-answer')
  const sent = ledger.commit(commitOf({ put: { alice: 'ar' } }))
  sent.catch(() => undefined)
  await lost
  proxy.cut()
  await direct.send('SET', keys.meta, 'no hash any more')
  proxy.mend()
  await expect(sent).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringMatching(/^it is not known whether this commit was made: .*WRONGTYPE/),
  })
})

test('a commit that no server accepted is reported as refused with the reason after the last attempt', async () => {
  const own = await startRedis()
  onTestFinished(() => own.stop())
  const link = await linkTo(own)
  const log = new KeptLog()
  const options = { link, keys: redisKeys('refused', 'commits'), logEntriesMax: 10, mayBegin: true, log }
  const ledger = await RedisLedger.open(options)
  await link.send('CONFIG', 'SET', 'min-replicas-to-write', '1')
  const refused = ledger.commit(commitOf({ put: { alice: 'ar' } }))
  refused.catch(() => undefined)
  await log.has(({ message }) => /does not accept commits/.test(message))
  await ledger.close()
  await expect(refused).rejects.toMatchObject({
    code: 'STORE_REFUSED',
    message: expect.stringMatching(/^the change was not made: Redis has too few replicas /),
  })
})

test('a server that has lost its scripts receives them again', async () => {
  const { ledger } = await setup()
  await direct.send('SCRIPT', 'FLUSH')
  expect(await ledger.commit(commitOf({ put: { alice: 'ar' } }))).toMatchObject({ sequence: 1 })
})

test('nodes that open an empty ledger concurrently agree on one epoch', async () => {
  const keys = redisKeys(parseRedisUrl(redis.url()).prefix, 'race')
  const options = { link: direct, keys, logEntriesMax: 10, mayBegin: true }
  const ledgers = await Promise.all(Array.from({ length: 50 }, () => RedisLedger.open(options)))
  expect(new Set(ledgers.map(({ epoch }) => epoch)).size).toBe(1)
})

test('only a ledger with `mayBegin` begins an epoch', async () => {
  const keys = redisKeys(parseRedisUrl(redis.url()).prefix, 'absent')
  const opening = RedisLedger.open({ link: direct, keys, logEntriesMax: 10, mayBegin: false })
  await expect(opening).rejects.toMatchObject({ code: 'STORE_RESET' })
  expect(await direct.send('EXISTS', keys.meta)).toBe(0)
})

test('data in the format of another release is refused and left unchanged', async () => {
  const { keys, other } = await setup()
  await direct.send('HSET', keys.meta, 'format', '2')
  const opening = RedisLedger.open({ link: direct, keys, logEntriesMax: 10, mayBegin: true })
  await expect(opening).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: 'the store has format 2, but this release reads format 1: start the release that wrote it',
  })
  await direct.send('HSET', keys.meta, 'format', '1')
  expect(await other.head()).toMatchObject({ epoch: other.epoch, sequence: 0 })
})

test('a commit for an earlier epoch writes nothing', async () => {
  const { keys, ledger } = await setup()
  await ledger.commit(commitOf({ put: { alice: 'ar' } }))
  await direct.send('DEL', ...Object.values(keys).filter(key => typeof key === 'string'))
  await expect(ledger.commit(commitOf({ put: { bob: 'ar' } }))).rejects.toMatchObject({ code: 'STORE_RESET' })
  const fresh = await RedisLedger.open({ link: direct, keys, logEntriesMax: 10, mayBegin: true })
  await expect(ledger.commit(commitOf({ put: { bob: 'ar' } }))).rejects.toMatchObject({ code: 'STORE_RESET' })
  expect(await allRows(fresh)).toEqual([])
})

test('a large commit is one entry of the log, and leaves no staged rows', async () => {
  const { keys, ledger, other } = await setup()
  const names = Array.from({ length: 3 * CALL_ROWS_MAX }, (_, index) => `row-${index}`)
  await ledger.commit(commitOf({ put: Object.fromEntries(names.slice(0, 900).map(name => [name, 'ar'])) }))
  const commit = commitOf({
    id: commitId(),
    require: names.slice(0, 700).map(name => ({ key: bytes(name), version: 1 })),
    delete: names.slice(0, 800),
    put: Object.fromEntries(names.slice(600).map(name => [name, 'bg'])),
    changes: [{ kind: 'user-put', user: 'alice', attributes: null }],
  })
  await ledger.commit(commit)
  const [, entry] = await logged(other)
  expect(entry!.delete).toHaveLength(800)
  expect(entry!.changes).toEqual(commit.changes)
  expect(entry!.put.map(readable)).toEqual(
    names.slice(600).map((key, position) => ({
      key,
      value: 'bg',
      version: 2,
      created:
        position < 200 || position >= 300
          ? 2 * (COMMIT_ROWS_MAX + 1) + position
          : COMMIT_ROWS_MAX + 1 + 600 + position,
    })),
  )
  const rows = await allRows(other)
  expect(rows).toEqual(entry!.put.map(readable).toSorted((one, two) => one.created - two.created))
  expect(await direct.send('KEYS', `${keys.staged('*')}`)).toEqual([])
})

test('a refused large commit writes nothing', async () => {
  const { ledger, other } = await setup()
  const put = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`row-${index}`, 'ar']))
  const require = [{ key: bytes('nobody'), version: 1 }]
  await expect(ledger.commit(commitOf({ require, put }))).rejects.toMatchObject({ code: 'REVISION_CONFLICT' })
  expect(await allRows(other)).toEqual([])
  expect(await other.head()).toMatchObject({ sequence: 0 })
})
