/**
 * Expiring grants on two nodes with different clocks, pauses, or an unavailable Redis. No node allows a check
 * by a grant that has expired by the clock of this node. The grant is removed only once.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { AuditEntry } from '#model/wire/organization/audit.ts'
import { startedRedis } from '../support/processes/redis-server.ts'
import { type Client, type Envelope, FACTS, question } from '#testing/processes/running-service.ts'
import { settableClock } from './support/clock-of-nodes.ts'
import { NodeProcess } from './support/node-process.ts'

const LATE_MS = 50
const ASSIGNMENTS = `${FACTS}/role_assignments`
const GRANT = { user: 'alice', role: 'viewer', resource_instance: 'document:d', tenant: 'default' }
const READ = question('alice', 'read', 'document:d', 'default')

interface TestedNode {
  readonly node: NodeProcess
  setClock(offsetMs: number): void
  now(): number
}

async function startNode(name: string, storeUrl: string): Promise<TestedNode> {
  const { settings, ...clock } = settableClock()
  return { node: await NodeProcess.start(name, { storeUrl, settings }), ...clock }
}

async function startTwo() {
  const redis = await startedRedis({ arguments: ['--appendonly', 'yes'] })
  const storeUrl = redis.url()
  const one = await startNode('one', storeUrl)
  const other = await startNode('other', storeUrl)
  await one.node.client!.createDocumentModel()
  await one.node.client!.user('alice')
  return { redis, one, other }
}

async function grantUntil({ node }: TestedNode, end: number): Promise<void> {
  const body = { ...GRANT, expires_at: new Date(end).toISOString() }
  const { status } = await node.client!.post(ASSIGNMENTS, body)
  expect(status).toBeLessThan(300)
}

async function isAllowed(client: Client): Promise<boolean> {
  const { status, body } = await client.post<{ allow?: boolean }>('/allowed', READ)
  return status === 200 && body.allow === true
}

/** Makes checks until `isOver`. Each node must deny after the expiration time by its own clock. */
async function expectExpired(
  nodes: readonly TestedNode[],
  end: number,
  isOver: () => boolean,
): Promise<void> {
  const watched = nodes.map(async ({ node, now }) => {
    const late: number[] = []
    let last = false
    while (!isOver()) {
      const askedAt = now()
      last = await isAllowed(node.client!)
      if (last && askedAt > end + LATE_MS) late.push(askedAt - end)
    }
    expect({ late, last }).toEqual({ late: [], last: false })
  })
  await Promise.all(watched)
}

async function whenRemoved({ node }: TestedNode): Promise<void> {
  for (;;) {
    const { status, body } = await node.client!.get<unknown[]>(`${ASSIGNMENTS}?user=alice`)
    if (status === 200 && body.length === 0) return
    await pause(20)
  }
}

async function expiries({ node }: TestedNode): Promise<number> {
  const log = await node.client!.get<Envelope<AuditEntry>>(
    '/v2/audit-log/default/default?operation=expireGrants',
  )
  return log.body.total_count
}

test.each([5_000, -5_000])(
  'each node denies as soon as the grant has expired by its own clock, even if the clocks are %d ms apart',
  async apart => {
    const { one, other } = await startTwo()
    other.setClock(apart)
    const end = Date.now() + 7_000
    await grantUntil(one, end)
    while (!(await isAllowed(other.node.client!))) await pause(5)
    const isOver = (): boolean => Math.min(one.now(), other.now()) > end + 1_000
    await expectExpired([one, other], end, isOver)
    await whenRemoved(one)
    expect(await expiries(one)).toBe(1)
  },
)

test('a node that was paused when a grant expired denies all checks afterwards, including queued ones', async () => {
  const { one, other } = await startTwo()
  for (let round = 0; round < 5; round += 1) {
    const end = Date.now() + 600
    await grantUntil(one, end)
    while (!(await isAllowed(other.node.client!))) await pause(1)
    other.node.freeze()
    await pause(end - Date.now() + LATE_MS)
    const asked = Array.from({ length: 20 }, () => isAllowed(other.node.client!))
    other.node.thaw()
    expect((await Promise.all(asked)).filter(Boolean)).toEqual([])
    while (await isAllowed(one.node.client!)) await pause(1)
  }
  await whenRemoved(one)
})

test('a node that was down when a grant expired denies by its local replica if it starts without Redis', async () => {
  const { redis, one, other } = await startTwo()
  const end = Date.now() + 1_500
  await grantUntil(one, end)
  while (!(await isAllowed(other.node.client!))) await pause(5)
  await other.node.stop()
  await redis.kill()
  await pause(Math.max(0, end - Date.now()))
  const client = await other.node.startAgain()
  const answer = await client.post<{ allow: boolean }>('/allowed', READ)
  expect([answer.status, answer.body.allow]).toEqual([200, false])
  expect(await isAllowed(one.node.client!)).toBe(false)
  expect(await redis.start()).toBe(true)
  await whenRemoved(one)
  await whenRemoved(other)
  expect(await expiries(other)).toBe(1)
})

test('both nodes deny in time if Redis is unavailable when a grant expires, and later remove the grant only once', async () => {
  const { redis, one, other } = await startTwo()
  const end = Date.now() + 1_500
  await grantUntil(one, end)
  while (!(await isAllowed(other.node.client!))) await pause(5)
  redis.freeze()
  const isOver = (): boolean => Date.now() > end + 1_000
  await expectExpired([one, other], end, isOver)
  redis.thaw()
  await whenRemoved(one)
  await whenRemoved(other)
  expect(await expiries(one)).toBe(1)
  for (const { node } of [one, other]) expect(await isAllowed(node.client!)).toBe(false)
})

test('a grant expires within a second if the clock is set forward, and is not removed if it is set back', async () => {
  const { one, other } = await startTwo()
  const end = Date.now() + 3_600_000
  await grantUntil(one, end)
  while (!(await isAllowed(other.node.client!))) await pause(5)
  const from = performance.now()
  other.setClock(86_400_000)
  while (await isAllowed(other.node.client!)) await pause(1)
  expect(performance.now() - from).toBeLessThan(1_500)
  other.setClock(0)
  while (!(await isAllowed(other.node.client!))) await pause(20)
  expect(await isAllowed(one.node.client!)).toBe(true)
  expect(await expiries(one)).toBe(0)
})
