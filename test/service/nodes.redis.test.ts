/** Two nodes on one Redis. On every topology: `test/faults/topologies`. */
import { sharedRedis } from '../support/redis-server.ts'
import { describeNodes } from './nodes-contract.ts'

await describeNodes('one server', await sharedRedis())
