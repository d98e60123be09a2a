/** Starts on a Redis that has lost all its data. */
import { readdirSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { HANG_MS } from '../support/hang.ts'
import { sharedLink } from '../support/processes/redis-server.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import { question, startedService, storeDirectory } from '#testing/processes/running-service.ts'

const redis = await startRedis()
afterAll(() => redis.stop())
const direct = await sharedLink(redis)

test('a node does not start on an emptied Redis whose data it has replicated, and keeps the replica', async () => {
  const settings = { storeUrl: redis.url(), dataDirectory: storeDirectory() }
  const node = await startedService(settings)
  await node.createViewer('alice', 'document:plan')
  await node.close()
  const replicas = readdirSync(settings.dataDirectory).toSorted()
  await direct.send('FLUSHALL')
  await expect(startedService(settings)).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
    message: expect.stringMatching(/^Redis is empty, but .* restore Redis, or start with another DATA_DIR/),
  })
  expect(readdirSync(settings.dataDirectory).toSorted()).toEqual(replicas)
  expect(await direct.send('DBSIZE')).toBe(0)

  // A node without a replica begins with an empty store if it does not wait for other nodes, and the other
  // nodes follow it.
  const first = await startedService({ ...settings, dataDirectory: storeDirectory() })
  const again = await startedService(settings)
  await first.createDocumentModel()
  await again.user('alice')
  await again.assign('alice', 'viewer', 'document:plan')
  const read = question('alice', 'read', 'document:plan')
  expect((await again.post('/allowed', read)).body).toMatchObject({ allow: true })
})

test('a node without a replica begins no store on an emptied Redis that another node uses', async () => {
  const settings = { storeUrl: redis.url(), newStoreWaitMs: HANG_MS }
  const running = await startedService({ ...settings, newStoreWaitMs: 100, dataDirectory: storeDirectory() })
  await running.createViewer('alice', 'document:plan')
  await direct.send('FLUSHALL')
  await expect(startedService({ ...settings, dataDirectory: storeDirectory() })).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
    message: expect.stringMatching(/^Redis is empty, but other nodes run with it: .* NEW_STORE_WAIT_MS=0/),
  })
  expect(await direct.send('KEYS', '*:meta')).toEqual([])
})

test('nodes that start at the same time on a new Redis use one store', async () => {
  const settings = { storeUrl: redis.url(), newStoreWaitMs: 500 }
  const starts = [1, 2, 3].map(() => startedService({ ...settings, dataDirectory: storeDirectory() }))
  const [first, ...others] = await Promise.all(starts)
  await first!.createViewer('alice', 'document:plan')
  const revision = await first!.revision()
  for (const node of others) {
    const body = question('alice', 'read', 'document:plan')
    const answer = await node.send('POST', '/allowed', { body, headers: { 'x-min-revision': revision } })
    expect(answer.body).toMatchObject({ allow: true })
  }
})
