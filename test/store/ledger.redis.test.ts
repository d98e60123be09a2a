/** The Redis adapter on one server. `test/faults/topologies` covers the other topologies. */
import { sharedRedis } from '../support/redis-server.ts'
import { describeRedisLedger } from './redis-ledger-contract.ts'

const redis = await sharedRedis()
await describeRedisLedger('redis', () => redis.url())
