/** `If-Match` between nodes: what one has answered is good on the other, and what one has changed holds the other back. */
import { afterAll, expect, test } from 'vitest'
import { connect } from '#store/redis/redis-client.ts'
import { RedisLink } from '#store/redis/redis-link.ts'
import { parseRedisUrl } from '#store/redis/redis-url.ts'
import { type Answer, type Client, FACTS, memberPath, SCHEMA } from '#testing/processes/running-service.ts'
import { HANG_MS } from '../support/hang.ts'
import { startedNodes } from '../support/nodes.ts'
import { sharedRedis } from '../support/redis-server.ts'

const redis = await sharedRedis()
const direct = new RedisLink(connect(parseRedisUrl(redis.url()), 'test'))
await direct.recovered(HANG_MS)
afterAll(() => direct.close())
const ROLE = `${SCHEMA}/roles/reviewer`
const USER = `${FACTS}/users/ann`
const ROUNDS = 25

async function setUp(): Promise<readonly [Client, Client]> {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  await one.tenantRole('reviewer', [])
  await one.user('ann')
  await one.assign('ann', 'reviewer', 'default')
  return [one, other]
}

function tagOf(answer: Answer): string {
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.headers.get('etag')!
}

function patchIf(tag: string, node: Client, path: string, body: unknown): Promise<Answer> {
  return node.send('PATCH', path, { body, headers: { 'if-match': tag } })
}

test('a tag that one node has just given is good on another, which may not have heard of it yet', async () => {
  const nodes = await setUp()
  for (const [path, field] of [
    [ROLE, 'name'],
    [USER, 'first_name'],
  ] as const) {
    let tag = tagOf(await nodes[0].patch(path, { [field]: 'first' }))
    for (let round = 0; round < ROUNDS; round += 1) {
      const [here, there] = round % 2 === 0 ? nodes : nodes.toReversed()
      // The other node is not told of the change.
      await direct.send('CLIENT', 'KILL', 'TYPE', 'pubsub')
      tag = tagOf(await patchIf(tag, here!, path, { [field]: `here ${round}` }))
      tag = tagOf(await patchIf(tag, there!, path, { [field]: `there ${round}` }))
    }
  }
})

test('of two editors at different nodes one wins each time', async () => {
  const nodes = await setUp()
  for (const [path, field] of [
    [ROLE, 'name'],
    [USER, 'first_name'],
  ] as const) {
    let tag = tagOf(await nodes[0].get(path))
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await Promise.all(
        nodes.map((node, index) => patchIf(tag, node, path, { [field]: `${index} ${round}` })),
      )
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412])
      tag = tagOf(answers.find(({ status }) => status === 200)!)
    }
  }
})

test('a user is not removed as one without roles while another node gives it one', async () => {
  const [one, other] = await setUp()
  for (let round = 0; round < ROUNDS; round += 1) {
    const key = `user-${round}`
    const path = `${FACTS}/users/${key}`
    const tag = tagOf(await one.put(path, { key }).then(() => one.get(path)))
    const [removed, given] = await Promise.all([
      one.send('DELETE', path, { headers: { 'if-match': tag } }),
      other.post(`${FACTS}/role_assignments`, { user: key, role: 'reviewer', tenant: 'default' }),
    ])
    // The other node may not know the user yet.
    expect(['204 404', '412 200'], `round ${round}`).toContain(`${removed.status} ${given.status}`)
  }
})

test('of two who make the same grant at different nodes, or move its end, one wins each time; an end that one has given is good on the other', async () => {
  const nodes = await setUp()
  const [one, other] = nodes
  await one.group('team')
  const path = memberPath('team', 'ann')
  const put = (node: Client, expires_at: string | null, headers: Record<string, string>): Promise<Answer> =>
    node.send('PUT', path, { body: { tenant: 'default', expires_at }, headers })
  const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).toSorted()
  for (let round = 0; round < ROUNDS; round += 1) {
    const year = 2090 + round
    const ends = nodes.map((_, index) => `${year}-0${index + 1}-01T00:00:00.000Z`)
    const made = await Promise.all(
      nodes.map((node, index) => put(node, ends[index]!, { 'if-none-match': '*' })),
    )
    expect(statuses(made), `round ${round}`).toEqual([200, 412])
    const end = ends[made.findIndex(({ status }) => status === 200)]!
    expect(made.find(({ status }) => status === 412)!.headers.get('etag')).toBe(`"${end}"`)
    // The other node is not told of the change.
    await direct.send('CLIENT', 'KILL', 'TYPE', 'pubsub')
    expect((await put(one, null, { 'if-match': `"${end}"` })).status).toBe(200)
    expect((await put(other, ends[0]!, { 'if-match': '"null"' })).status).toBe(200)
    const seen = { 'if-match': `"${ends[0]}"` }
    const changed = await Promise.all([put(one, null, seen), other.send('DELETE', path, { headers: seen })])
    expect(['200 412', '412 204', '404 204'], `round ${round}`).toContain(
      changed.map(({ status }) => status).join(' '),
    )
    if (changed[1].status === 412) await one.leave('team', 'ann')
  }
})
