/** Changes with `If-Match` on two nodes. */
import { expect, test } from 'vitest'
import { type Answer, type Client, FACTS, memberPath, SCHEMA } from '#testing/processes/running-service.ts'
import { startedNodes } from '../support/nodes.ts'
import { sharedLink, sharedRedis } from '../support/processes/redis-server.ts'

const redis = await sharedRedis()
const direct = await sharedLink(redis)
const ROUNDS = 8

interface Edited {
  /** Sends the change with this number. */
  send(node: Client, tag: string, number: number): Promise<Answer>
  /** The entity tag after the change with this number. */
  tagAfter(answer: Answer, number: number): string
}

const patched = (path: string, field: string): Edited => ({
  tagAfter: tagOf,
  send: (node, tag, number) =>
    node.send('PATCH', path, { body: { [field]: `name ${number}` }, headers: { 'if-match': tag } }),
})
const endOf = (number: number): string => `${2090 + number}-01-01T00:00:00.000Z`
const membership: Edited = {
  tagAfter: (_, number) => `"${endOf(number)}"`,
  send: (node, tag, number) => {
    const body = { tenant: 'default', expires_at: endOf(number) }
    return node.send('PUT', memberPath('team', 'ann'), { body, headers: { 'if-match': tag } })
  },
}

/** Starts two nodes with a role, a user and a membership. Returns the first entity tag of each entity. */
async function setUp() {
  const nodes = (await startedNodes(redis, 2)) as [Client, Client]
  const [one] = nodes
  await one.tenantRole('reviewer', [])
  await one.user('ann')
  await one.group('team')
  await one.join('team', 'ann')
  const edited: [Edited, tag: string][] = [[membership, '"null"']]
  for (const [path, field] of [
    [`${SCHEMA}/roles/reviewer`, 'name'],
    [`${FACTS}/users/ann`, 'first_name'],
  ] as const) {
    edited.push([patched(path, field), tagOf(await one.get(path))])
  }
  return { nodes, edited }
}

function tagOf(answer: Answer): string {
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.headers.get('etag')!
}

test('an entity tag from one node is valid on another node that is not notified of the change', async () => {
  const { nodes, edited } = await setUp()
  for (const [{ send, tagAfter }, first] of edited) {
    let tag = first
    for (let round = 0; round < ROUNDS; round += 1) {
      await direct.send('CLIENT', 'KILL', 'TYPE', 'pubsub')
      const answer = await send(nodes[round % 2]!, tag, round)
      expect(answer.status).toBe(200)
      tag = tagAfter(answer, round)
    }
  }
})

test('exactly one of two concurrent edits with the same tag at different nodes succeeds', async () => {
  const { nodes, edited } = await setUp()
  for (const [{ send, tagAfter }, first] of edited) {
    let tag = first
    for (let round = 0; round < ROUNDS; round += 1) {
      const numbers = [2 * round, 2 * round + 1]
      const answers = await Promise.all(nodes.map((node, index) => send(node, tag, numbers[index]!)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412])
      const winner = answers.findIndex(({ status }) => status === 200)
      tag = tagAfter(answers[winner]!, numbers[winner]!)
    }
  }
})
