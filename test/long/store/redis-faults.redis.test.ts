/**
 * Redis rejects commands of running nodes: missing permissions, a key of another type, or a lack of memory.
 * Each commit takes effect on all nodes or on none, and its client knows which. All nodes recover without a
 * reload.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import type { Commit } from '#store/ledger.ts'
import { CALL_ROWS_MAX } from '#store/redis/ledger/commit-call.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import { linkTo, sharedLink, startedRedis } from '../../support/processes/redis-server.ts'
import { expectSame, keysAt, startStoreNode, type StoreNode } from '../../store/redis/redis-nodes.ts'
import { commitOf, everyone, scannedKeys, text } from '../../store/toy-rows.ts'

const LOG_ENTRIES_MAX = 3
/** Permissions that the scripts and the nodes need. */
const RIGHTS =
  'eval evalsha hget hmget hset hdel hlen hscan xadd xrange xtrim zadd zscore zremrangebyscore rpush lrange expire del publish'.split(
    ' ',
  )

const redis = await startRedis()
afterAll(() => redis.stop())
const admin = await sharedLink(redis)

const startNode = (url: string): Promise<StoreNode> => startStoreNode(url, { logEntriesMax: LOG_ENTRIES_MAX })

const rowsOf = (name: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_unused, index) => [`${name}-${index}`, 'ar']))

/** Two nodes and the rows that they have acknowledged. */
class Cluster {
  readonly nodes: readonly StoreNode[]
  readonly url: string
  readonly #rows = new Set<string>()
  #round = 0

  static async start(url: string): Promise<Cluster> {
    const cluster = new Cluster(url, [await startNode(url), await startNode(url)])
    // More commits than the log keeps, so that each later commit trims the log.
    for (let index = 0; index < LOG_ENTRIES_MAX + 2; index += 1)
      expect(await cluster.writes()).toContain(true)
    return cluster
  }

  private constructor(url: string, nodes: readonly StoreNode[]) {
    this.url = url
    this.nodes = nodes
  }

  /** Makes a small commit on one node and a large commit on the other. Returns whether each succeeded. */
  async writes(): Promise<boolean[]> {
    this.#round += 1
    const [one, other] = this.nodes as [StoreNode, StoreNode]
    const last = [...this.#rows].slice(0, 2)
    const small = commitOf({ delete: last, put: { alice: 'ag', [`bob-${this.#round}`]: 'br' } })
    const large = commitOf({ put: rowsOf(`row-${this.#round}`, CALL_ROWS_MAX + 1) })
    return [await this.#isMade(one, small), await this.#isMade(other, large)]
  }

  /** Makes the commit, and records its rows if it succeeds. */
  async #isMade({ ledger }: StoreNode, commit: Commit): Promise<boolean> {
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

  /** Expects exactly the acknowledged rows on all nodes and on a new one, without a reload. */
  async expectSame(): Promise<void> {
    expect(await this.writes()).toEqual([true, true])
    const fresh = await expectSame(this.url, this.nodes)
    // Failures are logged when they begin, change and end, not for each attempt.
    for (const { log } of this.nodes) expect(log.lines.length).toBeLessThan(16)
    expect(new Set(scannedKeys(fresh.view, everyone))).toEqual(this.#rows)
  }
}

/** A Redis user with all permissions. */
async function newUser(): Promise<{ readonly name: string; readonly url: string }> {
  const name = `user-${randomUUID()}`
  await admin.send('ACL', 'SETUSER', name, 'on', 'nopass', '~*', '&*', '+@all')
  return { name, url: redis.url().replace('//', `//${name}:any@`) }
}

test.each(RIGHTS)(
  'nodes without permission for %s complete or reject each commit and recover with the permission',
  async command => {
    const { name, url } = await newUser()
    const cluster = await Cluster.start(url)
    await admin.send('ACL', 'SETUSER', name, `-${command}`)
    await cluster.writes()
    await admin.send('ACL', 'SETUSER', name, `+${command}`)
    await cluster.expectSame()
  },
)

test.each(RIGHTS)('a first start without permission for %s does not affect a later start', async command => {
  const { name, url } = await newUser()
  await admin.send('ACL', 'SETUSER', name, `-${command}`)
  const first = await startNode(url).catch((error: unknown) => error)
  const commits = [commitOf({ put: { alice: 'ar' } }), commitOf({ put: rowsOf('row', CALL_ROWS_MAX + 1) })]
  const made: string[] = []
  for (const commit of commits) {
    if (first instanceof Error) break
    const isMade = await (first as StoreNode).ledger.commit(commit).then(
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
  'commits are rejected while the key %s has another type, and succeed when it is restored',
  async name => {
    const { url } = await newUser()
    const cluster = await Cluster.start(url)
    const key = keysAt(url)[name]
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

test('commits are rejected with a definite error while Redis is full, and succeed when it has memory', async () => {
  const own = await startedRedis()
  const orders = await linkTo(own)
  const cluster = await Cluster.start(own.url())
  await orders.send('CONFIG', 'SET', 'maxmemory', '1')
  expect(await cluster.writes()).toEqual([false, false])
  const refused = cluster.nodes[0]!.ledger.commit(commitOf({ put: { carol: 'ar' } }))
  await expect(refused).rejects.toMatchObject({
    code: 'STORE_REFUSED',
    message: expect.stringMatching(/^the change was not made: Redis has no memory left /),
    cause: { message: expect.stringMatching(/^OOM /) },
  })
  await orders.send('CONFIG', 'SET', 'maxmemory', '0')
  await cluster.expectSame()
})
