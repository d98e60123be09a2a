/**
 * Grants that end on two nodes, when clocks differ, a node sleeps over the end, or Redis is away: nobody is allowed by one on any node
 * behind its end, by that node's clock, and it is removed once.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { AuditEntry } from '#model/wire/audit.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import { type Client, type Envelope, FACTS, question } from '#testing/processes/running-service.ts'
import { settableClock } from './support/clock-of-nodes.ts'
import { NodeProcess } from './support/node-process.ts'

const LATE_MS = 50
const ASSIGNMENTS = `${FACTS}/role_assignments`
const GRANT = { user: 'alice', role: 'viewer', resource_instance: 'document:d', tenant: 'default' }
const READ = question('alice', 'read', 'document:d', 'default')

interface TestedNode {
  readonly node: NodeProcess
  /** Sets its clock on the wall so far from the true one. */
  setClock(offsetMs: number): void
  now(): number
}

async function startNode(name: string, storeUrl: string): Promise<TestedNode> {
  const { settings, ...clock } = settableClock()
  return { node: await NodeProcess.start(name, { storeUrl, settings }), ...clock }
}

/** Two nodes on one Redis, with a model. */
async function startTwo() {
  const redis = await startRedis({ arguments: ['--appendonly', 'yes'] })
  onTestFinished(() => redis.stop())
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

/**
 * Asks without pause until `isOver`. What was allowed although it was asked for too late, in milliseconds behind the end by the clock of
 * the node; and whether the last answer was an allow.
 */
async function watch({ node, now }: TestedNode, end: number, isOver: () => boolean) {
  const late: number[] = []
  let last = false
  while (!isOver()) {
    const askedAt = now()
    last = await isAllowed(node.client!)
    if (last && askedAt > end + LATE_MS) late.push(askedAt - end)
  }
  return { late, last }
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
  'two clocks that are %d ms apart: each node ends a grant by its own, or sooner',
  async apart => {
    const { one, other } = await startTwo()
    other.setClock(apart)
    const end = Date.now() + 7_000
    await grantUntil(one, end)
    while (!(await isAllowed(other.node.client!))) await pause(5)
    const isOver = (): boolean => Math.min(one.now(), other.now()) > end + 1_000
    const seen = await Promise.all([one, other].map(each => watch(each, end, isOver)))
    expect(seen).toEqual([
      { late: [], last: false },
      { late: [], last: false },
    ])
    await whenRemoved(one)
    expect(await expiries(one)).toBe(1)
  },
)

test('a node that sleeps over the end allows nothing when it wakes, not even what was asked meanwhile', async () => {
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

test('a node that was down at the end, and finds no Redis when it starts, denies by its copy', async () => {
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

test('Redis is away at the end: both nodes deny in time, and the grant is removed once, when Redis is back', async () => {
  const { redis, one, other } = await startTwo()
  const end = Date.now() + 1_500
  await grantUntil(one, end)
  while (!(await isAllowed(other.node.client!))) await pause(5)
  redis.freeze()
  const isOver = (): boolean => Date.now() > end + 1_000
  const seen = await Promise.all([one, other].map(each => watch(each, end, isOver)))
  expect(seen).toEqual([
    { late: [], last: false },
    { late: [], last: false },
  ])
  redis.thaw()
  await whenRemoved(one)
  await whenRemoved(other)
  expect(await expiries(one)).toBe(1)
  for (const { node } of [one, other]) expect(await isAllowed(node.client!)).toBe(false)
})

test('a clock that is set forward ends a grant within a second, and set back at once it lets it be', async () => {
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
