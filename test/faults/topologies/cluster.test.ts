/** `redis+cluster://`: three servers share the keys. All keys of an environment are on the same server. */
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, expect, test } from 'vitest'
import { describeNodes } from '../../service/nodes-contract.ts'
import { describeRedisLedger } from '../../store/redis/redis-ledger-contract.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { startedNodes } from '../../support/nodes.ts'
import type { RedisProcess } from '#testing/processes/redis-process.ts'
import { ADMIN_KEY, type Client, neighbourOf, question } from '#testing/processes/running-service.ts'
import { NodeProcess } from '../support/node-process.ts'
import { TIMING } from '../support/nodes-on-wires.ts'
import { Workload } from '../support/workload.ts'
import { startCluster } from './cluster-process.ts'

/** Longer than a slow machine needs. The cluster itself needs 2 s until it serves again. */
const WRITTEN_MS_MAX = 30_000

const ENVS = '/v2/projects/default/envs'
const cluster = await startCluster()
afterAll(() => cluster.stop())
const { url } = cluster

/** Calls a function with a connection to a server. */
async function connectedTo<Result>(
  { host, port }: RedisProcess,
  use: (server: Redis) => Promise<Result>,
): Promise<Result> {
  const server = new Redis({ host, port })
  try {
    return await use(server)
  } finally {
    server.disconnect()
  }
}

test('environments are distributed over the servers, and all keys of an environment are on one server', async () => {
  const [client] = await startedNodes({ url }, 1)
  for (let index = 0; index < 30; index += 1) {
    const body = { key: `env-${index}`, name: `env-${index}` }
    const made = await client!.admin('POST', ENVS, body)
    expect(made.status, JSON.stringify(made.body)).toBe(200)
  }
  const keysOfServers = await Promise.all(
    cluster.nodes.map(node => connectedTo(node, server => server.keys('*'))),
  )
  const tags = keysOfServers.map(keys => new Set(keys.map(key => /\{(.+)\}/.exec(key)![1]!)))
  for (const each of tags) expect(each.size).toBeGreaterThan(0)
  const all = tags.flatMap(each => [...each])
  expect(new Set(all).size).toBe(all.length)
  // The total includes the organization, the default environment and the heartbeats of nodes.
  expect(all).toHaveLength(33)
})

test('servers of a cluster that are killed and restarted, even before it has recovered, cause no wrong response', async () => {
  const storeUrl = url()
  const nodes = await Promise.all(
    ['one', 'two'].map(name => NodeProcess.start(name, { storeUrl, settings: TIMING })),
  )
  const workload = await Workload.start(nodes)
  for (const server of [...cluster.nodes, ...cluster.nodes]) {
    await server.kill()
    expect(await server.start()).toBe(true)
    await workload.hasWritten(20, WRITTEN_MS_MAX)
  }
  await workload.end()
})

/** The server that stores the environment with this id. */
async function serverOf(id: string): Promise<RedisProcess> {
  for (const node of cluster.nodes) {
    const keys = await connectedTo(node, server => server.keys(`*{${id}}*`))
    if (keys.length > 0) return node
  }
  throw new Error(`no server stores ${id}`)
}

/** Creates an environment. Returns its API key and the server that stores it. */
async function createdEnvironment(client: Client, name: string) {
  const key = await neighbourOf(client, name)
  const { body } = await client.admin<{ id: string }>('GET', `${ENVS}/${name}`)
  return { key, server: await serverOf(body.id) }
}

test('an unavailable server of a cluster affects only its environments, on running and starting nodes', async () => {
  for (const node of cluster.nodes)
    await connectedTo(node, server => server.config('SET', 'cluster-require-full-coverage', 'no'))
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
    const { key, server } = await createdEnvironment(one, name)
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
  // An unavailable environment can be deleted.
  expect((await other.admin('DELETE', `${ENVS}/${unwanted}`)).status).toBe(204)
  await lost!.start()
  for (const node of [one, other]) {
    await until(200, node, away)
    await until(200, node, here)
  }
  await cluster.whenWhole()
})

test('a shutdown responds to the waiting write and exits with 0 while a server of the cluster is frozen', async () => {
  const settings = { ADMIN_API_KEY: ADMIN_KEY, STOP_DELAY_MS: '0' }
  const node = await NodeProcess.start('one', { storeUrl: url(), settings })
  const client = node.client!
  const main = await serverOf('organization')
  let [frozen, name, key] = [main, '', '']
  for (let made = 0; frozen === main; made += 1) {
    name = `env-${made}`
    const created = await createdEnvironment(client, name)
    key = created.key
    frozen = created.server
  }
  frozen.freeze()
  try {
    const write = client.send('POST', `/v2/facts/default/${name}/users`, { key, body: { key: 'late' } })
    while ((await Scrape.of(client.address)).sum('verdict_management_in_flight') !== 1) await pause(20)
    const from = performance.now()
    const code = node.stop()
    expect((await write).status).toBe(503)
    expect(await code, node.log).toBe(0)
    expect(performance.now() - from).toBeLessThan(9_000)
  } finally {
    frozen.thaw()
    // The following tests need a working cluster.
    await cluster.whenWhole()
  }
})

await describeRedisLedger('a redis cluster', url)
await describeNodes('a redis cluster', { url })
