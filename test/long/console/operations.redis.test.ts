/** Page for operators with two nodes, and while Redis is unavailable. */
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '#testing/processes/redis-process.ts'
import type { Client } from '#testing/processes/running-service.ts'
import { consoleOf, look, sees, sharedChromium } from '../../support/console-page.ts'
import { startedNodes } from '../../support/nodes.ts'

const chromium = sharedChromium()

test('the page lists both nodes, marks the responding node, and shows that Redis is unavailable', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const [one] = (await startedNodes(redis, 2)) as [Client, Client]
  const page = await consoleOf(one.address, chromium)('operations', { refusals: [503] })
  const nodes = page.getByRole('table', { name: 'Nodes' })
  await expect.poll(() => nodes.getByRole('rowheader').count()).toBe(2)
  expect(await nodes.getByText('this node').count()).toBe(1)
  expect(await nodes.getByText('up to date').count()).toBe(2)
  await look(page, 'operations-two-nodes')

  // Decisions remain available, and the page shows no error.
  redis.freeze()
  await sees(page, 'not received')
  await sees(page, 'Some nodes might be missing')
  await sees(page, '✓ available')
  await sees(page, 'Message of the service: stale')
  await look(page, 'operations-without-redis')

  redis.thaw()
  await expect.poll(() => nodes.getByText('up to date').count()).toBe(2)
  await page.getByText('not received').waitFor({ state: 'detached' })
})
