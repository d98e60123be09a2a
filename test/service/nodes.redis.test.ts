/** Two nodes on one Redis server. The tests of `test/faults/topologies` cover the other topologies. */
import { sharedRedis } from '../support/processes/redis-server.ts'
import { describeNodes } from './nodes-contract.ts'

await describeNodes('one server', await sharedRedis())
