/** A real Redis for tests: a new process, or the server at `TEST_REDIS_URL` with a new prefix. */
import { randomUUID } from 'node:crypto'
import { afterAll, onTestFinished } from 'vitest'
import { connect } from '#store/redis/link/redis-client.ts'
import { RedisLink } from '#store/redis/link/redis-link.ts'
import { parseRedisUrl } from '#store/redis/link/redis-url.ts'
import { HANG_MS } from '../hang.ts'
import { type RedisProcess, type RedisUnderTest, startRedis } from '#testing/processes/redis-process.ts'

/** The server for all tests of the current file. */
export async function sharedRedis(): Promise<RedisUnderTest> {
  const configured = process.env['TEST_REDIS_URL']
  if (configured !== undefined) return configuredServer(configured)
  const server = await startRedis()
  afterAll(() => server.stop())
  return server
}

/** Starts a server for the current test. */
export async function startedRedis(options: Parameters<typeof startRedis>[0] = {}): Promise<RedisProcess> {
  const server = await startRedis(options)
  onTestFinished(() => server.stop())
  return server
}

/** A link to the server at this URL. The caller must close the link. */
export async function openLink(url: string): Promise<RedisLink> {
  const link = new RedisLink(connect(parseRedisUrl(url), 'test'))
  await link.recovered(HANG_MS)
  return link
}

/** A link for administrative commands, for all tests of the current file. */
export async function sharedLink(redis: Pick<RedisUnderTest, 'url'>): Promise<RedisLink> {
  const link = await openLink(redis.url())
  afterAll(() => link.close())
  return link
}

/** A link for administrative commands, for the current test. */
export async function linkTo(redis: Pick<RedisUnderTest, 'url'>): Promise<RedisLink> {
  const link = await openLink(redis.url())
  onTestFinished(() => link.close())
  return link
}

function configuredServer(configured: string): RedisUnderTest {
  const { hostname, port } = new URL(configured)
  return {
    host: hostname,
    port: port === '' ? 6379 : Number(port),
    url: at => {
      const url = new URL(configured)
      if (at) url.host = `${at.host}:${at.port}`
      url.searchParams.set('prefix', randomUUID())
      return url.href
    },
  }
}
