/** `redis+sentinel://`: the sentinels say which server takes writes, and nodes follow a failover by themselves. */
import { afterAll, expect, test } from 'vitest'
import { describeNodes } from '../../service/nodes-contract.ts'
import { describeRedisLedger } from '../../store/redis-ledger-contract.ts'
import { NodeProcess } from '../support/node-process.ts'
import { STALE_MS_MAX, TIMING } from '../support/nodes-on-wires.ts'
import { Workload } from '../support/workload.ts'
import { startSentinels } from './sentinel-processes.ts'

const system = await startSentinels()
afterAll(() => system.stop())
const { url } = system

await describeRedisLedger('redis behind sentinels', url)
await describeNodes('redis behind sentinels', { url })

// The last one: behind it there is no replica any more.
test('after a failover nodes go on with the new primary, with everything, without a restart', async () => {
  const storeUrl = url()
  const nodes = await Promise.all(
    ['one', 'two'].map(name => NodeProcess.start(name, { storeUrl, settings: TIMING })),
  )
  const workload = await Workload.start(nodes, { staleMsMax: STALE_MS_MAX })
  // A replica follows behind: what it lacks when the primary dies is lost, which is another test's matter.
  await workload.stopWriting()
  await system.hasSynced()
  await system.primary.kill()
  await system.hasFailedOver()
  workload.goOnWriting()
  await workload.hasWritten(50)
  await workload.end()
  for (const { log } of nodes) expect(log).not.toContain('another copy')
})
