/** API keys and environments that one node creates or removes take effect on the other nodes. */
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startedNodes, until } from '../../support/nodes.ts'
import { sharedRedis } from '../../support/processes/redis-server.ts'
import {
  ADMIN_KEY,
  type Answer,
  type Client,
  neighbourOf,
  question,
  revisionOf,
} from '#testing/processes/running-service.ts'

const redis = await sharedRedis()
const STAGING = '/v2/projects/default/envs/staging'
const STAGING_USERS = '/v2/facts/default/staging/users'

async function statusOf(node: Client, path: string, key: string): Promise<number> {
  return (await node.send('GET', path, { key })).status
}

/** Environments of which a node has a local copy. */
function copied(node: Client): string[] {
  const names = readdirSync(node.settings.dataDirectory).filter(name => name.includes('.copy-'))
  return names.map(name => name.slice(0, name.indexOf('.copy-')))
}

test('a key is valid on another node as of the revision of its creation, and rejected as of its revocation', async () => {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  const body = { project_id: 'default', environment_id: 'default' }
  const decided = async (key: string, answer: Answer) => {
    const headers = { 'x-min-revision': revisionOf(answer) }
    const asked = { key, headers, body: question('alice', 'read', 'document:plan') }
    return (await other.send('POST', '/allowed', asked)).status
  }
  for (let round = 0; round < 20; round += 1) {
    const made = await one.admin<{ id: string; secret: string }>('POST', '/v2/api-key', body)
    const { id, secret } = made.body
    expect(await decided(secret, made)).toBe(200)
    expect(await decided(secret, await one.admin('DELETE', `/v2/api-key/${id}`))).toBe(401)
  }
})

test('an environment that one node creates or deletes is also created or deleted on the other node', async () => {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  const before = copied(other)
  const key = await neighbourOf(one, 'staging')
  await until(200, () => statusOf(other, STAGING_USERS, key))
  await other.done('POST', STAGING_USERS, { key: 'alice' }, key)
  await until(200, () => statusOf(one, `${STAGING_USERS}/alice`, key))

  expect((await one.admin('DELETE', STAGING)).status).toBe(204)
  await until(401, () => statusOf(other, STAGING_USERS, key))
  expect(await statusOf(other, STAGING, ADMIN_KEY)).toBe(404)
  await expect.poll(() => copied(other)).toEqual(before)
  // A new environment with the same key is empty on both nodes.
  const newKey = await neighbourOf(other, 'staging')
  await until(200, () => statusOf(one, STAGING_USERS, newKey))
  expect(await statusOf(one, `${STAGING_USERS}/alice`, newKey)).toBe(404)
})

test('a node that was down when an environment was deleted removes its copy at the next start', async () => {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  const before = copied(other)
  const key = await neighbourOf(one, 'staging')
  await until(200, () => statusOf(other, STAGING_USERS, key))
  expect(copied(other)).toHaveLength(before.length + 1)
  await other.close()
  expect((await one.admin('DELETE', STAGING)).status).toBe(204)
  const again = await other.restart()
  expect(await statusOf(again, STAGING_USERS, key)).toBe(401)
  expect(await statusOf(again, STAGING, ADMIN_KEY)).toBe(404)
  expect(copied(again).toSorted()).toEqual(before.toSorted())
})
