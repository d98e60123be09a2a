/** `redis+cluster://`: three servers share the keys; those of an environment are together on one of them. */
import { Redis } from 'ioredis'
import { afterAll, expect, test } from 'vitest'
import { describeNodes } from '../../service/nodes-contract.ts'
import { describeRedisLedger } from '../../store/redis-ledger-contract.ts'
import { startedNodes } from '../../support/nodes.ts'
import { ADMIN_KEY } from '../../support/running-service.ts'
import { NodeProcess } from '../support/node-process.ts'
import { STALE_MS_MAX, TIMING } from '../support/nodes-on-wires.ts'
import { Workload } from '../support/workload.ts'
import { startCluster } from './cluster-process.ts'

/** The cluster itself takes 2 s until it serves again. Not so long that a node which hangs would pass for a slow machine. */
const WRITTEN_MS_MAX = 30_000

const cluster = await startCluster()
afterAll(() => cluster.stop())
const { url } = cluster

test('environments are spread over the servers, and the keys of each are on one', async () => {
  const [client] = await startedNodes({ url }, 1)
  for (let index = 0; index < 30; index += 1) {
    const body = { key: `env-${index}`, name: `env-${index}` }
    const made = await client!.send('POST', '/v2/projects/default/envs', { key: ADMIN_KEY, body })
    expect(made.status, JSON.stringify(made.body)).toBe(200)
  }
  const places = await Promise.all(
    cluster.nodes.map(async ({ host, port }) => {
      const server = new Redis({ host, port })
      const keys = await server.keys('*')
      server.disconnect()
      return new Set(keys.map(key => /\{(.+)\}/.exec(key)![1]!))
    }),
  )
  for (const place of places) expect(place.size).toBeGreaterThan(0)
  const all = places.flatMap(place => [...place])
  expect(new Set(all).size).toBe(all.length)
  expect(all).toHaveLength(32)
})

test('servers of the cluster that are killed and started again cost time only, also when it has not found together yet', async () => {
  const storeUrl = url()
  const nodes = await Promise.all(
    ['one', 'two'].map(name => NodeProcess.start(name, { storeUrl, settings: TIMING })),
  )
  const workload = await Workload.start(nodes, { staleMsMax: STALE_MS_MAX })
  for (const server of [...cluster.nodes, ...cluster.nodes]) {
    await server.kill()
    expect(await server.start()).toBe(true)
    await workload.hasWritten(20, WRITTEN_MS_MAX)
  }
  await workload.end()
})

await describeRedisLedger('a redis cluster', url)
describeNodes('a redis cluster', { url })
