/** The Redis adapter against the ledger's contract. On every topology: `test/faults/topologies`. */
import { sharedRedis } from '../support/redis-server.ts'
import { describeRedisLedger } from './redis-ledger-contract.ts'

const redis = await sharedRedis()
await describeRedisLedger('redis', () => redis.url())
