/** Running nodes detect the same damage as a starting node, at their next check and at the next commit. */
import { describe, expect, onTestFinished, test } from 'vitest'
import type { OpenStoreOptions } from '#store/open/open-store.ts'
import type { RedisKeys } from '#store/redis/link/redis-keys.ts'
import type { RedisLink } from '#store/redis/link/redis-link.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'
import { linkTo, sharedLink, sharedRedis } from '../../support/processes/redis-server.ts'
import { ENVIRONMENT, expectSame, keysAt, startStoreNode, type StoreNode } from './redis-nodes.ts'
import { commitId, commitOf, everyone, scannedKeys } from '../toy-rows.ts'

const DAMAGED = { code: 'STORE_DAMAGED' }

const redis = await sharedRedis()
const direct = await sharedLink(redis)

interface Node extends StoreNode {
  readonly damages: string[]
}

async function startNode(url: string, options: OpenStoreOptions = {}): Promise<Node> {
  const damages: string[] = []
  const onDamage = (id: string) => void damages.push(id)
  return { damages, ...(await startStoreNode(url, { onDamage, ...options })) }
}

const saysThat = (words: RegExp) => (line: { readonly message: string }) => words.test(line.message)
const isLost = saysThat(/lost data/)
const isBack = saysThat(/has all data/)

async function setup(): Promise<{
  readonly url: string
  readonly keys: RedisKeys
  readonly nodes: [Node, Node]
}> {
  const url = redis.url()
  const nodes: [Node, Node] = [await startNode(url), await startNode(url)]
  await nodes[0].ledger.commit(commitOf({ put: { alice: 'ar', bob: 'bg' } }))
  await nodes[1].ledger.commit(commitOf({ delete: ['bob'], put: { carol: 'ag' } }))
  return { url, keys: keysAt(url), nodes }
}

async function expectAll(url: string, nodes: readonly Node[], keys: readonly string[]): Promise<void> {
  expect(scannedKeys((await expectSame(url, nodes)).view, everyone)).toEqual(keys)
}

test.each([
  ['rows', 'lost', (key: string, aside: string) => direct.send('RENAME', key, aside)],
  [
    'rows',
    'partly deleted',
    async (key: string, aside: string) => {
      await direct.send('COPY', key, aside)
      await direct.send('HDEL', key, 'alice')
    },
  ],
  [
    'rows',
    'extended',
    async (key: string, aside: string) => {
      await direct.send('COPY', key, aside)
      await direct.send('HSET', key, 'mallory', Buffer.from([0, 0, 0, 0, 1, 0, 0, 0, 0x61, 0x72]))
    },
  ],
  ['meta', 'lost', (key: string, aside: string) => direct.send('RENAME', key, aside)],
] as const)('all nodes, and their commits, detect that the key %s was %s', async (name, _, lose) => {
  const { url, keys, nodes } = await setup()
  const aside = `${keys[name]}:aside`
  await lose(keys[name], aside)
  const refusals = await Promise.all(
    nodes.map(({ ledger }) =>
      ledger.commit(commitOf({ delete: ['alice'] })).catch((error: unknown) => error),
    ),
  )
  for (const refusal of refusals)
    expect(refusal).toMatchObject({ code: expect.stringMatching(/^STORE_(DAMAGED|RESET)$/) })
  await expect(startNode(url)).rejects.toMatchObject(DAMAGED)
  for (const node of nodes) {
    await node.log.has(isLost)
    expect(() => node.environment.requireWhole()).toThrow(expect.objectContaining(DAMAGED))
    expect(node.damages).toContain(ENVIRONMENT)
  }
  await direct.send('RENAME', aside, keys[name])
  for (const node of nodes) {
    await node.log.has(isBack)
    node.environment.requireWhole()
    expect(node.log.lines.filter(isLost)).toHaveLength(1)
  }
  await nodes[0].ledger.commit(commitOf({ put: { dave: 'ar' } }))
  await expectAll(url, nodes, ['alice', 'carol', 'dave'])
})

test('an earlier check whose response arrives at the same time does not clear damage that a commit finds', async () => {
  const proxy = await CuttingProxy.to(redis)
  const url = redis.url(proxy)
  const node = await startNode(url)
  await node.ledger.commit(commitOf({ put: { alice: 'ar' } }))
  const keys = keysAt(url)
  const letGo = await proxy.holdAnswersFrom('EVALSHA')
  await direct.send('HDEL', keys.rows, 'alice')
  const refused = node.ledger.commit(commitOf({ put: { bob: 'ar' } })).catch((error: unknown) => error)
  // After these commands, Redis has sent both responses.
  for (let asked = 0; asked < 100; asked += 1) await direct.send('PING')
  letGo()
  expect(await refused).toMatchObject(DAMAGED)
  await new Promise(done => setImmediate(done))
  expect(() => node.environment.requireWhole()).toThrow(expect.objectContaining(DAMAGED))
})

test.each([
  ['was changed', (stored: Buffer) => Buffer.concat([stored.subarray(0, -1), Buffer.from('g')])],
  ['is too short', (stored: Buffer) => stored.subarray(0, 3)],
  ['has an unknown format', (stored: Buffer) => Buffer.alloc(stored.length, 0xff)],
  ['is empty', () => Buffer.alloc(0)],
])('a load finds a row that %s, and then every node reports it', async (_, changed) => {
  const { url, keys, nodes } = await setup()
  const stored = (await direct.send('HGET', keys.rows, 'alice')) as Buffer
  await direct.send('HSET', keys.rows, 'alice', changed(stored))
  // Running nodes do not detect this, because the number of rows is correct and they do not read the rows.
  await nodes[0].ledger.commit(commitOf({ put: { dave: 'ar' } }))
  await expect(startNode(url)).rejects.toMatchObject(DAMAGED)
  for (const { log, ledger } of nodes) {
    await log.has(isLost)
    await expect(ledger.commit(commitOf({}))).rejects.toMatchObject(DAMAGED)
  }
  await direct.send('HSET', keys.rows, 'alice', stored)
  await direct.send('HDEL', keys.meta, 'damage')
  for (const { log } of nodes) await log.has(isBack)
  await nodes[0].ledger.commit(commitOf({ delete: ['dave'] }))
  await expectAll(url, nodes, ['alice', 'carol'])
})

test('an unreadable row is found by a commit that overwrites it, and then reported by every node', async () => {
  const { keys, nodes } = await setup()
  const stored = (await direct.send('HGET', keys.rows, 'alice')) as Buffer
  await direct.send('HSET', keys.rows, 'alice', stored.subarray(0, 3))
  await expect(nodes[0].ledger.commit(commitOf({ put: { alice: 'ag' } }))).rejects.toMatchObject(DAMAGED)
  for (const { log, ledger } of nodes) {
    await log.has(isLost)
    await expect(ledger.commit(commitOf({}))).rejects.toMatchObject(DAMAGED)
  }
})

test.each(['log', 'ids'] as const)('a lost %s key causes no reload, and one node reports it', async name => {
  const { url, keys, nodes } = await setup()
  await direct.send('DEL', keys[name])
  const head = await nodes[0].ledger.commit(commitOf({ put: { dave: 'ar' } }))
  expect(head.sequence).toBe(3)
  expect(nodes[0].log.lines.filter(saysThat(/lost a key/))).toEqual([
    expect.objectContaining({ level: 'warn', fields: { environment: ENVIRONMENT, key: name } }),
  ])
  await nodes[1].ledger.commit(commitOf({ put: { erin: 'ar' } }))
  await expectAll(url, nodes, ['alice', 'carol', 'dave', 'erin'])
})

describe('the data of an earlier release', () => {
  const forget = (keys: RedisKeys) =>
    direct.send('HDEL', keys.meta, 'count', 'sum', 'summed', 'since', 'base')

  test('is accepted, and a full load adds the base of the checksum, so that later damage is found', async () => {
    const { url, keys, nodes } = await setup()
    await forget(keys)
    await nodes[0].ledger.commit(commitOf({ put: { dave: 'ar' } }))
    await expectAll(url, nodes, ['alice', 'carol', 'dave'])
    await nodes[1].ledger.commit(commitOf({ delete: ['dave'] }))
    await expectAll(url, nodes, ['alice', 'carol'])
    expect(Number(await direct.send('HGET', keys.meta, 'base'))).toBeGreaterThan(0)
    await direct.send('HSET', keys.rows, 'alice', (await direct.send('HGET', keys.rows, 'carol')) as Buffer)
    await expect(startNode(url)).rejects.toMatchObject(DAMAGED)
  })

  test('is checked row by row in a full load, and all nodes report an unreadable row', async () => {
    const { url, keys, nodes } = await setup()
    const stored = (await direct.send('HGET', keys.rows, 'alice')) as Buffer
    await direct.send('HSET', keys.rows, 'alice', Buffer.concat([stored.subarray(0, -1), Buffer.from('!')]))
    await forget(keys)
    const isReadable = ({ value }: { readonly value: Uint8Array }) => value.at(-1) !== '!'.codePointAt(0)
    await expect(startNode(url, { isReadable })).rejects.toMatchObject(DAMAGED)
    for (const { log } of nodes) await log.has(isLost)
  })

  test('is completed if a script of the release stopped after it wrote the log, and concurrent commits of the release are not reported as damage', async () => {
    const { url, keys, nodes } = await setup()
    const id = Buffer.from(commitId())
    const stored = Buffer.from([0, 0, 0, 0, 3, 0, 0, 0, 0x61, 0x72])
    const entry = ['3-0', 'i', id, 'l', '0', 'c', '[]', 'p', 'dave', 'v', stored] as const
    await direct.send('XADD', keys.log, ...entry)
    await expectAll(url, nodes, ['alice', 'carol', 'dave'])
    // Like the script of that release, this updates neither the number of rows nor the checksum.
    const other = Buffer.from(commitId())
    const commit = `
      redis.call('HDEL', KEYS[2], 'dave')
      redis.call('XADD', KEYS[3], '4-0', 'i', ARGV[1], 'l', '0', 'c', '[]', 'd', 'dave')
      redis.call('ZADD', KEYS[4], '4', ARGV[1])
      redis.call('HSET', KEYS[1], 'sequence', '4', 'id', ARGV[1], 'first', '1')`
    await direct.send('EVAL', commit, 4, keys.meta, keys.rows, keys.log, keys.ids, other)
    await nodes[0].ledger.commit(commitOf({ put: { erin: 'ar' } }))
    await expectAll(url, nodes, ['alice', 'carol', 'erin'])
    for (const { log } of nodes) expect(log.lines.some(isLost)).toBe(false)
  })
})

describe('a Redis that evicts keys when it is full', () => {
  async function evicting(policy: string): Promise<{ readonly url: string; readonly orders: RedisLink }> {
    const own = await startRedis({ arguments: ['--maxmemory-policy', policy] })
    onTestFinished(() => own.stop())
    return { url: own.url(), orders: await linkTo(own) }
  }

  test.each(['allkeys-lru', 'volatile-ttl'])('is refused with advice: %s', async policy => {
    const { url, orders } = await evicting(policy)
    await expect(startNode(url)).rejects.toMatchObject({
      code: 'STORE_REFUSED',
      message: expect.stringMatching(
        `maxmemory-policy is ${policy}; set it to noeviction.*ALLOW_EVICTION=true`,
      ),
    })
    expect(await orders.send('DBSIZE')).toBe(0)
  })

  test('is accepted with a logged warning if the options allow it', async () => {
    const { url } = await evicting('allkeys-lru')
    const { log, ledger } = await startNode(url, { allowsEviction: true })
    await ledger.commit(commitOf({ put: { alice: 'ar' } }))
    expect(log.lines.filter(saysThat(/evicts keys/))).toEqual([
      expect.objectContaining({ level: 'warn', fields: { policy: 'allkeys-lru' } }),
    ])
  })

  test('is detected with either of two permissions, and a warning is logged if the policy cannot be read', async () => {
    const { url, orders } = await evicting('allkeys-lru')
    const as = async (...rights: readonly string[]) => {
      await orders.send('ACL', 'SETUSER', 'node', 'reset', 'on', 'nopass', '~*', '&*', '+@all', ...rights)
      return url.replace('//', '//node:any@')
    }
    await expect(startNode(await as('-info'))).rejects.toMatchObject({ code: 'STORE_REFUSED' })
    await expect(startNode(await as('-config'))).rejects.toMatchObject({ code: 'STORE_REFUSED' })
    const { log } = await startNode(await as('-config', '-info'))
    expect(log.lines.filter(saysThat(/does not report its maxmemory-policy/))).toHaveLength(1)
  })
})
