/** `API_KEY` of several nodes is changed as docs/redis.md says: callers on a second key, then node after node. */
import { expect, test } from 'vitest'
import { sharedRedis } from '../../support/redis-server.ts'
import { ADMIN_KEY, API_KEY, storeDirectory } from '#testing/processes/running-service.ts'
import type { ServiceProcess } from '#testing/processes/service-process.ts'
import { clientOf, startedProcess } from '../../support/started-process.ts'

const redis = await sharedRedis()
const NEXT_API_KEY = 'the-next-key-of-the-operator'

interface Place {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

async function started({ cwd, env }: Place, apiKey: string): Promise<ServiceProcess> {
  const node = startedProcess({ ...env, API_KEY: apiKey }, { cwd })
  await node.address()
  return node
}

async function restarted(node: ServiceProcess, place: Place, apiKey: string): Promise<ServiceProcess> {
  expect(await node.end('SIGTERM')).toBe(0)
  return started(place, apiKey)
}

async function send<Body>(node: ServiceProcess, key: string, path: string, body?: object) {
  return (await clientOf(node)).send<Body>(body ? 'POST' : 'GET', path, { key, body })
}

/** What each node answers to each key. */
async function answers(nodes: readonly ServiceProcess[], ...keys: readonly string[]): Promise<number[]> {
  const asked = nodes.flatMap(node => keys.map(key => send(node, key, '/v2/api-key/scope')))
  return (await Promise.all(asked)).map(({ status }) => status)
}

test('API_KEY is changed node after node, and a second key is good on all of them all the while', async () => {
  const env = { STORE_URL: redis.url() }
  const [one, other] = [
    { cwd: storeDirectory(), env },
    { cwd: storeDirectory(), env },
  ]
  let first = await started(one, API_KEY)
  let second = await started(other, API_KEY)
  const made = { project_id: 'default', environment_id: 'default' }
  const { secret } = (await send<{ secret: string }>(first, ADMIN_KEY, '/v2/api-key', made)).body
  await expect.poll(() => answers([first, second], secret, API_KEY)).toEqual([200, 200, 200, 200])

  first = await restarted(first, one, NEXT_API_KEY)
  await expect.poll(() => answers([first, second], NEXT_API_KEY, API_KEY)).toEqual([200, 401, 200, 401])
  expect(await answers([first, second], secret)).toEqual([200, 200])

  // One that is started with the former key meanwhile brings that back, which callers of the second key do not feel.
  second = await restarted(second, other, API_KEY)
  await expect.poll(() => answers([first, second], NEXT_API_KEY, API_KEY)).toEqual([401, 200, 401, 200])
  expect(await answers([first, second], secret)).toEqual([200, 200])

  second = await restarted(second, other, NEXT_API_KEY)
  await expect.poll(() => answers([first, second], NEXT_API_KEY, API_KEY)).toEqual([200, 401, 200, 401])
  expect(await answers([first, second], secret)).toEqual([200, 200])
})
