/**
 * A node that is started while Redis is away: it decides by its local copies, as the one before it would have, no longer than
 * that one would have, and goes on as if nothing had been when Redis is back.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CuttingProxy } from '../../support/cutting-proxy.ts'
import { freshness, readiness, until } from '../../support/nodes.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { sharedRedis } from '../../support/redis-server.ts'
import {
  ADMIN_KEY,
  type Client,
  FACTS,
  question,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { pause } from '#testing/processes/pause.ts'

const redis = await sharedRedis()

/** Soon enough for a test; how long a start waits for Redis comes of the first one. */
const TIMING = { staleAfterMs: 300, maxStaleMs: 600_000 }

/** A node on a wire that can be cut, another one on the same store, and what alice may. */
async function nodeAndOther() {
  const proxy = await CuttingProxy.to(redis)
  const storeUrl = redis.url(proxy)
  const direct = new URL(storeUrl)
  direct.host = `${redis.host}:${redis.port}`
  const startOther = () => startedService({ storeUrl: direct.href, dataDirectory: storeDirectory() })
  const other = await startOther()
  const dataDirectory = storeDirectory()
  const node = await startedService({ ...TIMING, storeUrl, dataDirectory })
  await node.createDocumentModel()
  await node.users('alice')
  await node.assign('alice', 'viewer', 'document:plan')
  await until(200, () => freshness(node))
  return { proxy, node, other, startOther, dataDirectory, prefix: direct.searchParams.get('prefix')! }
}

async function decision(node: Client, key?: string): Promise<number> {
  const options = { body: question('alice', 'read', 'document:plan'), ...(key !== undefined && { key }) }
  return (await node.send('POST', '/allowed', options)).status
}

async function untilAllowed(node: Client, expected: boolean): Promise<void> {
  while ((await node.allows('alice', 'read', 'document:plan')) !== expected) await pause()
}

test('it decides, says that it is stale, and has what others changed when Redis is back', async () => {
  const { proxy, node, other } = await nodeAndOther()
  await node.close()
  proxy.cut()
  await revokeFromAlice(other)
  const alone = await node.restart()
  expect([await readiness(alone), await freshness(alone)]).toEqual([200, 503])
  // What it cannot have heard of, for as long as it may go on.
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

test('a copy that has not heard for MAX_STALE_MS is not decided by, and recovers when Redis is back', async () => {
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

test('an environment that was removed meanwhile, and a key that was revoked, are gone when Redis is back', async () => {
  const { proxy, node, other } = await nodeAndOther()
  const { id, key } = await environmentWithKey(other, 'removed')
  const revoked = await environmentWithKey(other, 'of-the-revoked-key')
  await until(200, () => decision(node, key))
  await until(200, () => decision(node, revoked.key))
  await until(200, () => freshness(node))
  await node.close()
  proxy.cut()
  expect((await other.send('DELETE', `/v2/projects/default/envs/${id}`, { key: ADMIN_KEY })).status).toBe(204)
  expect((await other.send('DELETE', `/v2/api-key/${revoked.keyId}`, { key: ADMIN_KEY })).status).toBe(204)
  const alone = await node.restart()
  expect([await decision(alone, key), await decision(alone, revoked.key)]).toEqual([200, 200])

  proxy.mend()
  await until(401, () => decision(alone, key))
  await until(401, () => decision(alone, revoked.key))
  expect(await alone.allows('alice', 'read', 'document:plan')).toBe(true)
})

test('an environment without a whole copy waits for Redis, and the others do not wait for it', async () => {
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
  const environment = await client.send<{ id: string }>('POST', '/v2/projects/default/envs', {
    key: ADMIN_KEY,
    body: { key: name, name },
  })
  const { id } = environment.body
  const made = await client.send<{ id: string; secret: string }>('POST', '/v2/api-key', {
    key: ADMIN_KEY,
    body: { project_id: 'default', environment_id: id },
  })
  expect(made.status, JSON.stringify(made.body)).toBe(200)
  return { id, keyId: made.body.id, key: made.body.secret }
}
