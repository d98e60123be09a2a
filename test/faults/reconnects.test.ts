/** Many nodes lose the connection to Redis at the same time and reconnect at different times. */
import { setTimeout as pause } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { follows, startStoreNode, type StoreNode } from '../store/redis/redis-nodes.ts'
import { bytes, commitOf, shown } from '../store/toy-rows.ts'
import { CuttingProxy } from '../support/processes/cutting-proxy.ts'
import { startedRedis } from '../support/processes/redis-server.ts'

const NODES = 50
/** Each node has one connection for commands and one for pub/sub. */
const CONNECTIONS = 2 * NODES

test('each of fifty nodes reconnects to a restarted Redis only once, at different times, and no commit is lost', async () => {
  const redis = await startedRedis({ arguments: ['--appendonly', 'yes', '--appendfsync', 'always'] })
  const proxy = await CuttingProxy.to(redis)
  const url = `redis://${proxy.host}:${proxy.port}?prefix=${randomUUID()}`
  const nodes: StoreNode[] = []
  for (let index = 0; index < NODES; index += 1) nodes.push(await startStoreNode(url))
  const first = nodes[0]!
  const head = await first.ledger.commit(commitOf({ put: { before: 'ar' } }))
  for (const { ledger } of nodes) await follows(ledger, { ...head, sequence: 0 }, head)

  // The proxy is cut before the server is killed, so that every attempt is counted.
  proxy.cut()
  await redis.kill()
  const atCut = proxy.connections
  await pause(5_000)
  // Backoff of each connection: 50, 100, 200, 400, 800, 1,600 and 2,000 ms, minus a random part of up to a
  // half.
  const attempts = proxy.connections - atCut
  expect(attempts).toBeGreaterThan(CONNECTIONS)
  expect(attempts).toBeLessThan(CONNECTIONS * 12)

  expect(await redis.start()).toBe(true)
  const arrivals: number[] = []
  const mendedAt = performance.now()
  const atMend = proxy.connections
  proxy.mend()
  while (proxy.connections - atMend < CONNECTIONS) {
    arrivals.push(proxy.connections - atMend)
    expect(performance.now() - mendedAt).toBeLessThan(10_000)
    await pause(100)
  }
  // The commit waits until its connection is open again.
  const next = await first.ledger.commit(commitOf({ put: { after: 'bg' } }))
  for (const { ledger } of nodes) await follows(ledger, head, next)
  for (const { view } of nodes) expect(shown(view)).toEqual(shown(first.view))
  // No attempt failed, and at most a quarter of the connections were opened within the first 100 ms.
  expect(proxy.connections - atMend).toBe(CONNECTIONS)
  const steps = arrivals.slice(1).map((count, index) => count - arrivals[index]!)
  expect(Math.max(...steps)).toBeLessThan(CONNECTIONS / 4)
  expect(first.view.get(bytes('after'))).toBeDefined()
})
