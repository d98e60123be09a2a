/** Sessions on two nodes with one Redis (administration.md S3, C7): no sticky sessions are necessary. */
import { expect, test } from 'vitest'
import type { Client } from '#testing/processes/running-service.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { regrant, sendIn, type SignedIn, SIGN_IN, signedIn } from '#testing/requests/member-sessions.ts'
import { startedNodes } from '../../support/nodes.ts'
import { sharedRedis } from '../../support/processes/redis-server.ts'

const redis = await sharedRedis()
const USERS = '/v2/facts/default/default/users'

/** Revision of the organization on a node. */
async function revisionOf(node: Client): Promise<string> {
  return (await node.admin('GET', '/v2/projects')).headers.get('x-revision')!
}

/** Status of the session on a node that has a revision of the other node. */
async function statusOn(node: Client, session: SignedIn, revision: string): Promise<number> {
  const headers = { 'x-min-revision': revision }
  return (await sendIn(node, session, 'GET', '/v2/session', { headers })).status
}

/** Number of sessions in the metrics of a node. */
async function sessionsOf(node: Client): Promise<number | undefined> {
  const { samples } = await Scrape.of(node.address)
  return samples.find(({ name }) => name === 'verdict_sessions')?.value
}

test('a session that begins on one node is used and ended on another, and ends on both', async () => {
  const [one, two] = (await startedNodes(redis, 2, SIGN_IN)) as [Client, Client]
  const grants = [{ on: 'organization', level: 'write' }] as const
  const [ann, bob, eve] = [
    await signedIn(one, 'ann', grants),
    await signedIn(one, 'bob', grants),
    await signedIn(two, 'eve', grants),
  ]
  const begun = await revisionOf(one)
  for (const session of [ann, bob]) {
    expect(await statusOn(two, session, begun)).toBe(200)
    for (const node of [one, two]) {
      const body = { key: `${session.memberId}-${node.address.slice(-5)}` }
      expect((await sendIn(node, session, 'POST', USERS, { body })).status).toBe(200)
    }
  }

  expect(await sessionsOf(two)).toBe(3)

  const out = await sendIn(two, ann, 'DELETE', '/v2/session')
  expect(out.status).toBe(200)
  expect(await statusOn(one, ann, out.headers.get('x-revision')!)).toBe(401)

  await regrant(one, bob.memberId, [{ on: 'organization', level: 'read' }])
  expect(await statusOn(two, bob, await revisionOf(one))).toBe(200)
  expect((await sendIn(two, bob, 'POST', USERS, { body: { key: 'late' } })).status).toBe(403)

  expect(await sessionsOf(one)).toBe(2)
  const removed = await one.admin('DELETE', `/v2/members/${eve.memberId}`)
  expect(removed.status).toBe(204)
  expect(await statusOn(two, eve, removed.headers.get('x-revision')!)).toBe(401)
})
