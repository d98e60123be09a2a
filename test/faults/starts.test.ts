/** Nodes that are started while Redis is away, as an orchestrator starts them that moves them meanwhile. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '#testing/processes/redis-process.ts'
import { type Client, FACTS, question, storeDirectory } from '#testing/processes/running-service.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'
import { isReady, NodeProcess } from './support/node-process.ts'
import { startNodesOnWires } from './support/nodes-on-wires.ts'
import { Workload } from './support/workload.ts'

const LONG = { STALE_AFTER_MS: '1000', MAX_STALE_MS: '30000' }
const SHORT = { STALE_AFTER_MS: '500', MAX_STALE_MS: '2000' }

async function decides(client: Client): Promise<boolean> {
  return (await client.post('/allowed', question('seat-0', 'read', 'document:first'))).status === 200
}

test('nodes that are killed and started again without Redis decide, refuse changes, and go on by themselves', async () => {
  const { redis, nodes } = await startNodesOnWires({
    redisArguments: ['--appendonly', 'yes', '--appendfsync', 'always'],
    settings: LONG,
  })
  const workload = await Workload.start(nodes, { staleMsMax: 30_700 })
  await workload.hasWritten(50)
  await workload.stopWriting()
  await redis.kill()
  for (const node of nodes) {
    await node.kill()
    const client = await node.startAgain()
    expect(await isReady(client)).toBe(true)
    expect((await client.get('/fresh')).status).toBe(503)
    expect(await decides(client)).toBe(true)
    await node.logMatch(/Redis is away: starting from the local copies/)
  }
  const refused = await nodes[0]!.client!.post(`${FACTS}/users`, { key: 'nobody' })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])

  await redis.start()
  workload.goOnWriting()
  await workload.hasWritten(50)
  await workload.end()
  for (const { log } of nodes) expect(log).not.toContain('another copy')
})

test('a copy that is older than MAX_STALE_MS is not decided by: the start ends as one without a copy', async () => {
  const { redis, nodes } = await startNodesOnWires({ nodes: 1, settings: SHORT })
  const [node] = nodes as [NodeProcess]
  await node.kill()
  await redis.kill()
  await pause(Number(SHORT.MAX_STALE_MS))
  await expect(node.startAgain()).rejects.toThrow()
  expect(node.log).toContain('no connection to the Redis of the store URL')
})

test('a Redis that refuses is not away: the start ends with what it says', async () => {
  const redis = await startRedis({ arguments: ['--requirepass', 'rightPassword1'] })
  onTestFinished(() => redis.stop())
  const cwd = storeDirectory()
  const start = (password: string) =>
    new ServiceProcess({
      cwd,
      env: {
        API_KEY: 'environment-key-of-the-tests',
        HTTP_THREADS: '1',
        STORE_URL: `redis://:${password}@${redis.host}:${redis.port}`,
      },
    })
  const first = start('rightPassword1')
  await first.address()
  while ((await fetch(`${await first.address()}/fresh`)).status !== 200);
  await first.end('SIGTERM')
  const second = start('wrongPassword1')
  await expect(second.address()).rejects.toThrow()
  expect(second.stderr).toContain('WRONGPASS')
})
