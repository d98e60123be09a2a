/** An environment that follows its ledger in Redis: interruptions, trimmed logs and new epochs. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Revision } from '#model/revision.ts'
import type { Ledger } from '#store/ledger.ts'
import { buildKeysAndLists } from '#store/bulk-load/list-build.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { type OpenStoreOptions } from '#store/open/open-store.ts'
import { redisKeys } from '#store/redis/link/redis-keys.ts'
import { parseRedisUrl } from '#store/redis/link/redis-url.ts'
import type { Store } from '#store/store.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { WriteThread } from '#store/large-writes/write-thread.ts'
import { pause } from '#testing/processes/pause.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'
import { HANG_MS } from '../../support/hang.ts'
import { linkTo, sharedLink, sharedRedis } from '../../support/processes/redis-server.ts'
import { ENVIRONMENT, follows, keysAt, startStoreNode, type StoreNode } from './redis-nodes.ts'
import { bytes, commitOf, everyone, shown, toyRule } from '../toy-rows.ts'

const redis = await sharedRedis()
const direct = await sharedLink(redis)

const startNode = (url: string, options: OpenStoreOptions = {}): Promise<StoreNode> =>
  startStoreNode(url, { isKeyedLater: () => true, ...options })

/** Returns the store URL with the address of a proxy that can cut the connection. */
function overWire(url: string, { host, port }: CuttingProxy): string {
  const wired = new URL(url)
  wired.host = `${host}:${port}`
  return wired.href
}

const putOf = (names: readonly string[], value: string) =>
  Object.fromEntries(names.map(name => [name, value]))
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `row-${index}`)
const copiesIn = (directory: string) => readdirSync(directory).filter(name => name.includes('.copy-'))

/** Builds the keys and lists of a replica, which services do in another thread. */
async function buildLists(directory: string): Promise<void> {
  const tables = new LmdbTables(directory)
  await buildKeysAndLists(tables, new TableView(tables, toyRule), toyRule, new AbortController().signal)
  await tables.close()
}

/** Resolves when the feeds of the current replica have ended because another replica has replaced it. */
async function replaced(ledger: Ledger, after: Revision): Promise<void> {
  const reading = (async () => {
    for await (const entry of ledger.feed(after)) void entry
  })()
  await expect(reading).rejects.toMatchObject({ code: 'STORE_RESET' })
}

/** Resolves when the store had caught up at a time that is at most `withinMs` ago. */
async function isFresh(store: Store, withinMs: number): Promise<void> {
  while (store.stalenessMs() > withinMs) await pause()
}

test('a node that requests it catches up with all earlier commits of other nodes, even without notifications', async () => {
  const url = redis.url()
  const [one, other] = [await startNode(url), await startNode(url)]
  for (let round = 0; round < 20; round += 1) {
    await direct.send('CLIENT', 'KILL', 'TYPE', 'pubsub')
    const { sequence } = await one.ledger.commit(commitOf({ put: { alice: 'ar' } }))
    await other.environment.caughtUp()
    expect(other.view.sequence()).toBeGreaterThanOrEqual(sequence)
  }
})

test.each([
  ['which runs', false],
  ['which exits', true],
])('a replica applies entries in order if a thread, %s, writes large entries', async (_, isLost) => {
  const url = redis.url()
  const ending =
    "import { parentPort } from 'node:worker_threads'; parentPort.once('message', () => process.exit())"
  const entry = isLost
    ? new URL(`data:text/javascript,${encodeURIComponent(ending)}`)
    : new URL('../toy-large-writes.ts', import.meta.url)
  const largeWrites = new WriteThread(entry, 50)
  onTestFinished(() => largeWrites.close())
  const [one, other] = [await startNode(url), await startNode(url, { largeWrites })]
  const start = await other.ledger.head()
  const commits = Array.from({ length: 60 }, (_each, n) => {
    const count = n % 3 === 0 ? 60 : 1
    const value = n % 2 === 0 ? 'ar' : 'bg'
    return commitOf({ put: putOf(numbered(count), value) })
  })
  const heard: number[] = []
  const following = (async () => {
    for await (const { revision, put } of other.ledger.feed(start)) {
      heard.push(put.length)
      if (revision.sequence === start.sequence + commits.length) return
    }
  })()
  for (const commit of commits) await one.ledger.commit(commit)
  await following
  expect(heard).toEqual(commits.map(({ put }) => put.length))
  expect(shown(other.view)).toEqual(shown(one.view))
})

test('a commit reports how long the thread was blocked while the replica applied the commit', async () => {
  const { ledger } = await startNode(redis.url())
  const told: number[] = []
  await ledger.commit(commitOf({ put: putOf(numbered(200), 'ar') }), ms => void told.push(ms))
  expect(told).toEqual([expect.any(Number)])
  expect(told[0]).toBeGreaterThan(0)
})

test('a node catches up after a lost notification', async () => {
  const url = redis.url()
  const [one, other] = [await startNode(url), await startNode(url)]
  const start = await other.ledger.head()
  await direct.send('CLIENT', 'KILL', 'TYPE', 'pubsub')
  const revision = await one.ledger.commit(commitOf({ put: { alice: 'ar' } }))
  await follows(other.ledger, start, revision)
  // Only one notification is lost: the node receives the next one.
  await follows(other.ledger, revision, await one.ledger.commit(commitOf({ put: { bob: 'ar' } })))
  expect(shown(other.view)).toEqual(shown(one.view))
})

test('a node whose log position was trimmed loads again, and shows only consistent states', async () => {
  const proxy = await CuttingProxy.to(redis)
  const url = redis.url()
  const options = { logEntriesMax: 5 }
  const [one, other] = [await startNode(url, options), await startNode(overWire(url, proxy), options)]
  // Both rows always have the same color.
  const paint = (color: string) => one.ledger.commit(commitOf({ put: { alice: color, bob: color } }))
  const start = await paint('ar')
  await follows(other.ledger, { ...start, sequence: start.sequence - 1 }, start)
  proxy.cut()
  for (let index = 0; index < 12; index += 1) await paint(index % 2 === 0 ? 'bg' : 'ag')
  const ended = replaced(other.ledger, start)
  proxy.mend()
  const load = { isOver: false }
  void ended.then(() => (load.isOver = true))
  while (!load.isOver) {
    const [alice, bob] = ['alice', 'bob'].map(key => String(other.view.get(bytes(key))?.value))
    expect(alice).toBe(bob)
    await new Promise(resolve => setImmediate(resolve))
  }
  expect(shown(other.view)).toEqual(shown(one.view))
  await other.store.close()
  expect(copiesIn(other.directory)).toHaveLength(1)
})

test('a log that was rewound and continued is detected by its commit ids', async () => {
  const url = redis.url()
  const keys = keysAt(url)
  const all = [keys.meta, keys.rows, keys.log, keys.ids]
  const other = await startNode(url)
  await other.ledger.commit(commitOf({ put: { alice: 'ar' } }))
  for (const key of all) await direct.send('COPY', key, `${key}:then`)
  const lost = await other.ledger.commit(commitOf({ put: { bob: 'ar' } }))
  // In one step, Redis returns to the earlier state and continues to the same sequence with another commit.
  const restore = all.map(key => `redis.call('COPY', '${key}:then', '${key}', 'REPLACE')`).join('\n')
  const write = `
    local stored = struct.pack('>I7B', 2 * 65536, 0) .. 'bg'
    redis.call('HSET', '${keys.rows}', 'carol', stored)
    redis.call('XADD', '${keys.log}', '2-0', 'i', '0123456789abcdef', 'l', '0', 'c', '[]', 'p', 'carol', 'v', stored)
    redis.call('HSET', '${keys.meta}', 'sequence', '2', 'id', '0123456789abcdef')`
  const ended = replaced(other.ledger, lost)
  await direct.send('EVAL', restore + write, 0)
  await ended
  expect([...other.view.scan(everyone)].map(({ key }) => Buffer.from(key).toString())).toEqual([
    'alice',
    'carol',
  ])
})

test('a node keeps its data if Redis is emptied, and loads a new epoch that another node begins', async () => {
  const url = redis.url()
  const keys = keysAt(url)
  const node = await startNode(url)
  await node.ledger.commit(commitOf({ put: { alice: 'ar' } }))
  const head = await node.ledger.head()
  const ended = replaced(node.ledger, head)
  await direct.send('DEL', keys.meta, keys.rows, keys.log, keys.ids)
  while (node.store.stalenessMs() < 300) await pause()
  expect(node.view.count(everyone)).toBe(1)
  await expect(node.ledger.commit(commitOf({}))).rejects.toMatchObject({ code: 'STORE_RESET' })

  const beginner = await startNode(url)
  await beginner.ledger.commit(commitOf({ put: { bob: 'bg' } }))
  await ended
  const fresh = await beginner.ledger.head()
  await follows(node.ledger, { ...fresh, sequence: 0 }, fresh).catch(() => undefined)
  // The node is not stale, so that it can still decide with the earlier state.
  const stalenessMs = node.store.stalenessMs()
  const grownMs = () => node.store.stalenessMs() - stalenessMs
  while (grownMs() >= 0 && grownMs() < 100) await pause()
  expect(grownMs()).toBeGreaterThan(0)
  node.environment.takeOver(node.environment.snapshotPlace())
  await isFresh(node.store, 200)
  expect(shown(node.view)).toEqual(shown(beginner.view))
  expect((await node.ledger.head()).epoch).not.toBe(head.epoch)
})

test('a node that restarts resumes from its replica without loading rows, and discards a replica of another epoch', async () => {
  const url = redis.url()
  const directory = storeDirectory()
  const node = await startNode(url, { dataDirectory: directory })
  await node.ledger.commit(commitOf({ put: { alice: 'ar' } }))
  await node.store.close()
  // The user has no permission to load rows, so the node must resume from the log.
  const user = `user-${randomUUID()}`
  await direct.send('ACL', 'SETUSER', user, 'on', 'nopass', '~*', '&*', '+@all', '-hscan')
  onTestFinished(async () => void (await direct.send('ACL', 'DELUSER', user)))
  const again = await startNode(url.replace('//', `//${user}:any@`), { dataDirectory: directory })
  expect(again.view.count(everyone)).toBe(1)
  await again.store.close()

  const elsewhere = await startNode(redis.url(), { dataDirectory: directory })
  expect(elsewhere.view.count(everyone)).toBe(0)
  expect(copiesIn(directory)).toHaveLength(1)
})

test('a local replica in another format is discarded, and everything is loaded again', async () => {
  const url = redis.url()
  const directory = storeDirectory()
  const node = await startNode(url, { dataDirectory: directory })
  await node.ledger.commit(commitOf({ put: { alice: 'ar' } }))
  await node.store.close()
  const tables = new LmdbTables(join(directory, copiesIn(directory)[0]!))
  await tables.write(() => tables.table('meta').put(bytes('format'), bytes('of another release')))
  await tables.close()
  const again = await startNode(url, { dataDirectory: directory })
  expect(again.view.count(everyone)).toBe(1)
  expect(copiesIn(directory)).toEqual([`${ENVIRONMENT}.copy-2`])
})

describe('the local replica of a stopped node', () => {
  async function stoppedNode() {
    const [url, directory] = [redis.url(), storeDirectory()]
    const node = await startNode(url, { dataDirectory: directory })
    await node.ledger.commit(commitOf({ put: { alice: 'ar' } }))
    await node.store.close()
    return { url, directory }
  }

  test('is kept even if Redis interrupts the start several times', async () => {
    const { url, directory } = await stoppedNode()
    const proxy = await CuttingProxy.to(redis)
    const interruptions = (async () => {
      for (let times = 0; times < 5; times += 1) await proxy.failOn('PUBLISH', 'lose-command')
    })()
    const again = await startNode(overWire(url, proxy), { dataDirectory: directory })
    await interruptions
    expect(again.view.count(everyone)).toBe(1)
    expect(copiesIn(directory)).toEqual([`${ENVIRONMENT}.copy-1`])
  })

  test('is used even if the mark of an unfinished start cannot be written', async () => {
    const { url, directory } = await stoppedNode()
    mkdirSync(join(directory, copiesIn(directory)[0]!, 'unfinished-starts'))
    const again = await startNode(url, { dataDirectory: directory })
    again.environment.takeOver(again.environment.snapshotPlace())
    await again.store.close()
    expect(copiesIn(directory)).toEqual([`${ENVIRONMENT}.copy-1`])
  })
})

test('rows that change during the first load have their latest state afterwards', async () => {
  const url = redis.url()
  const one = await startNode(url)
  const names = numbered(4_000)
  for (let at = 0; at < names.length; at += 500) {
    await one.ledger.commit(commitOf({ put: putOf(names.slice(at, at + 500), 'ar') }))
  }
  const load = { isOver: false }
  const loading = startNode(url).finally(() => (load.isOver = true))
  for (let index = 0; !load.isOver || index < 100; index += 1) {
    const name = names[(index * 37) % names.length]!
    await one.ledger.commit(
      commitOf({ delete: index % 3 === 0 ? [name] : [], put: index % 3 === 1 ? { [name]: 'bg' } : {} }),
    )
  }
  const late = await loading
  const head = await one.ledger.head()
  const own = await late.ledger.head()
  if (own.sequence < head.sequence) await follows(late.ledger, own, head)
  expect(shown(late.view)).toEqual(shown(one.view))
})

test('a large environment can be followed before its lists are built, and the lists are then correct', async () => {
  const url = redis.url()
  const one = await startNode(url)
  const names = numbered(300)
  const values = ['ar', 'bg', 'ag', '']
  names.push('early-2', 'early-1')
  await one.ledger.commit(
    commitOf({ put: Object.fromEntries(names.map((name, index) => [name, values[index % 4]!])) }),
  )
  const build = Promise.withResolvers<void>()
  const late = await startNode(url, {
    listedAtOnceMax: 100,
    isKeyedLater: key => key[0] === bytes('r')[0],
    buildLists: async directory => {
      await build.promise
      await buildLists(directory)
    },
  })
  expect(() => late.view.count(everyone)).toThrow(expect.objectContaining({ code: 'NOT_READY' }))
  expect(() => late.view.get(bytes('row-0'))).toThrow(expect.objectContaining({ code: 'NOT_READY' }))
  // Closing the store waits for the build.
  onTestFinished(() => build.resolve())
  const keysOf = (prefix: string) =>
    Array.from(late.view.beginningWith(bytes(prefix)), ({ key }) => Buffer.from(key).toString())
  // Only the keys that are built with the lists are missing.
  expect(() => keysOf('row-1')).toThrow(expect.objectContaining({ code: 'NOT_READY' }))
  expect(keysOf('early-')).toEqual(['early-1', 'early-2'])
  expect([...late.view.batches()].flat()).toHaveLength(names.length)
  const start = await late.ledger.head()
  await one.ledger.commit(commitOf({ delete: ['row-0', 'row-5'], put: { 'row-1': 'ar', fresh: 'bg' } }))
  const head = await one.ledger.commit(commitOf({ put: { 'row-0': 'bg', fresh: 'ar' } }))
  await follows(late.ledger, start, head)
  build.resolve()
  await late.environment.whenListed()
  expect(shown(late.view)).toEqual(shown(one.view))
  expect(keysOf('row-29')).toEqual(names.filter(name => name.startsWith('row-29')).toSorted())
  await follows(late.ledger, head, await one.ledger.commit(commitOf({ put: { last: 'ar' } })))
  expect(shown(late.view)).toEqual(shown(one.view))
})

test('a replica whose lists were not built before the shutdown resumes without losing entries of the trimmed log', async () => {
  const url = redis.url()
  const one = await startNode(url)
  const names = numbered(200)
  await one.ledger.commit(commitOf({ put: putOf(names, 'ar') }))
  const options = { dataDirectory: storeDirectory(), listedAtOnceMax: 100, logEntriesMax: 5 }
  const unfinished = await startNode(url, {
    ...options,
    // This build ends when it is aborted, and its result remains.
    buildLists: async (directory, signal) => {
      await buildLists(directory)
      // The signal can be aborted already.
      signal.throwIfAborted()
      await new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      )
    },
  })
  const start = await unfinished.ledger.head()
  for (let index = 0; index < 12; index += 1) {
    await one.ledger.commit(commitOf({ put: { [`row-${index}`]: 'bg', [`more-${index}`]: 'ag' } }))
  }
  const head = await one.ledger.head()
  await follows(unfinished.ledger, start, head)
  await unfinished.store.close()
  const again = await startNode(url, options)
  expect(await again.ledger.head()).toEqual(head)
  expect(copiesIn(again.directory)).toEqual([`${ENVIRONMENT}.copy-1`])
  await again.environment.whenListed()
  expect(shown(again.view)).toEqual(shown(one.view))
})

test('a dropped environment is deleted locally and in Redis, and its id then begins a new epoch', async () => {
  const url = redis.url()
  const { prefix } = parseRedisUrl(url)
  const node = await startNode(url)
  await node.ledger.commit(commitOf({ put: { alice: 'ar' } }))
  const { epoch } = await node.ledger.head()
  await node.store.drop(ENVIRONMENT)
  await node.store.drop(ENVIRONMENT)
  await expect(node.ledger.commit(commitOf({}))).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  const { removed } = redisKeys(prefix, ENVIRONMENT)
  // In Redis, only a temporary record of the removal remains.
  expect(String(await direct.send('KEYS', `${prefix}:*`))).toBe(removed)
  expect(await direct.send('TTL', removed)).toBeGreaterThan(80_000)
  expect(copiesIn(node.directory)).toEqual([])
  const again = await node.store.environment(ENVIRONMENT)
  expect(again.view.count(everyone)).toBe(0)
  expect((await again.ledger.head()).epoch).not.toBe(epoch)
  expect(await direct.send('EXISTS', removed)).toBe(0)
})

test.each([
  ['removed by another node', false, (other: StoreNode) => other.store.drop(ENVIRONMENT)],
  [
    'lost',
    true,
    async (_other: StoreNode, url: string) => {
      const { meta, rows, log, ids } = keysAt(url)
      await direct.send('DEL', meta, rows, log, ids)
    },
  ],
] as const)('if an environment was %s, the store counts as emptied: %s', async (_, isLost, lose) => {
  const url = redis.url()
  const [node, other] = [await startNode(url), await startNode(url)]
  await other.ledger.commit(commitOf({ put: { alice: 'ar' } }))
  await lose(other, url)
  // In this time, the node makes several attempts to load the environment.
  while (node.store.stalenessMs() < 2_000) await pause()
  expect(node.store.isEmptied()).toBe(isLost)
  expect(node.view.count(everyone)).toBe(1)
})

test('a commit that Redis accepted but does not show fails after a time limit, and does not block a close', async () => {
  const own = await startRedis()
  onTestFinished(() => own.stop())
  const proxy = await CuttingProxy.to(own)
  const node = await startNode(own.url(proxy))
  await node.ledger.commit(commitOf({ put: { alice: 'ar' } }))
  const admin = await linkTo(own)
  const taken = proxy.failOn('bob', 'lose-answer')
  const committed = node.ledger.commit(commitOf({ put: { bob: 'bg' } }))
  await taken
  proxy.cut()
  // The user may no longer read the log and the rows.
  await admin.send('ACL', 'SETUSER', 'default', '-xrange', '-hscan')
  proxy.mend()
  await expect(committed).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  await node.store.close()
})

test('many concurrent waits for a connection cause no Node.js warning about too many listeners', async () => {
  const warnings: Error[] = []
  const hear = (warning: Error) => warnings.push(warning)
  process.on('warning', hear)
  onTestFinished(() => void process.off('warning', hear))
  await Promise.all(Array.from({ length: 50 }, () => direct.recovered(HANG_MS)))
  expect(warnings).toEqual([])
})

test('a replica whose tables cannot be opened leaves no directory behind', async () => {
  const dataDirectory = storeDirectory()
  const failing = vi.spyOn(LmdbTables.prototype, 'table').mockImplementation(() => {
    throw new Error('on purpose')
  })
  const opening = startNode(redis.url(), { dataDirectory })
  await expect(opening)
    .rejects.toThrow('on purpose')
    .finally(() => failing.mockRestore())
  expect(readdirSync(dataDirectory).filter(name => name.startsWith(ENVIRONMENT))).toEqual([])
})
