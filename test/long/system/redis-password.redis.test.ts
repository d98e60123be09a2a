/** A Redis with a password, which stands in a file and not in the URL. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '#testing/processes/redis-process.ts'
import { API_KEY, storeDirectory } from '#testing/processes/running-service.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'

test('a service serves from a Redis whose password stands in a file; without it the start is refused', async () => {
  const redis = await startRedis({ arguments: ['--requirepass', 'p@ss/word?'] })
  onTestFinished(() => redis.stop())
  const cwd = storeDirectory()
  writeFileSync(join(cwd, 'password'), 'p@ss/word?\n')
  const env = { API_KEY, STORE_URL: `redis://127.0.0.1:${redis.port}`, HTTP_THREADS: '1' }
  const service = new ServiceProcess({ cwd, env: { ...env, REDIS_PASSWORD_FILE: 'password' } })
  onTestFinished(async () => void (await service.end('SIGKILL')))
  expect(await service.call('GET', '/v2/facts/default/default/tenants')).toMatchObject([{ key: 'default' }])
  await service.end('SIGTERM')
  const without = new ServiceProcess({ cwd: storeDirectory(), env })
  expect(await without.exited).toBe(1)
  expect(without.stderr).toContain('NOAUTH')
})
