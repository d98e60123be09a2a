/** Imports where the truth is shared: what one node imported, every node has, and decides by. */
import { expect, test } from 'vitest'
import { content, contentOf, importInto, type Line } from '../support/content.ts'
import { startedNodes } from '../support/nodes.ts'
import { sharedRedis } from '../support/redis-server.ts'
import { API_KEY, type Client, question } from '../support/running-service.ts'

const redis = await sharedRedis()
const EXPORT = '/v2/projects/default/envs/default/export'

/** A document that every tenth of so many users may read. */
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

test('an import on one node is whole on the other, in decisions and in its export, and takes changes of both', async () => {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  await importInto(one, 'default', library(3_000), API_KEY)
  const exported = await contentOf(one, EXPORT)
  expect(exported.split('\n')).toHaveLength(3_000 + 300 + 5 + 1)
  await expect.poll(() => allows(other, 'user-2990').catch(() => false), { timeout: 20_000 }).toBe(true)
  for (const node of [one, other]) {
    expect([await allows(node, 'user-0'), await allows(node, 'user-1')]).toEqual([true, false])
    expect(await contentOf(node, EXPORT)).toBe(exported)
  }
  const facts = '/v2/facts/default/default/role_assignments'
  const body = { user: 'user-1', role: 'viewer', resource_instance: 'document:plan' }
  expect((await other.send('POST', facts, { body })).status).toBe(200)
  await expect.poll(() => allows(one, 'user-1'), { timeout: 20_000 }).toBe(true)
  const refused = await importInto(one, 'default', library(10), API_KEY, 409)
  expect(refused.body).toMatchObject({ error_code: 'DUPLICATE_ENTITY' })
})
