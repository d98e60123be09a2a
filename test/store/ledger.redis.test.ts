/**
 * The Redis adapter and the ledger contract. The tests of `test/faults/topologies` cover the other
 * topologies.
 */
import { sharedRedis } from '../support/redis-server.ts'
import { describeRedisLedger } from './redis-ledger-contract.ts'

const redis = await sharedRedis()
await describeRedisLedger('redis', () => redis.url())
