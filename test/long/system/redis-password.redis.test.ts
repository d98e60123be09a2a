/** A Redis with a password that is stored in a file instead of the URL. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { startedRedis } from '../../support/processes/redis-server.ts'
import { startedProcess } from '../../support/processes/started-process.ts'

test('a service reads the password of Redis from a file, and does not start without it', async () => {
  const redis = await startedRedis({ arguments: ['--requirepass', 'p@ss/word?'] })
  const cwd = storeDirectory()
  writeFileSync(join(cwd, 'password'), 'p@ss/word?\n')
  const env = { STORE_URL: `redis://127.0.0.1:${redis.port}` }
  const service = startedProcess({ ...env, REDIS_PASSWORD_FILE: 'password' }, { cwd })
  expect(await service.call('GET', '/v2/facts/default/default/tenants')).toMatchObject([{ key: 'default' }])
  await service.end('SIGTERM')
  const without = startedProcess(env)
  expect(await without.exited).toBe(1)
  expect(without.stderr).toContain('NOAUTH')
})
