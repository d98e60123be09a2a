/** `redis+cluster://`: three servers share the keys; those of an environment are together on one of them. */
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, expect, test } from 'vitest'
import { describeNodes } from '../../service/nodes-contract.ts'
import { describeRedisLedger } from '../../store/redis-ledger-contract.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { startedNodes } from '../../support/nodes.ts'
import type { RedisProcess } from '#testing/processes/redis-process.ts'
import { ADMIN_KEY, type Client, neighbourOf, question } from '#testing/processes/running-service.ts'
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
  // That of the organization, the first one, and what nodes say of themselves.
  expect(all).toHaveLength(33)
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

const ENVS = '/v2/projects/default/envs'

/** Which server keeps the environment of that id. */
async function serverOf(id: string): Promise<RedisProcess> {
  for (const server of cluster.nodes) {
    const client = new Redis({ host: server.host, port: server.port })
    const keys = await client.keys(`*{${id}}*`)
    client.disconnect()
    if (keys.length > 0) return server
  }
  throw new Error(`no server keeps ${id}`)
}

test('a server of the cluster that is away ends the decisions of its environments alone, on nodes that run and on those that start', async () => {
  for (const { host, port } of cluster.nodes) {
    const client = new Redis({ host, port })
    await client.config('SET', 'cluster-require-full-coverage', 'no')
    client.disconnect()
  }
  const settings = { ADMIN_API_KEY: ADMIN_KEY, STALE_AFTER_MS: '1000', MAX_STALE_MS: '4000' }
  const storeUrl = url()
  const one = (await NodeProcess.start('one', { storeUrl, settings })).client!
  const here: string[] = []
  const away: string[] = []
  const main = await serverOf('organization')
  let lost: RedisProcess | null = null
  let unwanted = ''
  for (let made = 0; here.length === 0 || away.length === 0; made += 1) {
    const name = `env-${made}`
    const key = await neighbourOf(one, name)
    const { body } = await one.send<{ id: string }>('GET', `${ENVS}/${name}`, { key: ADMIN_KEY })
    const server = await serverOf(body.id)
    if (server === main) here.push(key)
    else if (lost === null) [lost, unwanted] = [server, name]
    else if (server === lost) away.push(key)
  }
  const decisions = async (node: Client, keys: readonly string[]) => {
    const body = question('alice', 'read', 'document:plan')
    const statuses = keys.map(async key => (await node.send('POST', '/allowed', { key, body })).status)
    return [...new Set(await Promise.all(statuses))]
  }
  const until = async (status: number, node: Client, keys: readonly string[]) => {
    while (String(await decisions(node, keys)) !== String(status));
  }
  await lost!.kill()
  await until(503, one, away)
  const other = (await NodeProcess.start('other', { storeUrl, settings })).client!
  for (const node of [one, other]) {
    await until(200, node, here)
    expect(await decisions(node, away)).toEqual([503])
    while ((await node.get('/ready')).status !== 200);
  }
  // Who is waited for may be removed.
  expect((await other.send('DELETE', `${ENVS}/${unwanted}`, { key: ADMIN_KEY })).status).toBe(204)
  await lost!.start()
  for (const node of [one, other]) {
    await until(200, node, away)
    await until(200, node, here)
  }
  await cluster.whenWhole()
})

test('a stop while one server of the cluster is silent answers the write that waits for it, and ends as it should', async () => {
  const settings = { ADMIN_API_KEY: ADMIN_KEY, STOP_DELAY_MS: '0' }
  const node = await NodeProcess.start('one', { storeUrl: url(), settings })
  const client = node.client!
  const main = await serverOf('organization')
  let [silent, name, key] = [main, '', '']
  for (let made = 0; silent === main; made += 1) {
    name = `env-${made}`
    key = await neighbourOf(client, name)
    const { body } = await client.send<{ id: string }>('GET', `${ENVS}/${name}`, { key: ADMIN_KEY })
    silent = await serverOf(body.id)
  }
  silent.freeze()
  try {
    const write = client.send('POST', `/v2/facts/default/${name}/users`, { key, body: { key: 'late' } })
    while ((await Scrape.of(client.address)).sum('verdict_management_in_flight') !== 1) await pause(20)
    const from = performance.now()
    const code = node.stop()
    expect((await write).status).toBe(503)
    expect(await code, node.log).toBe(0)
    expect(performance.now() - from).toBeLessThan(9_000)
  } finally {
    silent.thaw()
    // What follows is of a cluster that serves.
    await cluster.whenWhole()
  }
})

await describeRedisLedger('a redis cluster', url)
await describeNodes('a redis cluster', { url })
