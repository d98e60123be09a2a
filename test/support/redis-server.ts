/**
 * A real Redis for tests: a process of its own, gone with the test file that started it. `TEST_REDIS_URL` names a server to
 * use in its place. Everything lies under a prefix of the test's own.
 */
import { randomUUID } from 'node:crypto'
import { afterAll } from 'vitest'
import { type RedisUnderTest, startRedis } from '#testing/processes/redis-process.ts'

/** The server for all tests of the present file. */
export async function sharedRedis(): Promise<RedisUnderTest> {
  const configured = process.env['TEST_REDIS_URL']
  if (configured !== undefined) return configuredServer(configured)
  const server = await startRedis()
  afterAll(() => server.stop())
  return server
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
