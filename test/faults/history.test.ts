/**
 * Redis comes back with another history: an empty, an older or a diverged one. Nodes replace their state
 * completely, and log and count this. No decision mixes two histories. While the history is empty, nodes do
 * not decide.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CuttingProxy } from '../support/processes/cutting-proxy.ts'
import { startedRedis } from '../support/processes/redis-server.ts'
import { ADMIN_KEY } from '#testing/processes/running-service.ts'
import type { RedisProcess } from '#testing/processes/redis-process.ts'
import { isReady, NodeProcess } from './support/node-process.ts'
import { type NodesOnWires, orders, startNodesOnWires } from './support/nodes-on-wires.ts'
import { grantBoth, makeModel, Watch } from './support/watch.ts'

const USERS = ['kept', 'lost', 'fresh']

/** Starts nodes and creates the user `kept`, who also exists in the other history. */
async function startedWithKept(
  redisArguments: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<NodesOnWires> {
  const system = await startNodesOnWires({ redisArguments, settings })
  const client = await system.nodes[0]!.serving()
  await makeModel(client)
  await grantBoth(client, 'kept')
  return system
}

async function loseUser({ nodes }: NodesOnWires): Promise<Watch> {
  await grantBoth(await nodes[1]!.serving(), 'lost')
  const watch = new Watch(nodes, USERS)
  await watch.until('kept and lost')
  watch.forget()
  return watch
}

/** Waits until each node has logged the replacement of a history, for the organization or the environment. */
async function haveReplaced({ nodes }: NodesOnWires): Promise<void> {
  for (const node of nodes) {
    await node.logMatch(/"reason":"STORE_RESET"/)
    await node.logMatch(/"replacedHistories":[12],.*another local replica is in use/)
  }
}

async function expectReady({ nodes }: NodesOnWires): Promise<void> {
  const until = performance.now() + 30_000
  for (const node of nodes) {
    const client = await node.serving()
    while (!(await isReady(client).catch(() => expect.fail(node.log)))) {
      expect(performance.now(), node.log).toBeLessThan(until)
      await pause(20)
    }
  }
}

const losses: readonly [string, (redis: RedisProcess) => Promise<unknown>][] = [
  ['FLUSHALL', redis => orders(redis).call('FLUSHALL')],
  ['a restart without its data', redis => redis.kill().then(() => redis.start())],
]

test.each(losses)(
  'after %s, no node decides until a node that starts creates a new history, which all nodes follow',
  async (_, lose) => {
    const system = await startedWithKept()
    const watch = await loseUser(system)
    await lose(system.redis)
    await watch.until('503')
    for (const { client } of system.nodes) expect(await isReady(client!)).toBe(false)
    expect(watch.decidedBy()).toEqual([['kept and lost'], ['kept and lost']])
    for (const node of system.nodes) await node.logMatch(/"standing":"emptied"/)
    // Writes do not create a new history.
    const refused = await system.nodes[0]!.client!.post('/v2/facts/default/default/users', {
      key: 'too-soon',
    })
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)

    const late = await system.add()
    await expectReady(system)
    await makeModel(late.client!)
    await grantBoth(system.nodes[0]!.client!, 'fresh')
    await watch.until('fresh')
    expect(watch.decidedBy()).toEqual([
      ['kept and lost', '', 'fresh'],
      ['kept and lost', '', 'fresh'],
    ])
    await haveReplaced({ ...system, nodes: system.nodes.slice(0, 2) })
  },
)

test('every node completely adopts a restored Redis backup without the last writes, and continues from it', async () => {
  const system = await startedWithKept()
  await orders(system.redis).call('SAVE')
  const watch = await loseUser(system)
  await system.redis.kill()
  expect(await system.redis.start()).toBe(true)
  await watch.until('kept')
  await grantBoth(system.nodes[1]!.client!, 'fresh')
  await watch.until('kept and fresh')
  const states = ['kept and lost', 'kept', 'kept and fresh']
  expect(watch.decidedBy()).toEqual([states, states])
  await expectReady(system)
  await haveReplaced(system)
})

test('after a former history has been restored, nodes that left it accept changes of the organization', async () => {
  const settings = { ADMIN_API_KEY: ADMIN_KEY }
  const system = await startedWithKept([], settings)
  await orders(system.redis).call('SAVE')
  const watch = new Watch(system.nodes, USERS)
  await orders(system.redis).call('FLUSHALL')
  await watch.until('503')
  const late = await system.add()
  await makeModel(late.client!)
  await grantBoth(late.client!, 'fresh')
  await watch.until('fresh')
  await system.redis.kill()
  expect(await system.redis.start()).toBe(true)
  await watch.until('kept')

  const body = { key: 'restored', name: 'Restored' }
  const made = await system.nodes[0]!.client!.send('POST', '/v2/projects', { body, key: ADMIN_KEY })
  expect(made).toMatchObject({ status: 200 })
})

test('no node mixes two histories after a failover to a replica that lost the last writes and accepted others', async () => {
  const system = await startedWithKept()
  const { redis, wires } = system
  const wire = await CuttingProxy.to(redis)
  const replica = await startedRedis({ arguments: ['--replicaof', wire.host, String(wire.port)] })
  await hasSynced(replica)
  wire.cut()
  const watch = await loseUser(system)
  for (const each of wires) each.cut()
  await redis.kill()
  await orders(replica).call('REPLICAOF', 'NO', 'ONE')
  // The new history repeats the sequence numbers of the lost commits, and then continues.
  const storeUrl = `redis://${replica.host}:${replica.port}?prefix=${system.prefix}`
  const late = await NodeProcess.start('late', { storeUrl })
  await grantBoth(late.client!, 'fresh')
  for (let index = 0; index < 5; index += 1) await late.client!.user(`more-${index}`)
  for (const each of wires) each.leadTo(replica)
  await watch.until('kept and fresh')
  const states = ['kept and lost', 'kept and fresh']
  expect(watch.decidedBy()).toEqual([states, states])
  await expectReady(system)
  await haveReplaced(system)
})

async function hasSynced(replica: RedisProcess): Promise<void> {
  const server = orders(replica)
  while (!String(await server.info('replication')).includes('master_link_status:up')) await pause(20)
  expect(await server.dbsize()).toBeGreaterThan(0)
}
