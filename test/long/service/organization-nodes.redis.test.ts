/** Keys and environments of several nodes on one Redis: what one of them makes or removes, the others open or refuse. */
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startedNodes, until } from '../../support/nodes.ts'
import { sharedRedis } from '../../support/redis-server.ts'
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

async function asAdmin<Body>(node: Client, method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await node.send<Body>(method, path, { key: ADMIN_KEY, body })
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body
}

/** The environments that a node has copies of. */
function copied(node: Client): string[] {
  const names = readdirSync(node.settings.dataDirectory).filter(name => name.includes('.copy-'))
  return names.map(name => name.slice(0, name.indexOf('.copy-')))
}

test('with the revision of its making a key opens the others at once, and with that of its end none', async () => {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  const body = { project_id: 'default', environment_id: 'default' }
  const decided = async (key: string, answer: Answer) => {
    const headers = { 'x-min-revision': revisionOf(answer) }
    const asked = { key, headers, body: question('alice', 'read', 'document:plan') }
    return (await other.send('POST', '/allowed', asked)).status
  }
  for (let round = 0; round < 20; round += 1) {
    const made = await one.send<{ id: string; secret: string }>('POST', '/v2/api-key', {
      key: ADMIN_KEY,
      body,
    })
    const { id, secret } = made.body
    expect(await decided(secret, made)).toBe(200)
    expect(await decided(secret, await one.send('DELETE', `/v2/api-key/${id}`, { key: ADMIN_KEY }))).toBe(401)
  }
})

test('an environment that one node makes is served by the others, and its end is theirs', async () => {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  const before = copied(other)
  const key = await neighbourOf(one, 'staging')
  await until(200, () => statusOf(other, STAGING_USERS, key))
  const made = await other.send('POST', STAGING_USERS, { key, body: { key: 'alice' } })
  expect(made.status).toBe(200)
  await until(200, () => statusOf(one, `${STAGING_USERS}/alice`, key))

  await asAdmin(one, 'DELETE', STAGING)
  await until(401, () => statusOf(other, STAGING_USERS, key))
  expect(await statusOf(other, STAGING, ADMIN_KEY)).toBe(404)
  await expect.poll(() => copied(other)).toEqual(before)
  // One of the same name is another, on both.
  const anew = await neighbourOf(other, 'staging')
  await until(200, () => statusOf(one, STAGING_USERS, anew))
  expect(await statusOf(one, `${STAGING_USERS}/alice`, anew)).toBe(404)
})

test('a node that was down when an environment ended has neither it nor the copy of it afterwards', async () => {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  const before = copied(other)
  const key = await neighbourOf(one, 'staging')
  await until(200, () => statusOf(other, STAGING_USERS, key))
  expect(copied(other)).toHaveLength(before.length + 1)
  await other.close()
  await asAdmin(one, 'DELETE', STAGING)
  const again = await other.restart()
  expect(await statusOf(again, STAGING_USERS, key)).toBe(401)
  expect(await statusOf(again, STAGING, ADMIN_KEY)).toBe(404)
  expect(copied(again).toSorted()).toEqual(before.toSorted())
})
