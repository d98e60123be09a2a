/** Imports into a shared store: all nodes decide from the content that one node imported. */
import { expect, test } from 'vitest'
import { content, contentOf, importInto, type Line } from '../../support/content.ts'
import { cuttableStore, startedNodes } from '../../support/nodes.ts'
import { sharedRedis } from '../../support/processes/redis-server.ts'
import {
  ADMIN_KEY,
  API_KEY,
  type Client,
  question,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'

const redis = await sharedRedis()
const EXPORT = '/v2/projects/default/envs/default/export'

/** The content of an environment in which every tenth user may read one document. */
function library(users: number): string {
  const things: Line[] = [
    {
      kind: 'resource',
      key: 'document',
      name: 'Document',
      actions: { read: {} },
      roles: { viewer: { name: 'Viewer', permissions: ['read'] } },
    },
    { kind: 'tenant', key: 'default', name: 'Default' },
    ...Array.from({ length: users }, (_, user) => ({ kind: 'user', key: `user-${user}` })),
    { kind: 'instance', resource: 'document', key: 'plan', tenant: 'default' },
  ]
  const readers = Array.from({ length: users / 10 }, (_, tenth) => `user-${tenth * 10}`)
  const held = { kind: 'assignment', role: 'viewer', resource_instance: 'document:plan' }
  return content(...things, ...readers.map(user => ({ ...held, user })))
}

async function allows(node: Client, user: string): Promise<boolean> {
  const { body } = await node.send<{ allow: boolean }>('POST', '/allowed', {
    body: question(user, 'read', 'document:plan'),
  })
  return body.allow
}

test('an import on one node is complete on the other node, and both can change it', async () => {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  await importInto(one, 'default', library(3_000), API_KEY)
  const exported = await contentOf(one, EXPORT)
  expect(exported.split('\n')).toHaveLength(3_000 + 300 + 5 + 1)
  await expect.poll(() => allows(other, 'user-2990').catch(() => false)).toBe(true)
  for (const node of [one, other]) {
    expect([await allows(node, 'user-0'), await allows(node, 'user-1')]).toEqual([true, false])
    expect(await contentOf(node, EXPORT)).toBe(exported)
  }
  const facts = '/v2/facts/default/default/role_assignments'
  const body = { user: 'user-1', role: 'viewer', resource_instance: 'document:plan' }
  expect((await other.send('POST', facts, { body })).status).toBe(200)
  await expect.poll(() => allows(one, 'user-1')).toBe(true)
  const refused = await importInto(one, 'default', library(10), API_KEY, 409)
  expect(refused.body).toMatchObject({ error_code: 'DUPLICATE_ENTITY' })
})

test('a node is ready again after another node deleted the project into which it was importing', async () => {
  const { proxy, storeUrl, directUrl } = await cuttableStore(redis)
  const timing = { staleAfterMs: 60_000 }
  const other = await startedService({ storeUrl: directUrl, dataDirectory: storeDirectory(), ...timing })
  const node = await startedService({ storeUrl, dataDirectory: storeDirectory(), ...timing })
  for (const [path, key] of [
    ['/v2/projects', 'short-lived'],
    ['/v2/projects/short-lived/envs', 'staging'],
  ] as const) {
    expect((await other.admin('POST', path, { key, name: key })).status).toBe(200)
  }
  const path = '/v2/projects/short-lived/envs/staging'
  await expect.poll(async () => (await node.admin('GET', path)).status).toBe(200)

  const body = new TransformStream<Uint8Array, Uint8Array>()
  const writer = body.writable.getWriter()
  const importing = fetch(`${node.address}${path}/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/x-ndjson' },
    body: body.readable,
    duplex: 'half',
  } as RequestInit)
  const [text, rest] = [library(3_000).slice(0, -1_000), 'and no more\n']
  const isUnderWay = proxy.failOn('user-1500', 'lose-command').then(() => proxy.cut())
  await writer.write(Buffer.from(text))
  await isUnderWay
  expect((await other.admin('DELETE', '/v2/projects/short-lived')).status).toBe(204)
  proxy.mend()
  await writer.write(Buffer.from(rest))
  await writer.close()
  expect((await importing).status).toBeGreaterThanOrEqual(400)
  // Longer than the store takes to notice that a history no longer exists.
  const from = performance.now()
  await expect.poll(async () => (await node.get('/ready')).status).toBe(200)
  while (performance.now() - from < 3_000) expect((await node.get('/ready')).status).toBe(200)
})
