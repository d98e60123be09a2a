/**
 * What nodes do when Redis refuses them something in the midst of their work: a right, a key of another kind, memory, a
 * command. Each commit is made for everybody or for nobody, and its sender knows which; nobody loads everything again for it, and all
 * goes on by itself when the reason is gone.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { Commit } from '#store/ledger.ts'
import { openStore } from '#store/open-store.ts'
import { CALL_ROWS_MAX } from '#store/redis/commit-call.ts'
import { connect } from '#store/redis/redis-client.ts'
import { redisKeys } from '#store/redis/redis-keys.ts'
import { RedisLedger } from '#store/redis/redis-ledger.ts'
import { type Argument, RedisLink, type Reply, type Script } from '#store/redis/redis-link.ts'
import { parseRedisUrl } from '#store/redis/redis-url.ts'
import type { EnvironmentStore, Store } from '#store/store.ts'
import { KeptLog } from '../support/kept-log.ts'
import { type RedisUnderTest, startRedis } from '#testing/processes/redis-process.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { allRows, commitOf, logged, scannedKeys, everyone, shown, text, toyRule } from './toy-rows.ts'

const ENVIRONMENT = 'faults'
const LOG_ENTRIES_MAX = 3
/** Every right that the scripts need, and those of a node besides. */
const RIGHTS =
  'eval evalsha hget hmget hset hdel hlen hscan xadd xrange xtrim zadd zscore zremrangebyscore rpush lrange expire del publish'.split(
    ' ',
  )

const redis = await startRedis()
const admin = await linkTo(redis)
afterAll(async () => {
  admin.close()
  await redis.stop()
})

async function linkTo(server: RedisUnderTest): Promise<RedisLink> {
  const link = new RedisLink(connect(parseRedisUrl(server.url()), 'admin'))
  await link.recovered(10_000)
  return link
}

interface Node extends EnvironmentStore {
  readonly store: Store
  readonly log: KeptLog
}

async function startNode(url: string): Promise<Node> {
  const log = new KeptLog()
  const settings = { dataDirectory: storeDirectory(), staleAfterMs: 200, logEntriesMax: LOG_ENTRIES_MAX, log }
  const store = await openStore(url, toyRule, settings)
  onTestFinished(() => store.close())
  try {
    return { store, log, ...(await store.environment(ENVIRONMENT)) }
  } catch (error) {
    await store.close()
    throw error
  }
}

const rowsOf = (name: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_unused, index) => [`${name}-${index}`, 'ar']))

/** Two nodes and what they have acknowledged. */
class Cluster {
  readonly nodes: readonly Node[]
  readonly url: string
  readonly #rows = new Set<string>()
  #round = 0

  static async start(url: string): Promise<Cluster> {
    const cluster = new Cluster(url, [await startNode(url), await startNode(url)])
    // More than the log keeps: each commit trims it.
    for (let index = 0; index < LOG_ENTRIES_MAX + 2; index += 1)
      expect(await cluster.writes()).toContain(true)
    return cluster
  }

  private constructor(url: string, nodes: readonly Node[]) {
    this.url = url
    this.nodes = nodes
  }

  /** A small commit on one node and a large one on the other: which were made. */
  async writes(): Promise<boolean[]> {
    this.#round += 1
    const [one, other] = this.nodes as [Node, Node]
    const last = [...this.#rows].slice(0, 2)
    const small = commitOf({ delete: last, put: { alice: 'ag', [`bob-${this.#round}`]: 'br' } })
    const large = commitOf({ put: rowsOf(`row-${this.#round}`, CALL_ROWS_MAX + 1) })
    return [await this.#isMade(one, small), await this.#isMade(other, large)]
  }

  /** Nothing may be left that its sender does not know. */
  async #isMade({ ledger }: Node, commit: Commit): Promise<boolean> {
    try {
      await ledger.commit(commit)
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/^STORE_(REFUSED|DAMAGED)$/) })
      return false
    }
    for (const key of commit.delete) this.#rows.delete(text(key))
    for (const { key } of commit.put) this.#rows.add(text(key))
    return true
  }

  /** All nodes, and one that is started now, have what was acknowledged, and nothing else; nobody has loaded anything again. */
  async expectSame(): Promise<void> {
    expect(await this.writes()).toEqual([true, true])
    const fresh = await startNode(this.url)
    const { sequence } = await fresh.ledger.head()
    for (const { ledger, view, log } of this.nodes) {
      const { epoch } = await ledger.head()
      for await (const { revision } of ledger.feed({ epoch, sequence: sequence - 1 }))
        if (revision.sequence >= sequence) break
      expect(shown(view)).toEqual(shown(fresh.view))
      expect(log.lines.filter(({ message }) => message.includes('loading another'))).toEqual([])
      // Said when it begins, when its reason changes, and when it is over; not at each attempt.
      expect(log.lines.length).toBeLessThan(16)
    }
    expect(new Set(scannedKeys(fresh.view, everyone))).toEqual(this.#rows)
  }
}

/** A user who may do everything. */
async function newUser(): Promise<{ readonly name: string; readonly url: string }> {
  const name = `user-${randomUUID()}`
  await admin.send('ACL', 'SETUSER', name, 'on', 'nopass', '~*', '&*', '+@all')
  return { name, url: redis.url().replace('//', `//${name}:any@`) }
}

test.each(RIGHTS)(
  'while nodes lack the right to %s, commits are made or refused, and all goes on when it is back',
  async command => {
    const { name, url } = await newUser()
    const cluster = await Cluster.start(url)
    await admin.send('ACL', 'SETUSER', name, `-${command}`)
    await cluster.writes()
    await admin.send('ACL', 'SETUSER', name, `+${command}`)
    await cluster.expectSame()
  },
)

test.each(RIGHTS)('a first start without the right to %s keeps no later one from anything', async command => {
  const { name, url } = await newUser()
  await admin.send('ACL', 'SETUSER', name, `-${command}`)
  const first = await startNode(url).catch((error: unknown) => error)
  const commits = [commitOf({ put: { alice: 'ar' } }), commitOf({ put: rowsOf('row', CALL_ROWS_MAX + 1) })]
  const made: string[] = []
  for (const commit of commits) {
    if (first instanceof Error) break
    const isMade = await (first as Node).ledger.commit(commit).then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ code: 'STORE_REFUSED' })
        return false
      },
    )
    if (isMade) made.push(...commit.put.map(({ key }) => text(key)))
  }
  if (first instanceof Error) expect(first).toMatchObject({ code: 'STORE_REFUSED' })
  await admin.send('ACL', 'SETUSER', name, `+${command}`)
  const next = await startNode(url)
  expect(scannedKeys(next.view, everyone)).toEqual(made)
  await next.ledger.commit(commitOf({ put: { bob: 'bg' } }))
  expect(scannedKeys((await startNode(url)).view, everyone)).toEqual([...made, 'bob'])
})

test.each(['meta', 'rows', 'log', 'ids'] as const)(
  'while the key %s is of another kind no commit is made, and all goes on when it is as it was',
  async name => {
    const { url } = await newUser()
    const cluster = await Cluster.start(url)
    const key = redisKeys(parseRedisUrl(url).prefix, ENVIRONMENT)[name]
    await admin.send(
      'EVAL',
      `redis.call('RENAME', KEYS[1], KEYS[2]) redis.call('SET', KEYS[1], 'x')`,
      2,
      key,
      'aside',
    )
    expect(await cluster.writes()).toEqual([false, false])
    await admin.send('RENAME', 'aside', key)
    await cluster.expectSame()
  },
)

test('while the log has a place that is not to come yet no commit is made, and all goes on when it is gone', async () => {
  const { url } = await newUser()
  const cluster = await Cluster.start(url)
  const { log, meta } = redisKeys(parseRedisUrl(url).prefix, ENVIRONMENT)
  const sequence = Number(await admin.send('HGET', meta, 'sequence'))
  await admin.send('XSETID', log, '1000-0')
  expect(await cluster.writes()).toEqual([false, false])
  await admin.send('XSETID', log, `${sequence}-9`)
  await cluster.expectSame()
})

test('a Redis that is full takes no commit, says so for certain, and goes on when there is room', async () => {
  const own = await startRedis()
  onTestFinished(() => own.stop())
  const orders = await linkTo(own)
  onTestFinished(() => orders.close())
  const cluster = await Cluster.start(own.url())
  await orders.send('CONFIG', 'SET', 'maxmemory', '1')
  expect(await cluster.writes()).toEqual([false, false])
  const refused = cluster.nodes[0]!.ledger.commit(commitOf({ put: { carol: 'ar' } }))
  await expect(refused).rejects.toMatchObject({
    code: 'STORE_REFUSED',
    message: expect.stringMatching(/^the change was not made: Redis has no memory left /),
    // For the log.
    cause: { message: expect.stringMatching(/^OOM /) },
  })
  await orders.send('CONFIG', 'SET', 'maxmemory', '0')
  await cluster.expectSame()
})

test.each(['HSET', 'XADD', 'ZADD'])(
  'a Redis that knows no %s takes no commit that needs it, and has nothing of it afterwards',
  async command => {
    let url = new URL('redis://127.0.0.1')
    /** Started on the data of the last one. */
    const server = async (directory: string | null, ...settings: readonly string[]) => {
      const started = await startRedis({
        arguments: [...(directory ? ['--dir', directory] : []), ...settings],
      })
      onTestFinished(() => started.stop())
      if (directory === null) url = new URL(started.url())
      url.port = String(started.port)
      const orders = await linkTo(started)
      onTestFinished(() => orders.close())
      const stop = async () => {
        await orders.send('SAVE')
        await started.kill()
      }
      return { directory: directory ?? started.directory, stop }
    }
    const { directory, stop } = await server(null)
    const before = await Cluster.start(url.href)
    await Promise.all(before.nodes.map(({ store }) => store.close()))
    await stop()
    const unknowing = await server(directory, '--rename-command', command, '')
    const node = await startNode(url.href)
    const rows = shown(node.view)
    const large = commitOf({ delete: ['alice'], put: rowsOf('more', CALL_ROWS_MAX + 1) })
    await expect(node.ledger.commit(large)).rejects.toMatchObject({ code: 'STORE_REFUSED' })
    await node.store.close()
    await unknowing.stop()
    await server(directory)
    const next = await startNode(url.href)
    expect(shown(next.view)).toEqual(rows)
    await next.ledger.commit(large)
    expect(shown((await startNode(url.href)).view)).toEqual(shown(next.view))
  },
)

test('a script that is killed before it has written leaves nothing, and its sender knows', async () => {
  /** Hangs in front of the first write of the next script. */
  class HangingLink extends RedisLink {
    override async run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Reply> {
      const hanging = `
        local real = redis
        local redis = setmetatable({
          call = function(command, ...)
            while command == 'XADD' do end
            return real.call(command, ...)
          end,
        }, { __index = real })
        ${script.text}`
      return this.send('EVAL', hanging, keys.length, ...keys, ...args)
    }
  }
  const own = await startRedis({ arguments: ['--busy-reply-threshold', '1'] })
  onTestFinished(() => own.stop())
  const [orders, link] = [await linkTo(own), new HangingLink(connect(parseRedisUrl(own.url()), 'test'))]
  onTestFinished(() => [orders, link].forEach(each => each.close()))
  await link.recovered(10_000)
  const options = { keys: redisKeys('killed', ENVIRONMENT), logEntriesMax: 10, mayBegin: true }
  const other = await RedisLedger.open({ ...options, link: orders })
  const hanging = await RedisLedger.open({ ...options, link })
  const over = { isOver: false }
  const commit = hanging.commit(commitOf({ put: { alice: 'ar' } })).finally(() => (over.isOver = true))
  commit.catch(() => undefined)
  while (!over.isOver) await orders.send('SCRIPT', 'KILL').catch(() => undefined)
  await expect(commit).rejects.toMatchObject({
    code: 'STORE_REFUSED',
    message: expect.stringMatching(/kill/i),
  })
  await other.commit(commitOf({ put: { bob: 'bg' } }))
  expect((await allRows(other)).map(({ key }) => key)).toEqual(['bob'])
  expect(await logged(other)).toHaveLength(1)
})
