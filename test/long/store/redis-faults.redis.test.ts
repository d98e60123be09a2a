/**
 * What nodes do when Redis refuses them something in the midst of their work: a right, a key of another kind, memory, a
 * command. Each commit is made for everybody or for nobody, and its sender knows which; nobody loads everything again for it, and all
 * goes on by itself when the reason is gone.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { Commit } from '#store/ledger.ts'
import { CALL_ROWS_MAX } from '#store/redis/commit-call.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import { linkTo, sharedLink } from '../../support/redis-server.ts'
import { expectSame, keysAt, startStoreNode, type StoreNode } from '../../store/redis-nodes.ts'
import { commitOf, everyone, scannedKeys, text } from '../../store/toy-rows.ts'

const LOG_ENTRIES_MAX = 3
/** Every right that the scripts need, and those of a node besides. */
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

/** Two nodes and what they have acknowledged. */
class Cluster {
  readonly nodes: readonly StoreNode[]
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

  private constructor(url: string, nodes: readonly StoreNode[]) {
    this.url = url
    this.nodes = nodes
  }

  /** A small commit on one node and a large one on the other: which were made. */
  async writes(): Promise<boolean[]> {
    this.#round += 1
    const [one, other] = this.nodes as [StoreNode, StoreNode]
    const last = [...this.#rows].slice(0, 2)
    const small = commitOf({ delete: last, put: { alice: 'ag', [`bob-${this.#round}`]: 'br' } })
    const large = commitOf({ put: rowsOf(`row-${this.#round}`, CALL_ROWS_MAX + 1) })
    return [await this.#isMade(one, small), await this.#isMade(other, large)]
  }

  /** Nothing may be left that its sender does not know. */
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

  /** All nodes, and one that is started now, have what was acknowledged, and nothing else; nobody has loaded anything again. */
  async expectSame(): Promise<void> {
    expect(await this.writes()).toEqual([true, true])
    const fresh = await expectSame(this.url, this.nodes)
    // Said when it begins, when its reason changes, and when it is over; not at each attempt.
    for (const { log } of this.nodes) expect(log.lines.length).toBeLessThan(16)
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
  'while the key %s is of another kind no commit is made, and all goes on when it is as it was',
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

test('a Redis that is full takes no commit, says so for certain, and goes on when there is room', async () => {
  const own = await startRedis()
  onTestFinished(() => own.stop())
  const orders = await linkTo(own)
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
