/** Which nodes there are, as several processes on one Redis say it. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { connect } from '#store/redis/redis-client.ts'
import { RedisLink } from '#store/redis/redis-link.ts'
import { RedisNodeHeartbeats } from '#store/redis/redis-node-heartbeats.ts'
import { parseRedisUrl } from '#store/redis/redis-url.ts'
import type { NodeList } from '#model/wire/node.ts'
import { HANG_MS } from '../../support/hang.ts'
import { startedNodes } from '../../support/nodes.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import type { Client } from '#testing/processes/running-service.ts'
import type { ServiceProcess } from '#testing/processes/service-process.ts'
import { startedProcess } from '../../support/started-process.ts'

const redis = await startRedis()
const link = new RedisLink(connect(parseRedisUrl(redis.url()), 'test'))
await link.recovered(HANG_MS)
afterAll(async () => {
  link.close()
  await redis.stop()
})

/** Who is there, as one of them says it: itself and others. */
async function heard(node: ServiceProcess): Promise<{ selves: number; others: number }> {
  const { nodes } = await node.call<NodeList>('GET', '/v2/nodes')
  const selves = nodes.filter(({ is_this }) => is_this).length
  return { selves, others: nodes.length - selves }
}

async function listed(node: Client): Promise<NodeList> {
  return (await node.get<NodeList>('/v2/nodes')).body
}

test('nodes hear of each other, and one that was killed is gone some seconds later', async () => {
  const storeUrl = redis.url()
  const [one, other] = [startedProcess({ STORE_URL: storeUrl }), startedProcess({ STORE_URL: storeUrl })]
  const both = { selves: 1, others: 1 }
  await expect.poll(() => heard(one)).toEqual(both)
  await expect.poll(() => heard(other)).toEqual(both)
  await other.end('SIGKILL')
  await expect.poll(() => heard(one)).toEqual({ selves: 1, others: 0 })
  expect(await one.call('GET', '/v2/nodes')).toMatchObject({ is_complete: true, missing: null })
  // Nothing of it is left.
  const { prefix } = parseRedisUrl(storeUrl)
  expect(await link.send('HLEN', `${prefix}:{nodes}:ids`)).toBe(1)
})

test('a node says of the others how far each is in the environment of the key', async () => {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  await one.post('/v2/facts/default/default/users', { key: 'alice' })
  const revision = await one.revision()
  const toldBy = async (node: Client) =>
    (await listed(node)).nodes.map(({ is_this, ready, fresh, revision: at }) => ({
      is_this,
      ready,
      fresh,
      at,
    }))
  const standing = { ready: true, fresh: true, at: revision }
  for (const node of [one, other]) {
    await expect
      .poll(async () =>
        (await toldBy(node)).toSorted((left, right) => Number(left.is_this) - Number(right.is_this)),
      )
      .toEqual([
        { is_this: false, ...standing },
        { is_this: true, ...standing },
      ])
  }
  // Both have them in one order.
  const ids = await Promise.all(
    [one, other].map(async node => (await listed(node)).nodes.map(({ id }) => id)),
  )
  expect(ids[0]).toEqual(ids[1])
})

test('a node that stops leaves the list with its last word', async () => {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  await expect.poll(async () => (await listed(one)).nodes.length).toBe(2)
  await other.close()
  const { prefix } = parseRedisUrl(one.settings.storeUrl!)
  expect(await link.send('HLEN', `${prefix}:{nodes}:ids`)).toBe(1)
})

test('while Redis is away a node knows of itself alone, and says so', async () => {
  const own = await startRedis()
  onTestFinished(() => own.stop())
  const [one] = (await startedNodes(own, 2)) as [Client, Client]
  await expect.poll(async () => (await listed(one)).nodes.length).toBe(2)
  const alone = {
    nodes: [{ is_this: true }],
    is_complete: false,
    missing: 'the store does not say just now which other nodes there are',
  }
  // It answers nothing; then nobody is there.
  own.freeze()
  await expect.poll(() => listed(one)).toMatchObject(alone)
  own.thaw()
  await expect.poll(async () => (await listed(one)).nodes.length).toBe(2)
  await own.kill()
  await expect.poll(() => listed(one)).toMatchObject(alone)
  await own.start()
  await expect.poll(async () => (await listed(one)).is_complete).toBe(true)
})

test('what nobody of ours wrote is not told, and of very many nodes a part, with the reason', async () => {
  const [one] = (await startedNodes(redis, 1)) as [Client]
  const { prefix } = parseRedisUrl(one.settings.storeUrl!)
  const heartbeats = new RedisNodeHeartbeats(link, prefix)
  await heartbeats.publish('odd', 'no JSON')
  await heartbeats.publish('other', '{"id":"other"}')
  await expect.poll(async () => (await listed(one)).is_complete).toBe(true)
  expect((await listed(one)).nodes).toMatchObject([{ is_this: true }])
  const [self] = (await listed(one)).nodes
  const { is_this: _, revision: __, ...said } = self!
  const many = Array.from({ length: 1_001 }, () => randomUUID())
  await Promise.all(
    many.map(id => heartbeats.publish(id, JSON.stringify({ ...said, id, revisions: {}, more: 1 }))),
  )
  await expect
    .poll(() => listed(one))
    .toMatchObject({ is_complete: false, missing: 'there are more than 1000 nodes' })
  const { nodes } = await listed(one)
  expect(nodes.length).toBeGreaterThan(990)
  expect(nodes.length).toBeLessThanOrEqual(1_001)
  expect(nodes.filter(({ is_this }) => is_this)).toHaveLength(1)
})
