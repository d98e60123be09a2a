/** Nodes stop deciding in time if Redis does not respond, recover automatically, and lose no write. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Scrape } from '#testing/requests/metrics.ts'
import type { Client } from '#testing/processes/running-service.ts'
import { isReady } from './support/node-process.ts'
import { type NodesOnWires, orders, startNodesOnWires } from './support/nodes-on-wires.ts'
import { Workload } from './support/workload.ts'

const SILENCE_MS = 10_000
const FACTS = '/v2/facts/default/default'

/** Waits until the nodes have logged that they were stale, stopped and fresh again, in this order. */
async function haveRecovered({ nodes }: NodesOnWires): Promise<void> {
  for (const node of nodes) {
    await node.logMatch(/"standing":"stopped"[^]*"standing":"fresh"/)
    const standings = [...node.log.matchAll(/"standing":"(\w+)"/g)].map(([, standing]) => standing)
    // On a busy machine, nodes can be stale several times. Only the states before and after "stopped" matter.
    const stopped = standings.indexOf('stopped')
    expect(standings.slice(stopped - 1, stopped + 2), node.log).toEqual(['stale', 'stopped', 'fresh'])
  }
}

async function readiness({ nodes }: NodesOnWires): Promise<boolean[]> {
  return Promise.all(nodes.map(async node => isReady(await node.serving())))
}

test.each([
  ['paused', ({ redis }: NodesOnWires) => orders(redis).call('CLIENT', 'PAUSE', SILENCE_MS, 'ALL'), () => {}],
  ['frozen', ({ redis }: NodesOnWires) => redis.freeze(), ({ redis }: NodesOnWires) => redis.thaw()],
] as const)(
  'nodes decide up to MAX_STALE_MS while Redis is %s for 10 s, then return 503, and recover with Redis',
  async (_, silence, goOn) => {
    const system = await startNodesOnWires()
    const workload = await Workload.start(system.nodes)
    await silence(system)
    await pause(SILENCE_MS - 1_000)
    expect(await readiness(system)).toEqual([false, false])
    goOn(system)
    await workload.hasWritten(50)
    const seen = await workload.end()
    expect(seen.refused).toBeGreaterThan(100)
    expect(seen.commits).toBe(workload.history.sent)
    await haveRecovered(system)
  },
)

test('a Redis with `appendfsync always` loses no acknowledged write when it is killed repeatedly', async () => {
  const redisArguments = ['--appendonly', 'yes', '--appendfsync', 'always']
  const { redis, nodes } = await startNodesOnWires({ redisArguments })
  const workload = await Workload.start(nodes)
  for (let round = 0; round < 5; round += 1) {
    await redis.kill()
    await pause(round * 250)
    expect(await redis.start()).toBe(true)
    await workload.hasWritten(30)
  }
  const seen = await workload.end()
  expect(seen).toMatchObject({ refused: 0, failedWrites: 0, commits: workload.history.sent })
  expect(nodes.map(({ log }) => log).join('')).not.toContain('another local replica')
})

const STOPPED_WHILE = [
  ['no background work is active', 'stopped', async () => {}],
  [
    'a purge is active',
    'background work failed',
    async (client: Client) => {
      const operations = Array.from({ length: 10_000 }, (_, n) => ({ key: `leaving-${n}` }))
      expect((await client.post(`${FACTS}/bulk/users`, { operations })).status).toBe(200)
      const tenants = [{ key: 'leaving', name: 'Leaving' }]
      expect((await client.post(`${FACTS}/bulk/tenants`, { operations: tenants })).status).toBe(200)
      const role = { key: 'guest', name: 'Guest' }
      expect((await client.post('/v2/schema/default/default/roles', role)).status).toBe(200)
      const assignments = operations.map(({ key }) => ({ user: key, role: 'guest', tenant: 'leaving' }))
      expect((await client.post(`${FACTS}/role_assignments/bulk`, assignments)).status).toBe(200)
      expect((await client.delete(`${FACTS}/tenants/leaving`)).status).toBe(204)
    },
  ],
] as const

test.each(STOPPED_WHILE)(
  'a shutdown responds to the waiting write and exits with 0 while Redis is frozen and %s',
  async (_what, evidence, begin) => {
    const { redis, nodes } = await startNodesOnWires({ nodes: 1 })
    const client = nodes[0]!.client!
    await begin(client)
    redis.freeze()
    const write = client.post(`${FACTS}/users`, { key: 'late' })
    while ((await Scrape.of(client.address)).sum('verdict_management_in_flight') !== 1) await pause(20)
    const from = performance.now()
    const code = nodes[0]!.stop()
    expect((await write).status).toBe(503)
    expect(await code, nodes[0]!.log).toBe(0)
    expect(performance.now() - from).toBeLessThan(9_000)
    expect(nodes[0]!.log).toContain(evidence)
    redis.thaw()
  },
)
