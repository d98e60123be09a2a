/** A node that starts while Redis is unavailable decides from its local replicas. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cuttableStore, freshness, readiness, until } from '../../support/nodes.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { sharedRedis } from '../../support/processes/redis-server.ts'
import {
  type Client,
  FACTS,
  question,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { pause } from '#testing/processes/pause.ts'

const redis = await sharedRedis()
const ENVS = '/v2/projects/default/envs'

/** Short times for a test. The first one also determines how long a start waits for Redis. */
const TIMING = { staleAfterMs: 300, maxStaleMs: 600_000 }

/** A node on a connection that can be cut, another node on the same store, and a grant of alice. */
async function nodeAndOther() {
  const { proxy, storeUrl, directUrl } = await cuttableStore(redis)
  const other = await startedService({ storeUrl: directUrl, dataDirectory: storeDirectory() })
  const dataDirectory = storeDirectory()
  const node = await startedService({ ...TIMING, storeUrl, dataDirectory })
  await node.createViewer('alice', 'document:plan')
  await until(200, () => freshness(node))
  return { proxy, node, other, dataDirectory }
}

async function decision(node: Client, key?: string): Promise<number> {
  const options = { body: question('alice', 'read', 'document:plan'), ...(key !== undefined && { key }) }
  return (await node.send('POST', '/allowed', options)).status
}

async function untilAllowed(node: Client, expected: boolean): Promise<void> {
  while ((await node.allows('alice', 'read', 'document:plan')) !== expected) await pause()
}

test('a node that starts without Redis decides, reports that it is stale, and later catches up', async () => {
  const { proxy, node, other } = await nodeAndOther()
  await node.close()
  proxy.cut()
  await revokeFromAlice(other)
  const alone = await node.restart()
  expect([await readiness(alone), await freshness(alone)]).toEqual([200, 503])
  // The node cannot know of the revocation yet.
  expect(await alone.allows('alice', 'read', 'document:plan')).toBe(true)
  const scrape = await Scrape.of(alone.address)
  expect([scrape.sum('verdict_ready'), scrape.sum('verdict_fresh')]).toEqual([1, 0])
  expect((await alone.get<{ data: { key: string }[] }>(`${FACTS}/users`)).body.data).toHaveLength(1)
  const writing = alone.user('bob')

  proxy.mend()
  await untilAllowed(alone, false)
  await until(200, () => freshness(alone))
  expect((await writing).key).toBe('bob')
})

test('a node does not decide from a replica that is older than MAX_STALE_MS until Redis is back', async () => {
  const { proxy, node, other, dataDirectory } = await nodeAndOther()
  const { id, key } = await environmentWithKey(other, 'long-unheard')
  await until(200, () => decision(node, key))
  await until(200, () => freshness(node))
  await node.close()
  proxy.cut()
  const [copy] = readdirSync(dataDirectory).filter(name => name.startsWith(`${id}.`)) as [string]
  const file = join(dataDirectory, copy, 'heard')
  const noted = JSON.parse(readFileSync(file, 'utf8')) as { readonly wallMs: number }
  writeFileSync(file, JSON.stringify({ ...noted, wallMs: noted.wallMs - TIMING.maxStaleMs }))
  const alone = await node.restart()
  expect([await decision(alone), await decision(alone, key)]).toEqual([200, 503])

  proxy.mend()
  await until(200, () => decision(alone, key))
})

test('a deleted environment and a revoked key are rejected when Redis is back', async () => {
  const { proxy, node, other } = await nodeAndOther()
  const { id, key } = await environmentWithKey(other, 'removed')
  const revoked = await environmentWithKey(other, 'of-the-revoked-key')
  await until(200, () => decision(node, key))
  await until(200, () => decision(node, revoked.key))
  await until(200, () => freshness(node))
  await node.close()
  proxy.cut()
  expect((await other.admin('DELETE', `${ENVS}/${id}`)).status).toBe(204)
  expect((await other.admin('DELETE', `/v2/api-key/${revoked.keyId}`)).status).toBe(204)
  const alone = await node.restart()
  expect([await decision(alone, key), await decision(alone, revoked.key)]).toEqual([200, 200])

  proxy.mend()
  await until(401, () => decision(alone, key))
  await until(401, () => decision(alone, revoked.key))
  expect(await alone.allows('alice', 'read', 'document:plan')).toBe(true)
})

test('an environment without a complete replica waits for Redis, and the other environments do not', async () => {
  const { proxy, node, other, dataDirectory } = await nodeAndOther()
  const { id, key } = await environmentWithKey(other, 'without-a-copy')
  await until(200, () => decision(node, key))
  await until(200, () => freshness(node))
  await node.close()
  proxy.cut()
  for (const name of readdirSync(dataDirectory).filter(each => each.startsWith(`${id}.`)))
    rmSync(join(dataDirectory, name), { recursive: true })
  const alone = await node.restart()
  expect(await readiness(alone)).toBe(200)
  expect([await decision(alone), await decision(alone, key)]).toEqual([200, 503])

  proxy.mend()
  await until(200, () => decision(alone, key))
})

async function revokeFromAlice(client: Client): Promise<void> {
  const body = { user: 'alice', role: 'viewer', resource_instance: 'document:plan', tenant: 'default' }
  expect((await client.send('DELETE', `${FACTS}/role_assignments`, { body })).status).toBe(204)
}

async function environmentWithKey(client: Client, name: string) {
  const { body } = await client.admin<{ id: string }>('POST', ENVS, { key: name, name })
  const scope = { project_id: 'default', environment_id: body.id }
  const made = await client.createKey(scope)
  return { id: body.id, keyId: made.id, key: made.secret }
}
