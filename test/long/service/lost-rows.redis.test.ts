/**
 * What callers see when Redis has lost the rows of an environment: on every node that environment is closed, those that run and
 * those that start, and the others go on; what a node still has of it is the way to put it back.
 */
import { expect, test } from 'vitest'
import { type RedisKeys, redisKeys } from '#store/redis/redis-keys.ts'
import { parseRedisUrl } from '#store/redis/redis-url.ts'
import { contentOf, importInto } from '../../support/content.ts'
import { sharedLink, sharedRedis } from '../../support/redis-server.ts'
import {
  ADMIN_KEY,
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

/** Asks until that is the status, and, where it is refused, the reason is there, a moment later; returns that answer. */
async function until(status: number, node: Client) {
  for (;;) {
    const answer = await decision(node)
    if (answer.status === status && !/just now/.test(answer.body.message ?? '')) return answer
    await pause()
  }
}

/** Makes the question one that is allowed; returns the key of another environment. */
async function filled(node: Client): Promise<string> {
  await node.createDocumentModel()
  await node.users('alice')
  await node.instance('document:plan')
  await node.assign('alice', 'viewer', 'document:plan')
  return neighbourOf(node, 'neighbour')
}

async function keysOf(node: Client, storeUrl: string): Promise<RedisKeys> {
  const { id } = (await node.send<{ id: string }>('GET', ENVIRONMENT, { key: ADMIN_KEY })).body
  return redisKeys(parseRedisUrl(storeUrl).prefix, id)
}

test('an environment whose rows are lost is closed on every node, the others are not, and an export puts it back', async () => {
  const storeUrl = redis.url()
  const start = () => startedService({ storeUrl, dataDirectory: storeDirectory(), staleAfterMs: 1_000 })
  const nodes = [await start(), await start()]
  const [one, other] = nodes as [Client, Client]
  const neighbour = await filled(one)
  for (const node of nodes) while ((await until(200, node)).body.allow !== true);

  await direct.send('DEL', (await keysOf(one, storeUrl)).rows)
  const revoked = await other.delete<{ title: string }>(`${FACTS}/role_assignments`, READER)
  expect(revoked).toMatchObject({ status: 503, body: { title: 'The store is damaged' } })
  for (const node of [...nodes, await start()]) {
    const refused = await until(503, node)
    expect(refused.body.message).toMatch(/closed on this node: the store has lost a part of it/)
    expect((await node.get('/ready')).status).toBe(200)
    expect((await decision(node, neighbour)).status).toBe(200)
  }

  const exported = await contentOf(one, `${ENVIRONMENT}/export`)
  await importInto(one, 'default', exported, API_KEY, 200, '?replace=true')
  for (const node of nodes) expect((await until(200, node)).body.allow).toBe(true)
  expect((await other.delete(`${FACTS}/role_assignments`, READER)).status).toBe(204)
  while ((await until(200, one)).body.allow !== false);
})

test('an environment of which every key is lost is closed on every node, a fresh one too; the others go on, and it is put back or deleted', async () => {
  const storeUrl = redis.url()
  const start = () => startedService({ storeUrl, dataDirectory: storeDirectory(), staleAfterMs: 1_000 })
  const nodes = [await start(), await start()]
  const [one, other] = nodes as [Client, Client]
  const neighbour = await filled(one)
  for (const node of nodes) while ((await until(200, node)).body.allow !== true);

  const keys = await keysOf(one, storeUrl)
  const all = [keys.meta, keys.rows, keys.log, keys.ids]
  const kept = (await Promise.all(all.map(key => direct.send('DUMP', key)))) as Buffer[]
  await direct.send('DEL', ...all)
  for (const node of [...nodes, await start()]) {
    const refused = await until(503, node)
    expect(refused.body.message).toMatch(/closed on this node: the store has lost .* has to be restored/)
    expect((await node.get('/ready')).status).toBe(200)
    expect((await decision(node, neighbour)).status).toBe(200)
    const told = await node.send<{ closed?: object }>('GET', ENVIRONMENT, { key: ADMIN_KEY })
    expect(told.body.closed).toBeDefined()
  }
  // Nobody has begun it anew.
  expect(await direct.send('EXISTS', ...all)).toBe(0)
  expect((await other.delete(`${FACTS}/role_assignments`, READER)).status).toBe(503)
  const exported = await contentOf(one, `${ENVIRONMENT}/export`)
  expect(exported).toContain('alice')

  const restored = all.map((key, index) => direct.send('RESTORE', key, 0, kept[index]!))
  await Promise.all(restored)
  for (const node of nodes) expect((await until(200, node)).body.allow).toBe(true)

  await direct.send('DEL', ...all)
  for (const node of nodes) await until(503, node)
  expect((await one.send('DELETE', ENVIRONMENT, { key: ADMIN_KEY })).status).toBe(204)
  for (const node of nodes) {
    await until(401, node)
    expect((await decision(node, neighbour)).status).toBe(200)
  }
})

test('without any key of the organization no node is ready, and one that knows of its environments does not begin it anew', async () => {
  const storeUrl = redis.url()
  const dataDirectory = storeDirectory()
  const node = await startedService({ storeUrl, dataDirectory, staleAfterMs: 1_000 })
  await filled(node)
  const { meta, rows, log, ids } = redisKeys(parseRedisUrl(storeUrl).prefix, 'organization')
  const all = [meta, rows, log, ids]
  const kept = (await Promise.all(all.map(key => direct.send('DUMP', key)))) as Buffer[]
  await direct.send('DEL', ...all)
  await until(503, node)
  expect((await node.get('/ready')).status).toBe(503)
  await node.close()
  await expect(startedService({ storeUrl, dataDirectory })).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  await Promise.all(all.map((key, index) => direct.send('RESTORE', key, 0, kept[index]!)))
  expect((await until(200, await startedService({ storeUrl, dataDirectory }))).body.allow).toBe(true)
})
