/** Starts on a Redis that has lost all its data. */
import { readdirSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
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

  // A node without a replica begins with an empty store, and the other nodes follow it.
  const first = await startedService({ ...settings, dataDirectory: storeDirectory() })
  const again = await startedService(settings)
  await first.createDocumentModel()
  await again.user('alice')
  await again.assign('alice', 'viewer', 'document:plan')
  const read = question('alice', 'read', 'document:plan')
  expect((await again.post('/allowed', read)).body).toMatchObject({ allow: true })
})
