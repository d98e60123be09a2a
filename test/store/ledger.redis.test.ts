/** The Redis adapter on one server. `test/faults/topologies` covers the other topologies. */
import { sharedRedis } from '../support/processes/redis-server.ts'
import { describeRedisLedger } from './redis/redis-ledger-contract.ts'

const redis = await sharedRedis()
await describeRedisLedger('redis', () => redis.url())
