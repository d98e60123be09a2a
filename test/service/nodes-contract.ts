/** Contract of several nodes on one Redis, independent of the connection. */
import { describe, expect, test } from 'vitest'
import { sharedNodes, startedNodes } from '../support/nodes.ts'
import type { NodeList } from '#model/wire/node.ts'
import type { RedisUnderTest } from '#testing/processes/redis-process.ts'
import {
  ADMIN_KEY,
  API_KEY,
  type Client,
  FACTS,
  question,
  revisionOf,
  SCHEMA,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { refusal } from '../support/calls/refusals.ts'

/** Requests a decision at the revision or a later one. */
async function allowsAt(
  client: Client,
  revision: string,
  ...asked: Parameters<typeof question>
): Promise<boolean> {
  const answer = await client.send<{ allow: boolean }>('POST', '/allowed', {
    body: question(...asked),
    headers: { 'x-min-revision': revision },
  })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.allow
}

export async function describeNodes(name: string, redis: Pick<RedisUnderTest, 'url'>): Promise<void> {
  const [one, other] = await sharedNodes(redis)
  await one.createDocumentModel()
  await one.resource({ key: 'page', actions: { read: {}, get: {} }, roles: { reader: { name: 'R' } } })
  await one.relation('page', 'next', 'page')
  await one.users('ann', 'alice', 'bob')
  const held = { user: 'alice', role: 'viewer', resource_instance: 'document:plan', tenant: 'default' }

  describe(`nodes on ${name}`, () => {
    test('nodes that start concurrently on an empty Redis agree on one epoch and environment, and list each other', async () => {
      const nodes = await startedNodes(redis, 3)
      const scopes = await Promise.all(nodes.map(node => node.get('/v2/api-key/scope')))
      expect(scopes.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(new Set(scopes.map(({ body }) => JSON.stringify(body))).size).toBe(1)
      const epochs = await Promise.all(nodes.map(async node => (await node.revision()).split('.')[0]))
      expect(new Set(epochs).size).toBe(1)
      expect(await nodes[0]!.keysIn(`${FACTS}/tenants`)).toEqual(['default'])
      const heard = async (node: Client) => (await node.get<NodeList>('/v2/nodes')).body.nodes.length
      for (const node of nodes) await expect.poll(() => heard(node)).toBe(3)
    })

    test('condition sets and rules of one node decide on another node, and are removed there with dependent rules', async () => {
      await one.patch(`${FACTS}/users/ann`, { attributes: { level: 5 } })
      const conditions = { 'user.level': { equals: 5 } }
      await one.post(`${SCHEMA}/condition_sets`, { key: 'fives', name: 'Fives', conditions })
      const rule = { user_set: 'fives', permission: 'page:read', resource_set: 'page' }
      const made = await one.post(`${FACTS}/set_rules`, rule)
      expect(await allowsAt(other, revisionOf(made), 'ann', 'read', 'page')).toBe(true)
      const changed = await other.patch(`${SCHEMA}/condition_sets/fives`, {
        conditions: { 'user.level': { equals: 6 } },
      })
      expect(await allowsAt(one, revisionOf(changed), 'ann', 'read', 'page')).toBe(false)
      const back = await one.patch(`${SCHEMA}/condition_sets/fives`, { conditions })
      expect(await allowsAt(other, revisionOf(back), 'ann', 'read', 'page')).toBe(true)
      const removed = await other.delete(`${SCHEMA}/condition_sets/fives`)
      expect(await allowsAt(one, revisionOf(removed), 'ann', 'read', 'page')).toBe(false)
      expect((await other.get(`${FACTS}/set_rules`)).body).toEqual([])
    })

    test('a role that one node grants or revokes is effective on another node at the revision of the change', async () => {
      const granted = await one.post(`${FACTS}/role_assignments`, held)
      expect(await allowsAt(other, revisionOf(granted), 'alice', 'read', 'document:plan')).toBe(true)
      const revoked = await other.delete(`${FACTS}/role_assignments`, held)
      expect(await allowsAt(one, revisionOf(revoked), 'alice', 'read', 'document:plan')).toBe(false)
    })

    test('concurrent creations of the same users on two nodes create each user only once, and each node reads its own writes', async () => {
      const usersOf = async (node: Client) =>
        (await node.get<{ total_count: number }>(`${FACTS}/users?include_total_count=true`)).body.total_count
      const before = await usersOf(one)
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const node = index % 2 === Math.floor(index / 20) ? one : other
          const answer = await node.post(`${FACTS}/users`, { key: `user-${index % 20}` })
          return answer.status === 200 ? 'made' : refusal(answer).join(' ')
        }),
      )
      expect(outcomes.filter(outcome => outcome === 'made')).toHaveLength(20)
      expect(outcomes.filter(outcome => outcome === '409 DUPLICATE_ENTITY')).toHaveLength(20)
      for (const node of [one, other]) expect(await usersOf(node)).toBe(before + 20)
    })

    test('a node that starts later loads everything, and resumes from its local replica after a restart', async () => {
      await one.assign('bob', 'editor', 'document:later')
      const { storeUrl } = one.settings
      const late = await startedService({ storeUrl, dataDirectory: storeDirectory() })
      expect(await late.allows('bob', 'update', 'document:later')).toBe(true)
      expect(await late.everythingListed()).toEqual(await one.everythingListed())

      await late.close()
      const meant = { ...held, resource_instance: 'document:last' }
      const revision = revisionOf(await one.post(`${FACTS}/role_assignments`, meant))
      const again = await late.restart()
      expect(await again.revision()).toBe(revision)
      expect(await again.allows('alice', 'read', 'document:last')).toBe(true)
      expect(await again.everythingListed()).toEqual(await one.everythingListed())
    })

    test('a configured key that another node replaces is rejected on every node', async () => {
      const storeUrl = redis.url()
      const first = await startedService({ storeUrl, dataDirectory: storeDirectory() })
      expect((await first.get('/v2/api-key/scope')).status).toBe(200)
      const apiKey = 'another-configured-key-for-all'
      const second = await startedService({ storeUrl, dataDirectory: storeDirectory(), apiKey })
      // The node accepts the new key only after it rejects the old key.
      let status = 0
      while (status !== 200) status = (await first.send('GET', '/v2/api-key/scope', { key: apiKey })).status
      expect((await first.send('GET', '/v2/api-key/scope', { key: API_KEY })).status).toBe(401)
      expect((await second.send('GET', '/v2/api-key/scope', { key: API_KEY })).status).toBe(401)
    })

    test('a start without API_KEY on a shared store is refused, and existing keys stay valid', async () => {
      const storeUrl = redis.url()
      const keyless = (adminApiKey: string | null) =>
        startedService({ storeUrl, dataDirectory: storeDirectory(), apiKey: null, adminApiKey })
      const refused = { code: 'INVALID_INPUT', message: expect.stringContaining('setting API_KEY') }
      // If the shared store is empty, each node would create a different key.
      await expect(keyless(null)).rejects.toMatchObject(refused)
      const node = await startedService({ storeUrl, dataDirectory: storeDirectory() })
      // The comparison excludes the time of the last use, which the requests of this test change.
      const keysOf = async () => {
        const { body } = await node.send<{ data: object[] }>('GET', '/v2/api-key', { key: ADMIN_KEY })
        return body.data.map(key => ({ ...key, last_used_at: null }))
      }
      const before = await keysOf()
      for (const adminApiKey of [null, ADMIN_KEY]) {
        await expect(keyless(adminApiKey)).rejects.toMatchObject(refused)
      }
      // When this write is confirmed, the node has applied all earlier changes of the organization.
      expect((await node.send('POST', '/v2/api-key', { key: ADMIN_KEY, body: {} })).status).toBe(200)
      expect((await node.get('/v2/api-key/scope')).status).toBe(200)
      expect(await keysOf()).toEqual(expect.arrayContaining(before))
    })
  })
}
