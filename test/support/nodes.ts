/** Several services on one Redis, each with its own data directory, like containers behind a balancer. */
import {
  type Client,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { CuttingProxy } from './processes/cutting-proxy.ts'
import { pause } from '#testing/processes/pause.ts'
import type { RedisUnderTest } from '#testing/processes/redis-process.ts'
import { sharedDirectory } from './processes/temporary-directories.ts'

type Settings = NonNullable<Parameters<typeof startedService>[0]>

/** Starts nodes concurrently, for the current test, on a new store. */
export async function startedNodes(
  redis: Pick<RedisUnderTest, 'url'>,
  count: number,
  settings: Settings = {},
): Promise<Client[]> {
  const storeUrl = redis.url()
  return Promise.all(
    Array.from({ length: count }, () =>
      startedService({ storeUrl, dataDirectory: storeDirectory(), ...settings }),
    ),
  )
}

/** Two nodes for all tests of the current file, on a new store. */
export async function sharedNodes(redis: Pick<RedisUnderTest, 'url'>): Promise<readonly [Client, Client]> {
  const storeUrl = redis.url()
  const start = () => sharedService({ storeUrl, dataDirectory: sharedDirectory() })
  return [await start(), await start()]
}

/** A new store for the current test, with a direct URL and a URL that leads through a proxy. */
export async function cuttableStore(redis: RedisUnderTest) {
  const proxy = await CuttingProxy.to(redis)
  const storeUrl = redis.url(proxy)
  const direct = new URL(storeUrl)
  direct.host = `${redis.host}:${redis.port}`
  return { proxy, storeUrl, directUrl: direct.href }
}

export const readiness = async (node: Client): Promise<number> => (await node.get('/ready')).status
export const freshness = async (node: Client): Promise<number> => (await node.get('/fresh')).status

/** Polls until `ask` returns the expected number. */
export async function until(expected: number, ask: () => Promise<number>): Promise<void> {
  while ((await ask()) !== expected) await pause()
}
