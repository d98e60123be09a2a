/** Rotation of `API_KEY` on several nodes, as docs/redis.md describes it. */
import { expect, test } from 'vitest'
import { sharedRedis } from '../../support/processes/redis-server.ts'
import { ADMIN_KEY, API_KEY, storeDirectory } from '#testing/processes/running-service.ts'
import type { ServiceProcess } from '#testing/processes/service-process.ts'
import { clientOf, startedProcess } from '../../support/processes/started-process.ts'

const redis = await sharedRedis()
const NEXT_API_KEY = 'the-next-key-of-the-operator'

async function started(cwd: string, storeUrl: string, apiKey: string): Promise<ServiceProcess> {
  const node = startedProcess({ STORE_URL: storeUrl, API_KEY: apiKey }, { cwd })
  await node.address()
  return node
}

async function send<Body>(node: ServiceProcess, key: string, path: string, body?: object) {
  return (await clientOf(node)).send<Body>(body ? 'POST' : 'GET', path, { key, body })
}

/** Status of each node for each key. */
async function answers(nodes: readonly ServiceProcess[], ...keys: readonly string[]): Promise<number[]> {
  const asked = nodes.flatMap(node => keys.map(key => send(node, key, '/v2/api-key/scope')))
  return (await Promise.all(asked)).map(({ status }) => status)
}

test('while API_KEY is changed on one node after another, a second key is valid on all nodes', async () => {
  const [storeUrl, one, other] = [redis.url(), storeDirectory(), storeDirectory()]
  const restarted = async (node: ServiceProcess, cwd: string, apiKey: string) => {
    expect(await node.end('SIGTERM')).toBe(0)
    return started(cwd, storeUrl, apiKey)
  }
  let first = await started(one, storeUrl, API_KEY)
  let second = await started(other, storeUrl, API_KEY)
  const made = { project_id: 'default', environment_id: 'default' }
  const { secret } = (await send<{ secret: string }>(first, ADMIN_KEY, '/v2/api-key', made)).body
  await expect.poll(() => answers([first, second], secret, API_KEY)).toEqual([200, 200, 200, 200])

  first = await restarted(first, one, NEXT_API_KEY)
  await expect.poll(() => answers([first, second], NEXT_API_KEY, API_KEY)).toEqual([200, 401, 200, 401])
  expect(await answers([first, second], secret)).toEqual([200, 200])

  // A node that starts with the former key restores it. This does not affect callers with the second key.
  second = await restarted(second, other, API_KEY)
  await expect.poll(() => answers([first, second], NEXT_API_KEY, API_KEY)).toEqual([401, 200, 401, 200])
  expect(await answers([first, second], secret)).toEqual([200, 200])

  second = await restarted(second, other, NEXT_API_KEY)
  await expect.poll(() => answers([first, second], NEXT_API_KEY, API_KEY)).toEqual([200, 401, 200, 401])
  expect(await answers([first, second], secret)).toEqual([200, 200])
})
