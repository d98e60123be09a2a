/**
 * The index of one node cannot apply a commit of another node, for example because of different releases. The
 * first node closes the environment, even after a restart, until a node removes the entity of this commit.
 */
import { expect, test } from 'vitest'
import { sharedRedis } from '../../support/processes/redis-server.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { startedProcess } from '../../support/processes/started-process.ts'
import { KEYS, ThreeEnvironments, withoutCopyOf, withoutRoomFor } from './three-environments.ts'

const redis = await sharedRedis()

async function startNode(cwd: string, storeUrl: string, env: Readonly<Record<string, string>> = {}) {
  return ThreeEnvironments.of(startedProcess({ ...KEYS, STORE_URL: storeUrl, ...env }, { cwd }))
}

test('a node closes only the environment whose commit its index cannot apply, until another node repairs it', async () => {
  const storeUrl = redis.url()
  const narrow = withoutRoomFor('too many')
  const [wideDirectory, narrowDirectory] = [storeDirectory(), storeDirectory()]
  const wide = await startNode(wideDirectory, storeUrl)
  const first = await startNode(narrowDirectory, storeUrl, narrow)
  const stop = first.keepAsking('default', 'third')
  expect((await wide.addUser('second', 'too many')).status).toBe(200)
  // Threads receive the reason a moment after they stop deciding.
  await expect
    .poll(async () => (await first.decision('second')).body.message, { interval: 1 })
    .toMatch(/the index holds no more users/)
  expect((await first.decision('second')).status).toBe(503)
  expect(await first.isReady()).toBe(true)
  expect(await wide.decisions()).toEqual([true, true, true])
  expect((await stop()).refused).toEqual([])
  await first.end('SIGKILL')

  const again = await startNode(narrowDirectory, storeUrl, narrow)
  expect(await again.decisions()).toEqual([true, 503, true])
  // Readiness requires only the open environments to be caught up.
  expect(await again.isReady()).toBe(true)
  expect(await again.closedByMetrics()).toEqual(['second'])
  const exported = await again.exported('second')
  expect([exported.status, exported.body.includes('"too many"')]).toEqual([200, true])
  expect((await wide.removeUser('second', 'too many')).status).toBe(204)
  await again.whenOpen('second')
  expect(await again.decisions()).toEqual([true, true, true])
  expect((await again.environment('second')).closed).toBeUndefined()
})

test('a node that cannot write a commit to its local replica loads another replica and keeps running', async () => {
  const storeUrl = redis.url()
  const sound = await startNode(storeDirectory(), storeUrl)
  const broken = await startNode(storeDirectory(), storeUrl, withoutCopyOf('unreadable'))
  const stop = broken.keepAsking('default', 'third')
  expect((await sound.addUser('second', 'unreadable')).status).toBe(200)
  await broken.logMatch(/an environment cannot follow its store/)
  await broken.logMatch(/another local replica is in use/)
  await broken.whenOpen('second')
  const user = await broken.manage('GET', '/v2/facts/default/second/users/unreadable')
  expect([user.status, await broken.decisions()]).toEqual([200, [true, true, true]])
  expect((await stop()).refused).toEqual([])
  expect(await broken.end('SIGTERM')).toBe(0)
})
