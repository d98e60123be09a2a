/** `If-Match` between nodes: what one has answered is good on the other, and what one has changed holds the other back. */
import { expect, test } from 'vitest'
import { type Answer, type Client, FACTS, memberPath, SCHEMA } from '#testing/processes/running-service.ts'
import { startedNodes } from '../support/nodes.ts'
import { sharedLink, sharedRedis } from '../support/redis-server.ts'

const redis = await sharedRedis()
const direct = await sharedLink(redis)
const ROUNDS = 8

interface Edited {
  /** Sends a change of that number. */
  send(node: Client, tag: string, number: number): Promise<Answer>
  /** The tag that is there after it. */
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

/** Two nodes with a role, a user and a membership, and the first tag of each. */
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

test('a tag that one node has just given is good on another, which may not have heard of it yet', async () => {
  const { nodes, edited } = await setUp()
  for (const [{ send, tagAfter }, first] of edited) {
    let tag = first
    for (let round = 0; round < ROUNDS; round += 1) {
      // The other node is not told of the change.
      await direct.send('CLIENT', 'KILL', 'TYPE', 'pubsub')
      const answer = await send(nodes[round % 2]!, tag, round)
      expect(answer.status).toBe(200)
      tag = tagAfter(answer, round)
    }
  }
})

test('of two editors at different nodes one wins each time', async () => {
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
