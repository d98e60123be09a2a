/** Nodes that are started while Redis is unavailable, for example because an orchestrator moves them. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Client, FACTS, question } from '#testing/processes/running-service.ts'
import { isReady, NodeProcess } from './support/node-process.ts'
import { startNodesOnWires } from './support/nodes-on-wires.ts'
import { Workload } from './support/workload.ts'

const LONG = { STALE_AFTER_MS: '1000', MAX_STALE_MS: '30000' }
const SHORT = { STALE_AFTER_MS: '500', MAX_STALE_MS: '2000' }

async function decides(client: Client): Promise<boolean> {
  return (await client.post('/allowed', question('seat-0', 'read', 'document:first'))).status === 200
}

test('nodes that are killed and restarted without Redis decide, reject changes, and recover automatically', async () => {
  const { redis, nodes } = await startNodesOnWires({
    redisArguments: ['--appendonly', 'yes', '--appendfsync', 'always'],
    settings: LONG,
  })
  const workload = await Workload.start(nodes, 30_700)
  await workload.hasWritten(50)
  await workload.stopWriting()
  await redis.kill()
  for (const node of nodes) {
    await node.kill()
    const client = await node.startAgain()
    expect(await isReady(client)).toBe(true)
    expect((await client.get('/fresh')).status).toBe(503)
    expect(await decides(client)).toBe(true)
    await node.logMatch(/Redis is unreachable: starting from the local replicas/)
  }
  const refused = await nodes[0]!.client!.post(`${FACTS}/users`, { key: 'rejected' })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])

  await redis.start()
  workload.goOnWriting()
  await workload.hasWritten(50)
  await workload.end()
  for (const { log } of nodes) expect(log).not.toContain('another local replica')
})

test('a start without Redis fails if the local replica is older than MAX_STALE_MS', async () => {
  const { redis, nodes } = await startNodesOnWires({ nodes: 1, settings: SHORT })
  const [node] = nodes as [NodeProcess]
  await node.kill()
  await redis.kill()
  await pause(Number(SHORT.MAX_STALE_MS))
  await expect(node.startAgain()).rejects.toThrow()
  expect(node.log).toContain('no connection to the Redis of STORE_URL')
})
