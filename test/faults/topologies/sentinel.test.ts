/** `redis+sentinel://`: nodes ask sentinels for the primary and follow a failover automatically. */
import { afterAll, expect, test } from 'vitest'
import { describeNodes } from '../../service/nodes-contract.ts'
import { describeRedisLedger } from '../../store/redis/redis-ledger-contract.ts'
import { NodeProcess } from '../support/node-process.ts'
import { TIMING } from '../support/nodes-on-wires.ts'
import { Workload } from '../support/workload.ts'
import { startSentinels } from './sentinel-processes.ts'

const system = await startSentinels()
afterAll(() => system.stop())
const { url } = system

await describeRedisLedger('redis behind sentinels', url)
await describeNodes('redis behind sentinels', { url })

// This test is the last one in the file, because the failover leaves no replica.
test('after a failover, nodes continue with the new primary without a restart or a loss', async () => {
  const storeUrl = url()
  const nodes = await Promise.all(
    ['one', 'two'].map(name => NodeProcess.start(name, { storeUrl, settings: TIMING })),
  )
  const workload = await Workload.start(nodes)
  // Writes that the replica has not received would be lost. Another test covers this loss.
  await workload.stopWriting()
  await system.hasSynced()
  await system.primary.kill()
  await system.hasFailedOver()
  workload.goOnWriting()
  await workload.hasWritten(50)
  await workload.end()
  for (const { log } of nodes) expect(log).not.toContain('another local replica')
})
