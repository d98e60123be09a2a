/** Several services on one Redis, each with a data directory of its own, as containers behind a load balancer are. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import {
  type Client,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { pause } from '#testing/processes/pause.ts'
import type { RedisUnderTest } from '#testing/processes/redis-process.ts'

type Settings = NonNullable<Parameters<typeof startedService>[0]>

/** Starts so many nodes at once, for the present test, on a store that nobody else uses. */
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

/** Two nodes for all tests of the present file, on a store that nobody else uses. */
export async function sharedNodes(redis: Pick<RedisUnderTest, 'url'>): Promise<readonly [Client, Client]> {
  const storeUrl = redis.url()
  const start = (): Promise<Client> => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'verdict-node-'))
    afterAll(() => rmSync(dataDirectory, { recursive: true, force: true }))
    return sharedService({ storeUrl, dataDirectory })
  }
  return [await start(), await start()]
}

export const readiness = async (node: Client): Promise<number> => (await node.get('/ready')).status
export const freshness = async (node: Client): Promise<number> => (await node.get('/fresh')).status

/** Asks until that is the answer. */
export async function until(expected: number, ask: () => Promise<number>): Promise<void> {
  while ((await ask()) !== expected) await pause()
}
