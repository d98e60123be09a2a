/**
 * Redis loses the rows of one environment. Every node closes this environment and serves the others. An
 * export from a node that still has a copy restores the environment.
 */
import { expect, test } from 'vitest'
import { type RedisKeys, redisKeys } from '#store/redis/link/redis-keys.ts'
import { parseRedisUrl } from '#store/redis/link/redis-url.ts'
import { contentOf, importInto } from '../../support/content.ts'
import { sharedLink, sharedRedis } from '../../support/processes/redis-server.ts'
import {
  API_KEY,
  type Client,
  FACTS,
  neighbourOf,
  question,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { pause } from '#testing/processes/pause.ts'

const redis = await sharedRedis()
const direct = await sharedLink(redis)

const READER = { user: 'alice', role: 'viewer', resource_instance: 'document:plan' }
const ENVIRONMENT = '/v2/projects/default/envs/default'

function decision(node: Client, key = API_KEY) {
  return node.send<{ allow?: boolean; message?: string }>('POST', '/allowed', {
    key,
    body: question('alice', 'read', 'document:plan'),
  })
}

/** Polls until the status is returned, which can take a moment. A rejection must state its reason. */
async function until(status: number, node: Client) {
  for (;;) {
    const answer = await decision(node)
    if (answer.status === status && !/at the moment/.test(answer.body.message ?? '')) return answer
    await pause()
  }
}

/** Grants alice access, creates another environment, and returns its key. */
async function filled(node: Client): Promise<string> {
  await node.createViewer('alice', 'document:plan')
  return neighbourOf(node, 'neighbour')
}

async function keysOf(node: Client, storeUrl: string): Promise<RedisKeys> {
  const { id } = (await node.admin<{ id: string }>('GET', ENVIRONMENT)).body
  return redisKeys(parseRedisUrl(storeUrl).prefix, id)
}

/** Two nodes on one store, and the key of another environment. */
async function filledNodes() {
  const storeUrl = redis.url()
  const start = () => startedService({ storeUrl, dataDirectory: storeDirectory(), staleAfterMs: 1_000 })
  const nodes = [await start(), await start()] as const
  const neighbour = await filled(nodes[0])
  for (const node of nodes) while ((await until(200, node)).body.allow !== true);
  return { storeUrl, start, nodes, neighbour }
}

/** Deletes the keys. Returns a function that restores them. */
async function lose(keys: readonly string[]): Promise<() => Promise<unknown>> {
  const kept = (await Promise.all(keys.map(key => direct.send('DUMP', key)))) as Buffer[]
  await direct.send('DEL', ...keys)
  return () => Promise.all(keys.map((key, index) => direct.send('RESTORE', key, 0, kept[index]!)))
}

test('an environment whose rows are lost is closed on every node and can be restored from an export', async () => {
  const { storeUrl, start, nodes, neighbour } = await filledNodes()
  const [one, other] = nodes
  await direct.send('DEL', (await keysOf(one, storeUrl)).rows)
  const revoked = await other.delete<{ title: string }>(`${FACTS}/role_assignments`, READER)
  expect(revoked).toMatchObject({ status: 503, body: { title: 'The store is damaged' } })
  for (const node of [...nodes, await start()]) {
    const refused = await until(503, node)
    expect(refused.body.message).toMatch(/closed on this node: the store lost a part of its data/)
    expect((await node.get('/ready')).status).toBe(200)
    expect((await decision(node, neighbour)).status).toBe(200)
  }

  const exported = await contentOf(one, `${ENVIRONMENT}/export`)
  await importInto(one, 'default', exported, API_KEY, 200, '?replace=true')
  for (const node of nodes) expect((await until(200, node)).body.allow).toBe(true)
  expect((await other.delete(`${FACTS}/role_assignments`, READER)).status).toBe(204)
  while ((await until(200, one)).body.allow !== false);
})

test('an environment without any key in Redis is closed on every node until it is restored or deleted', async () => {
  const { storeUrl, start, nodes, neighbour } = await filledNodes()
  const [one, other] = nodes
  const keys = await keysOf(one, storeUrl)
  const all = [keys.meta, keys.rows, keys.log, keys.ids]
  const restore = await lose(all)
  for (const node of [...nodes, await start()]) {
    const refused = await until(503, node)
    expect(refused.body.message).toMatch(/closed on this node: the store lost .* must be restored/)
    expect((await node.get('/ready')).status).toBe(200)
    expect((await decision(node, neighbour)).status).toBe(200)
    const environment = await node.admin<{ closed?: object }>('GET', ENVIRONMENT)
    expect(environment.body.closed).toBeDefined()
  }
  // No node has re-created the keys.
  expect(await direct.send('EXISTS', ...all)).toBe(0)
  expect((await other.delete(`${FACTS}/role_assignments`, READER)).status).toBe(503)
  const exported = await contentOf(one, `${ENVIRONMENT}/export`)
  expect(exported).toContain('alice')

  await restore()
  for (const node of nodes) expect((await until(200, node)).body.allow).toBe(true)

  await direct.send('DEL', ...all)
  for (const node of nodes) await until(503, node)
  expect((await one.admin('DELETE', ENVIRONMENT)).status).toBe(204)
  for (const node of nodes) {
    await until(401, node)
    expect((await decision(node, neighbour)).status).toBe(200)
  }
})

test('without the keys of the organization no node is ready, and a node with environments does not start', async () => {
  const storeUrl = redis.url()
  const dataDirectory = storeDirectory()
  const node = await startedService({ storeUrl, dataDirectory, staleAfterMs: 1_000 })
  await filled(node)
  const { meta, rows, log, ids } = redisKeys(parseRedisUrl(storeUrl).prefix, 'organization')
  const restore = await lose([meta, rows, log, ids])
  await until(503, node)
  expect((await node.get('/ready')).status).toBe(503)
  await node.close()
  await expect(startedService({ storeUrl, dataDirectory })).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  await restore()
  expect((await until(200, await startedService({ storeUrl, dataDirectory }))).body.allow).toBe(true)
})
