/** A Redis user with only the permissions that `docs/redis.md` requires, in a database other than 0. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { afterAll, expect, test } from 'vitest'
import { openStore } from '#store/open/open-store.ts'
import { describeNodes } from '../../service/nodes-contract.ts'
import { describeRedisLedger } from '../../store/redis/redis-ledger-contract.ts'
import { toyRule } from '../../store/toy-rows.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'

const DATABASE = 5
const PASSWORD = 'p:a/s@s%'

/** The documented permissions, for the prefixes of the tests. */
function documentedRights(): string[] {
  const text = readFileSync(new URL('../../../docs/redis.md', import.meta.url), 'utf8')
  const [, rights] = /ACL SETUSER verdict on >PASSWORD (.+)\n/.exec(text)!
  return rights!.replaceAll('verdict:', 'test-').split(' ')
}

const redis = await startRedis()
const admin = new Redis({ host: redis.host, port: redis.port, db: DATABASE })
await admin.call('ACL', 'SETUSER', 'verdict', 'on', `>${PASSWORD}`, ...documentedRights())
await admin.call('ACL', 'SETUSER', 'default', 'off')
afterAll(async () => {
  admin.disconnect()
  await redis.stop()
})
const urlWith = (password: string) =>
  `redis://verdict:${encodeURIComponent(password)}@${redis.host}:${redis.port}/${DATABASE}?prefix=test-${randomUUID()}`
const url = () => urlWith(PASSWORD)

test('the store uses the password and the database of its URL', async () => {
  const wrong = openStore(urlWith('wrong'), toyRule, { dataDirectory: storeDirectory() })
  await expect(wrong).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  const before = await admin.dbsize()
  const store = await openStore(url(), toyRule, { dataDirectory: storeDirectory() })
  await store.environment('somewhere')
  await store.close()
  expect(await admin.dbsize()).toBeGreaterThan(before)
})

await describeRedisLedger('redis with a restricted user', url)
await describeNodes('redis with a restricted user', { url })
