/** The list of nodes, as reported by several processes on one Redis. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { RedisNodeHeartbeats } from '#store/redis/redis-node-heartbeats.ts'
import { parseRedisUrl } from '#store/redis/link/redis-url.ts'
import type { NodeList } from '#model/wire/node.ts'
import { startedNodes } from '../../support/nodes.ts'
import { sharedLink, startedRedis } from '../../support/processes/redis-server.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import type { Client } from '#testing/processes/running-service.ts'
import type { ServiceProcess } from '#testing/processes/service-process.ts'
import { startedProcess } from '../../support/processes/started-process.ts'

const redis = await startRedis()
afterAll(() => redis.stop())
const link = await sharedLink(redis)

/** Numbers of nodes that a node lists: itself and others. */
async function listedBy(node: ServiceProcess): Promise<{ selves: number; others: number }> {
  const { nodes } = await node.call<NodeList>('GET', '/v2/nodes')
  const selves = nodes.filter(({ is_this }) => is_this).length
  return { selves, others: nodes.length - selves }
}

async function listed(node: Client): Promise<NodeList> {
  return (await node.get<NodeList>('/v2/nodes')).body
}

test('nodes list each other, and a killed node is removed from the list after some seconds', async () => {
  const storeUrl = redis.url()
  const [one, other] = [startedProcess({ STORE_URL: storeUrl }), startedProcess({ STORE_URL: storeUrl })]
  const both = { selves: 1, others: 1 }
  await expect.poll(() => listedBy(one)).toEqual(both)
  await expect.poll(() => listedBy(other)).toEqual(both)
  await other.end('SIGKILL')
  await expect.poll(() => listedBy(one)).toEqual({ selves: 1, others: 0 })
  expect(await one.call('GET', '/v2/nodes')).toMatchObject({ is_complete: true, missing: null })
  const { prefix } = parseRedisUrl(storeUrl)
  expect(await link.send('HLEN', `${prefix}:{nodes}:ids`)).toBe(1)
})

test('a node lists the state of all nodes, and their revisions in the environment of the API key', async () => {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  await one.post('/v2/facts/default/default/users', { key: 'alice' })
  const revision = await one.revision()
  const state = { ready: true, fresh: true, revision }
  for (const node of [one, other]) {
    await expect
      .poll(async () =>
        (await listed(node)).nodes.toSorted((left, right) => Number(left.is_this) - Number(right.is_this)),
      )
      .toMatchObject([
        { is_this: false, ...state },
        { is_this: true, ...state },
      ])
  }
  // Both nodes list the nodes in the same order.
  const ids = await Promise.all(
    [one, other].map(async node => (await listed(node)).nodes.map(({ id }) => id)),
  )
  expect(ids[0]).toEqual(ids[1])
})

test('a node that shuts down removes itself from the list', async () => {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  await expect.poll(async () => (await listed(one)).nodes.length).toBe(2)
  await other.close()
  const { prefix } = parseRedisUrl(one.settings.storeUrl!)
  expect(await link.send('HLEN', `${prefix}:{nodes}:ids`)).toBe(1)
})

test('a node that cannot reach Redis lists only itself and marks the list as incomplete', async () => {
  const own = await startedRedis()
  const [one] = (await startedNodes(own, 2)) as [Client, Client]
  await expect.poll(async () => (await listed(one)).nodes.length).toBe(2)
  const alone = {
    nodes: [{ is_this: true }],
    is_complete: false,
    missing: 'the store cannot list the other nodes at the moment',
  }
  // At first Redis does not respond, then it does not accept connections.
  own.freeze()
  await expect.poll(() => listed(one)).toMatchObject(alone)
  own.thaw()
  await expect.poll(async () => (await listed(one)).nodes.length).toBe(2)
  await own.kill()
  await expect.poll(() => listed(one)).toMatchObject(alone)
  await own.start()
  await expect.poll(async () => (await listed(one)).is_complete).toBe(true)
})

test('a list of nodes omits invalid entries; if there are too many nodes, it is cut and states the reason', async () => {
  const [one] = (await startedNodes(redis, 1)) as [Client]
  const { prefix } = parseRedisUrl(one.settings.storeUrl!)
  const heartbeats = new RedisNodeHeartbeats(link, prefix)
  await heartbeats.publish('odd', 'no JSON')
  await heartbeats.publish('other', '{"id":"other"}')
  await expect.poll(async () => (await listed(one)).is_complete).toBe(true)
  expect((await listed(one)).nodes).toMatchObject([{ is_this: true }])
  const [self] = (await listed(one)).nodes
  const { is_this: _, revision: __, ...entry } = self!
  const many = Array.from({ length: 1_001 }, () => randomUUID())
  await Promise.all(
    many.map(id => heartbeats.publish(id, JSON.stringify({ ...entry, id, revisions: {}, more: 1 }))),
  )
  await expect
    .poll(() => listed(one))
    .toMatchObject({ is_complete: false, missing: 'there are more than 1000 nodes' })
  const { nodes } = await listed(one)
  expect(nodes.length).toBeGreaterThan(990)
  expect(nodes.length).toBeLessThanOrEqual(1_001)
  expect(nodes.filter(({ is_this }) => is_this)).toHaveLength(1)
})
