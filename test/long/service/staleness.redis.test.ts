/** A node without Redis is stale, decides for a limited time, and recovers automatically. */
import { expect, test } from 'vitest'
import { redisKeys } from '#store/redis/link/redis-keys.ts'
import { parseRedisUrl } from '#store/redis/link/redis-url.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'
import { cuttableStore, freshness, readiness, until } from '../../support/nodes.ts'
import { freePort } from '#testing/processes/free-port.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { sharedLink, sharedRedis } from '../../support/processes/redis-server.ts'
import {
  Client,
  FACTS,
  neighbourOf,
  question,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { pause } from '#testing/processes/pause.ts'

const redis = await sharedRedis()
const orders = await sharedLink(redis)

/** A node with an allowed check, on a connection that can be cut. */
async function cuttableNode(settings: NonNullable<Parameters<typeof startedService>[0]>) {
  const proxy = await CuttingProxy.to(redis)
  const node = await startedService({
    storeUrl: redis.url(proxy),
    dataDirectory: storeDirectory(),
    ...settings,
  })
  await node.createViewer('alice', 'document:plan')
  return { proxy, node }
}

async function decision(node: Client): Promise<number> {
  return (await node.post('/allowed', question('alice', 'read', 'document:plan'))).status
}

async function metric(node: Client, name: string): Promise<number> {
  return (await Scrape.of(node.address)).sum(name)
}

test('a node without Redis is stale, later stops deciding and is not ready, and recovers automatically', async () => {
  const { proxy, node } = await cuttableNode({ staleAfterMs: 200, maxStaleMs: 1_500 })
  await until(200, () => readiness(node))
  await until(200, () => freshness(node))
  const cutAt = performance.now()
  proxy.cut()
  await until(503, () => freshness(node))
  expect(performance.now() - cutAt).toBeGreaterThan(100)
  // Readiness is read before and after each check, because a node is ready if and only if it accepts checks.
  for (;;) {
    const before = await readiness(node)
    const { status: decided, body } = await node.post('/allowed', question('alice', 'read', 'document:plan'))
    const after = await readiness(node)
    if (before === 503) expect(decided).toBe(503)
    // On a busy machine, a single environment can become too old before the others.
    const isAlone = /of this environment on this node is too old/.test(JSON.stringify(body))
    if (decided === 503 && !isAlone) expect(after).toBe(503)
    if (before === 503) break
    expect(before).toBe(200)
  }
  expect(performance.now() - cutAt).toBeGreaterThan(1_400)
  expect(await metric(node, 'verdict_ready')).toBe(0)
  expect(await metric(node, 'verdict_fresh')).toBe(0)
  const refused = await node.post('/allowed', question('alice', 'read', 'document:plan'))
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)

  proxy.mend()
  await until(200, () => readiness(node))
  await until(200, () => freshness(node))
  await until(200, () => decision(node))
  await until(1, () => metric(node, 'verdict_fresh'))
  await node.user('bob')
})

test.each(['log', 'meta'] as const)(
  'an environment whose %s cannot be read becomes too old, recovers automatically, and does not affect others',
  async name => {
    // The limit is long enough for a busy machine to poll the other environment in time.
    const bounds = { staleAfterMs: 1_000, maxStaleMs: 3_000 }
    const storeUrl = redis.url()
    const node = await startedService({ storeUrl, dataDirectory: storeDirectory(), ...bounds })
    await node.createDocumentModel()
    await node.users('alice')
    const key = await neighbourOf(node, 'neighbour')
    const { body } = await node.admin<{ id: string }>('GET', '/v2/projects/default/envs/default')
    const ask = question('alice', 'read', 'document:plan')
    const neighbours = async () => (await node.send('POST', '/allowed', { key, body: ask })).status

    const lost = redisKeys(parseRedisUrl(storeUrl).prefix, body.id)[name]
    // The key is never missing, because an environment without it would be closed.
    await orders.send('COPY', lost, `${lost}:aside`)
    await orders.send('SET', lost, 'of another kind')
    await until(503, () => freshness(node))
    await until(503, () => decision(node))
    // A paused machine makes all environments stale for a moment, but only this environment stays stale.
    let refused = await node.post('/allowed', ask)
    while (!/of this environment on this node is too old/.test(JSON.stringify(refused.body))) {
      await pause()
      refused = await node.post('/allowed', ask)
    }
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    await until(200, neighbours)
    await until(200, () => readiness(node))
    expect(await decision(node)).toBe(503)
    await until(1, () => metric(node, 'verdict_ready'))
    await until(0, () => metric(node, 'verdict_fresh'))
    await expect
      .poll(async () => (await metric(node, 'verdict_staleness_seconds')) * 1_000)
      .toBeGreaterThan(bounds.maxStaleMs)
    expect((await node.get(`${FACTS}/users`)).status).toBe(200)

    await orders.send('RENAME', `${lost}:aside`, lost)
    await until(200, () => decision(node))
    await until(200, () => freshness(node))
    await node.user('bob')
    await until(200, neighbours)
  },
)

test('a starting node rejects checks on an environment that has been too long without Redis', async () => {
  const { proxy, storeUrl, directUrl } = await cuttableStore(redis)
  const first = await startedService({ storeUrl: directUrl, dataDirectory: storeDirectory() })
  await first.createViewer('alice', 'document:plan')
  const body = { key: 'later', name: 'Opened after the default one' }
  const later = await first.admin<{ id: string }>('POST', '/v2/projects/default/envs', body)

  const port = await freePort()
  const node = Client.at(`http://127.0.0.1:${port}`)
  void proxy.failOn(`{${later.body.id}}`, 'lose-command').then(() => proxy.cut())
  const settings = { storeUrl, dataDirectory: storeDirectory(), port, maxStaleMs: 1_500 }
  const starting = startedService(settings)
  // Before the environment is open, the response states another reason.
  const isStale = async () => {
    const answer = await node.post('/allowed', question('alice', 'read', 'document:plan')).catch(() => null)
    return answer?.status === 503 && JSON.stringify(answer.body).includes('too old')
  }
  while (!(await isStale())) await pause()
  expect(await readiness(node)).toBe(503)

  proxy.mend()
  await starting
  await until(200, () => readiness(node))
  await until(200, () => decision(node))
})

test('a node that shuts down decides until it is closed, even after MAX_STALE_MS', async () => {
  const maxStaleMs = 1_000
  // Uses longer and longer delays until a response arrives late in the shutdown, even on a busy machine.
  for (let [delayMs, answeredAfterMs] = [2_000, 0]; answeredAfterMs <= maxStaleMs; delayMs *= 2) {
    const { node } = await cuttableNode({ staleAfterMs: 500, maxStaleMs })
    await until(200, () => decision(node))
    const from = performance.now()
    const closing = node.close(delayMs)
    for (;;) {
      const askedAfterMs = performance.now() - from
      const statuses = await Promise.all([decision(node), readiness(node)]).catch(() => null)
      if (statuses === null) break
      expect(statuses).toEqual([200, 503])
      answeredAfterMs = askedAfterMs
    }
    await closing
  }
})
