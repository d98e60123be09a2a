/** `rediss://`: a Redis that accepts only TLS connections. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openStore } from '#store/open/open-store.ts'
import { describeNodes } from '../../service/nodes-contract.ts'
import { describeRedisLedger } from '../../store/redis/redis-ledger-contract.ts'
import { toyRule } from '../../store/toy-rows.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { makeCertificates, trustAuthority } from './certificates.ts'

const certificates = makeCertificates()
const redis = await startRedis({
  arguments: port => ['--port', '0', '--tls-port', String(port), ...certificates.serverArguments],
})
afterAll(async () => {
  await redis.stop()
  certificates.remove()
})
const url = () => `rediss://${redis.host}:${redis.port}?prefix=${randomUUID()}`

/** The untrusted store is opened first, because the whole process trusts the authority afterwards. */
const untrusted = await openStore(url(), toyRule, {
  dataDirectory: join(certificates.directory, 'untrusted'),
}).catch((error: unknown) => error)
trustAuthority(certificates.authority)

test('a server whose certificate has an unknown authority is rejected', async () => {
  expect(untrusted).toMatchObject({ code: 'STORE_UNAVAILABLE' })
  const store = await openStore(url(), toyRule, { dataDirectory: storeDirectory() })
  await store.close()
})

await describeRedisLedger('redis over TLS', url)
await describeNodes('redis over TLS', { url })
