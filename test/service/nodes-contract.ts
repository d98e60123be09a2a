/** Two nodes on one Redis, however it is reached: one truth, and each decides by it. */
import { describe, expect, test } from 'vitest'
import { startedNodes } from '../support/nodes.ts'
import type { NodeList } from '#model/wire/node.ts'
import type { RedisUnderTest } from '#testing/processes/redis-process.ts'
import {
  ADMIN_KEY,
  API_KEY,
  type Client,
  FACTS,
  question,
  refusal,
  revisionOf,
  SCHEMA,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'

/** What is decided at that revision or a later one. */
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

export function describeNodes(name: string, redis: Pick<RedisUnderTest, 'url'>): void {
  describe(`nodes on ${name}`, () => {
    test('nodes that start at once on an empty Redis agree on one history and one default environment', async () => {
      const nodes = await startedNodes(redis, 3)
      const scopes = await Promise.all(nodes.map(node => node.get('/v2/api-key/scope')))
      expect(scopes.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(new Set(scopes.map(({ body }) => JSON.stringify(body))).size).toBe(1)
      const epochs = await Promise.all(nodes.map(async node => (await node.revision()).split('.')[0]))
      expect(new Set(epochs).size).toBe(1)
      const tenants = await nodes[0]!.get<{ key: string }[]>(`${FACTS}/tenants`)
      expect(tenants.body.map(({ key }) => key)).toEqual(['default'])
    })

    test('each hears that the others live', async () => {
      const nodes = await startedNodes(redis, 3)
      const heard = async (node: Client) => (await node.get<NodeList>('/v2/nodes')).body.nodes.length
      for (const node of nodes) await expect.poll(() => heard(node)).toBe(3)
    })

    test('condition sets and rules of one node decide on another, and go there with what they rest on', async () => {
      const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
      await one.resource({ key: 'page', actions: { read: {} } })
      await one.post(`${FACTS}/users`, { key: 'ann', attributes: { level: 5 } })
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

    test('mapping rules of one node are held against URLs by another, changed and removed, too', async () => {
      const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
      await one.resource({ key: 'page', actions: { get: {} } })
      await one.tenantRole('reader', ['page:get'])
      await one.user('ann')
      await one.assign('ann', 'reader', 'default')
      const rule = (path: string) => ({ url: `https://a.org/${path}`, http_method: 'get', resource: 'page' })
      const allowsUrlAt = async (client: Client, revision: string, path: string) => {
        const body = { user: { key: 'ann' }, ...rule(path), tenant: 'default' }
        const headers = { 'x-min-revision': revision }
        const answer = await client.send<{ allow: boolean }>('POST', '/allowed_url', { body, headers })
        expect(answer.status, JSON.stringify(answer.body)).toBe(200)
        return answer.body.allow
      }
      const config = { key: 'gateway', name: 'G', secret: 'x', mapping_rules: [rule('a')] }
      const made = await one.post(`${FACTS}/proxy_configs`, config)
      expect(await allowsUrlAt(other, revisionOf(made), 'a')).toBe(true)
      const changed = await other.patch(`${FACTS}/proxy_configs/gateway`, { mapping_rules: [rule('b')] })
      expect(await allowsUrlAt(one, revisionOf(changed), 'a')).toBe(false)
      expect(await allowsUrlAt(one, revisionOf(changed), 'b')).toBe(true)
      const removed = await one.delete(`${FACTS}/proxy_configs/gateway`)
      expect(await allowsUrlAt(other, revisionOf(removed), 'b')).toBe(false)
    })

    test('what one node answered, another decides by, if it is asked for that revision', async () => {
      const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
      await one.createDocumentModel()
      await one.users('alice')
      await one.instance('document:plan')
      const granted = await one.post(`${FACTS}/role_assignments`, {
        user: 'alice',
        role: 'viewer',
        resource_instance: 'document:plan',
        tenant: 'default',
      })
      expect(await allowsAt(other, revisionOf(granted), 'alice', 'read', 'document:plan')).toBe(true)
      const revoked = await other.delete(`${FACTS}/role_assignments`, {
        user: 'alice',
        role: 'viewer',
        resource_instance: 'document:plan',
        tenant: 'default',
      })
      expect(revoked.status).toBe(204)
      expect(await allowsAt(one, revisionOf(revoked), 'alice', 'read', 'document:plan')).toBe(false)
    })

    test('a node reads its own writes at once, in decisions and in lists', async () => {
      const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
      await other.tenant('acme')
      for (let round = 0; round < 20; round += 1) {
        await one.user(`user-${round}`)
        const { body } = await one.get<{ total_count: number }>(`${FACTS}/users?include_total_count=true`)
        expect(body.total_count).toBe(round + 1)
      }
    })

    test('nodes that write the same things at once leave one of each, and tell the others', async () => {
      const nodes = (await startedNodes(redis, 2)) as [Client, Client]
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const key = `user-${index % 20}`
          const answer = await nodes[index % 2 === Math.floor(index / 20) ? 0 : 1]!.post(`${FACTS}/users`, {
            key,
          })
          return answer.status === 200 ? 'made' : refusal(answer).join(' ')
        }),
      )
      expect(outcomes.filter(outcome => outcome === 'made')).toHaveLength(20)
      expect(outcomes.filter(outcome => outcome === '409 DUPLICATE_ENTITY')).toHaveLength(20)
      for (const node of nodes) {
        const { body } = await node.get<{ total_count: number }>(`${FACTS}/users?include_total_count=true`)
        expect(body.total_count).toBe(20)
      }
    })

    test('a node that starts later has everything, and goes on from its own copy after a restart', async () => {
      const storeUrl = redis.url()
      const one = await startedService({ storeUrl, dataDirectory: storeDirectory() })
      await one.createDocumentModel()
      await one.users('alice', 'bob')
      await one.assign('alice', 'editor', 'document:plan')
      const late = await startedService({ storeUrl, dataDirectory: storeDirectory() })
      expect(await late.allows('alice', 'update', 'document:plan')).toBe(true)
      expect(await late.everythingListed()).toEqual(await one.everythingListed())

      await late.close()
      const revision = revisionOf(
        await one.post(`${FACTS}/role_assignments`, {
          user: 'bob',
          role: 'viewer',
          resource_instance: 'document:plan',
          tenant: 'default',
        }),
      )
      const again = await late.restart()
      expect(await again.revision()).toBe(revision)
      expect(await again.allows('bob', 'read', 'document:plan')).toBe(true)
      expect(await again.everythingListed()).toEqual(await one.everythingListed())
    })

    test('a key that another start replaced is refused on every node', async () => {
      const storeUrl = redis.url()
      const one = await startedService({ storeUrl, dataDirectory: storeDirectory() })
      expect((await one.get('/v2/api-key/scope')).status).toBe(200)
      const apiKey = 'another-configured-key-for-all'
      const other = await startedService({ storeUrl, dataDirectory: storeDirectory(), apiKey })
      // The new key is known here no sooner than the old one is forgotten.
      let status = 0
      while (status !== 200) status = (await one.send('GET', '/v2/api-key/scope', { key: apiKey })).status
      expect((await one.send('GET', '/v2/api-key/scope', { key: API_KEY })).status).toBe(401)
      expect((await other.send('GET', '/v2/api-key/scope', { key: API_KEY })).status).toBe(401)
    })

    test('a grant that ends on one node is among what ends on another, with its end, until it lasts', async () => {
      const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
      await one.resource({ key: 'page', roles: { reader: { name: 'Reader' } }, relations: { next: 'page' } })
      await one.users('ann')
      const end = '2131-05-01T10:00:00.123Z'
      const held = { user: 'ann', role: 'reader', resource_instance: 'page:p1', tenant: 'default' }
      const related = { subject: 'page:p1', relation: 'next', object: 'page:p2' }
      const endsAt = async (revision: string, list: string) => {
        const answer = await other.send<{ expires_at: string }[]>(
          'GET',
          `${FACTS}/${list}?expires_before=9999-12-31T23:59:59Z`,
          { headers: { 'x-min-revision': revision } },
        )
        expect(answer.status, JSON.stringify(answer.body)).toBe(200)
        return answer.body.map(({ expires_at: shown }) => shown)
      }
      for (const [list, body] of [
        ['role_assignments', held],
        ['relationship_tuples', related],
      ] as const) {
        const granted = await one.post(`${FACTS}/${list}`, { ...body, expires_at: end })
        expect(await endsAt(revisionOf(granted), list)).toEqual([end])
        const lasting = await one.post(`${FACTS}/${list}`, body)
        expect(await endsAt(revisionOf(lasting), list)).toEqual([])
        const again = await one.post(`${FACTS}/${list}`, { ...body, expires_at: end })
        expect(await endsAt(revisionOf(again), list)).toEqual([end])
      }
    })

    test('a start without API_KEY is refused and takes no key from those who have one', async () => {
      const storeUrl = redis.url()
      const keyless = (adminApiKey: string | null) =>
        startedService({ storeUrl, dataDirectory: storeDirectory(), apiKey: null, adminApiKey })
      const refused = { code: 'INVALID_INPUT', message: expect.stringContaining('setting API_KEY') }
      // On an empty store the nodes would each make another.
      await expect(keyless(null)).rejects.toMatchObject(refused)
      const one = await startedService({ storeUrl, dataDirectory: storeDirectory() })
      // But for when they were last used, which asking moves.
      const keysOf = async () => {
        const { body } = await one.send<{ data: object[] }>('GET', '/v2/api-key', { key: ADMIN_KEY })
        return body.data.map(key => ({ ...key, last_used_at: null }))
      }
      const before = await keysOf()
      for (const adminApiKey of [null, ADMIN_KEY]) {
        await expect(keyless(adminApiKey)).rejects.toMatchObject(refused)
      }
      // A write of the organization's behind what the refused starts may have done to it: this node has heard of all that.
      expect((await one.send('POST', '/v2/api-key', { key: ADMIN_KEY, body: {} })).status).toBe(200)
      expect((await one.get('/v2/api-key/scope')).status).toBe(200)
      expect(await keysOf()).toEqual(expect.arrayContaining(before))
    })
  })
}
