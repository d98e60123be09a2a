/** Several services on one Redis, each with a data directory of its own, as containers behind a load balancer are. */
import { type Client, startedService, storeDirectory } from '#testing/processes/running-service.ts'
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
