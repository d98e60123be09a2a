/** The clock of a machine is set forward or back by a day. Durations are not affected. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { ApiKey } from '#model/wire/organization/api-key.ts'
import { ADMIN_KEY, type Client, question } from '#testing/processes/running-service.ts'
import { settableClock } from './support/clock-of-nodes.ts'
import { isReady } from './support/node-process.ts'
import { type NodesOnWires, STALE_MS_MAX, startNodesOnWires, TIMING } from './support/nodes-on-wires.ts'
import { Workload } from './support/workload.ts'

const DAY_MS = 86_400_000
const JUMPS = [
  ['forward', DAY_MS],
  ['back', -DAY_MS],
] as const

async function nodesWithClock(): Promise<NodesOnWires & { readonly setClock: (offsetMs: number) => void }> {
  const { settings, setClock } = settableClock()
  const nodes = await startNodesOnWires({ settings: { ...settings, ADMIN_API_KEY: ADMIN_KEY } })
  return { ...nodes, setClock }
}

async function statusWith(client: Client, key: string): Promise<number> {
  return (await client.send('GET', '/v2/api-key/scope', { key })).status
}

test.each(JUMPS)(
  'a clock that is set %s by a day makes no node stale and loses no write',
  async (_, jump) => {
    const { nodes, setClock } = await nodesWithClock()
    const workload = await Workload.start(nodes)
    setClock(jump)
    await workload.hasWritten(50)
    // On a busy machine, a node can be stale for a moment. It must not be stale for a day.
    for (const { client } of nodes) while (!(await isReady(client!))) await pause(5)
    setClock(0)
    await workload.hasWritten(50)
    expect(await workload.end()).toMatchObject({ refused: 0, failedWrites: 0 })
  },
)

test.each(JUMPS)(
  'a node without Redis becomes stale and stops deciding in time if the clock is set %s by a day',
  async (_, jump) => {
    const { nodes, wires, setClock } = await nodesWithClock()
    const client = nodes[0]!.client!
    const decides = async () =>
      (await client.post('/allowed', question('alice', 'read', 'document'))).status === 200
    const cutAt = performance.now()
    for (const wire of wires) wire.cut()
    setClock(jump)
    while (await isReady(client)) await pause(5)
    expect(performance.now() - cutAt).toBeGreaterThan(Number(TIMING.STALE_AFTER_MS) / 2)
    while (await decides()) await pause(5)
    const tookMs = performance.now() - cutAt
    expect(tookMs).toBeGreaterThan(Number(TIMING.MAX_STALE_MS) - 500)
    expect(tookMs).toBeLessThan(STALE_MS_MAX + 1_000)
  },
)

test.each(JUMPS)('a rotated key keeps its overlap if the clock is set %s by a day', async (_, jump) => {
  const { nodes, setClock } = await nodesWithClock()
  const clients = nodes.map(({ client }) => client!)
  const [one] = clients as [Client]
  const scope = { object_type: 'org', access_level: 'admin' }
  const created = await one.admin<ApiKey>('POST', '/v2/api-key', scope)
  expect(created.status, JSON.stringify(created.body)).toBe(200)
  const overlapMs = 4_000
  const sentAt = performance.now()
  const rotated = await one.admin<ApiKey>('POST', `/v2/api-key/${created.body.id}/rotate-secret`, {
    overlap_seconds: overlapMs / 1_000,
  })
  expect(rotated.status, JSON.stringify(rotated.body)).toBe(200)
  const rotatedAt = performance.now()
  for (const client of clients)
    while ((await statusWith(client, rotated.body.secret!)) !== 200) await pause(5)
  setClock(jump)
  // Creating another key sends all keys to every thread again.
  await one.admin('POST', '/v2/api-key', scope)
  for (const client of clients) expect(await statusWith(client, created.body.secret!)).toBe(200)
  for (const client of clients)
    while ((await statusWith(client, created.body.secret!)) === 200) await pause(5)
  const endedAt = performance.now()
  expect(endedAt - sentAt).toBeGreaterThan(overlapMs - 50)
  expect(endedAt - rotatedAt).toBeLessThan(2 * overlapMs)
  for (const client of clients) expect(await statusWith(client, rotated.body.secret!)).toBe(200)
})
