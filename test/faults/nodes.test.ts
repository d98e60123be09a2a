/** Nodes are killed, frozen or late while other nodes write. No acknowledged write is lost or outdated. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Client, FACTS, question, revisionOf } from '#testing/processes/running-service.ts'
import { isReady, type NodeProcess } from './support/node-process.ts'
import { STALE_MS_MAX, startNodesOnWires } from './support/nodes-on-wires.ts'
import { Workload } from './support/workload.ts'

test('a node that is killed during writes continues from its local replica, and each write is stored once', async () => {
  const { nodes } = await startNodesOnWires()
  const workload = await Workload.start(nodes)
  for (let round = 0; round < 4; round += 1) {
    await workload.hasWritten(20)
    await nodes[round % 2]!.kill()
    // The other node now accepts all writes, including retries of writes that the killed node received.
    await workload.hasWritten(10)
    await nodes[round % 2]!.startAgain()
  }
  const seen = await workload.end()
  expect(seen.commits).toBe(workload.history.sent)
})

test('a node that was frozen for longer than MAX_STALE_MS does not decide from its old state', async () => {
  const { nodes } = await startNodesOnWires()
  const [one, frozen] = nodes as [NodeProcess, NodeProcess]
  await one.client!.createDocumentModel()
  await one.client!.user('alice')
  await one.client!.assign('alice', 'viewer', 'document:plan')
  while (!(await frozen.client!.allows('alice', 'read', 'document:plan'))) await pause(10)
  frozen.freeze()
  const revoked = await one.client!.delete(`${FACTS}/role_assignments`, {
    user: 'alice',
    role: 'viewer',
    resource_instance: 'document:plan',
    tenant: 'default',
  })
  expect(revoked.status).toBe(204)
  await pause(STALE_MS_MAX)
  // The node receives these requests first when it continues.
  const asked = Array.from({ length: 50 }, () =>
    frozen.client!.post<{ allow: boolean }>('/allowed', question('alice', 'read', 'document:plan')),
  )
  await pause(200)
  frozen.thaw()
  for (const answer of await Promise.all(asked)) {
    if (answer.status === 200) expect(answer.body.allow).toBe(false)
    else expect(answer.status).toBe(503)
  }
  while (!(await isReady(frozen.client!))) await pause(10)
  expect(await frozen.client!.allows('alice', 'read', 'document:plan')).toBe(false)
})

test('each revision has exactly one writer if two nodes write the same entity for 30 s', async () => {
  const { nodes } = await startNodesOnWires()
  const [one, other] = nodes.map(({ client }) => client!) as [Client, Client]
  await one.createDocumentModel()
  await one.user('alice')
  await one.instance('document:plan')
  const held = { user: 'alice', role: 'viewer', resource_instance: 'document:plan', tenant: 'default' }
  const writes: { readonly sequence: number; readonly kind: 'granted' | 'revoked' }[] = []
  const until = performance.now() + 30_000
  let lost = 0
  const write = async (client: Client): Promise<void> => {
    for (let round = 0; performance.now() < until; round += 1) {
      const isGrant = round % 2 === 0
      const answer = await client.send(isGrant ? 'POST' : 'DELETE', `${FACTS}/role_assignments`, {
        body: held,
      })
      // 409 and 404: the other node committed first. 503: five attempts in a row failed because of conflicts.
      if (answer.status === 200 || answer.status === 204) {
        const sequence = Number(revisionOf(answer).split('.')[1])
        writes.push({ sequence, kind: isGrant ? 'granted' : 'revoked' })
      } else {
        expect([404, 409, 503]).toContain(answer.status)
        lost += 1
      }
    }
  }
  await Promise.all([write(one), write(one), write(other), write(other)])
  writes.sort((before, after) => before.sequence - after.sequence)
  expect(writes.length).toBeGreaterThan(30)
  expect(lost).toBeGreaterThan(0)
  expect(new Set(writes.map(({ sequence }) => sequence)).size).toBe(writes.length)
  const expected = writes.map((_, index) => (index % 2 === 0 ? 'granted' : 'revoked'))
  expect(writes.map(({ kind }) => kind)).toEqual(expected)
  const isHeld = writes.at(-1)!.kind === 'granted'
  for (const client of [one, other])
    expect(await client.allows('alice', 'read', 'document:plan')).toBe(isHeld)
})
