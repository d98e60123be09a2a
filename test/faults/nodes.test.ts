/** Nodes that go away, come back, and come late, while others write on. Nothing acknowledged is lost, nothing old is told. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Client, FACTS, question, revisionOf } from '#testing/processes/running-service.ts'
import { isReady, type NodeProcess } from './support/node-process.ts'
import { STALE_MS_MAX, startNodesOnWires } from './support/nodes-on-wires.ts'
import { Workload } from './support/workload.ts'

const options = { staleMsMax: STALE_MS_MAX }

test('a node from under which the log was trimmed while it was cut off loads everything again beside', async () => {
  const { nodes, wires } = await startNodesOnWires({ settings: { LOG_ENTRIES_MAX: '100' } })
  const workload = await Workload.start(nodes, options)
  wires[1]!.cut()
  // Both write in turn: what the one that is cut off does not take, the other does.
  await writeUsers(nodes[0]!.client!, 300)
  wires[1]!.mend()
  await workload.hasWritten(50)
  await workload.end()
  await nodes[1]!.logMatch(/"reason":"REVISION_TOO_OLD"/)
  await nodes[1]!.logMatch(/another copy is in force/)
})

test('a node killed in the middle of writes goes on from its local copy, and each write is there once', async () => {
  const { nodes } = await startNodesOnWires()
  const workload = await Workload.start(nodes, options)
  for (let round = 0; round < 4; round += 1) {
    await workload.hasWritten(20)
    await nodes[round % 2]!.kill()
    // The other one alone takes writes now; what the killed one had been sent is tried again there.
    await workload.hasWritten(10)
    await nodes[round % 2]!.startAgain()
  }
  const seen = await workload.end()
  expect(seen.commits).toBe(workload.history.sent)
})

test('a node that was frozen for longer than it may be stale does not answer from before when it goes on', async () => {
  const { nodes } = await startNodesOnWires()
  const [one, frozen] = nodes as [NodeProcess, NodeProcess]
  await one.client!.createDocumentModel()
  await one.client!.user('alice')
  await one.client!.assign('alice', 'viewer', 'document:plan')
  while (!(await frozen.client!.allows('alice', 'read', 'document:plan'))) await pause(10)
  frozen.freeze()
  const revoked = await one.client!.delete(`${FACTS}/role_assignments`, {
    user: 'alice',
    role: 'viewer',
    resource_instance: 'document:plan',
    tenant: 'default',
  })
  expect(revoked.status).toBe(204)
  await pause(STALE_MS_MAX)
  // They wait at its door, and are the first it sees.
  const asked = Array.from({ length: 50 }, () =>
    frozen.client!.post<{ allow: boolean }>('/allowed', question('alice', 'read', 'document:plan')),
  )
  await pause(200)
  frozen.thaw()
  for (const answer of await Promise.all(asked)) {
    if (answer.status === 200) expect(answer.body.allow).toBe(false)
    else expect(answer.status).toBe(503)
  }
  while (!(await isReady(frozen.client!))) await pause(10)
  expect(await frozen.client!.allows('alice', 'read', 'document:plan')).toBe(false)
})

test('a node that starts while 1,000 facts a second are written is right from its first answer on', async () => {
  const { nodes, add } = await startNodesOnWires({ nodes: 1 })
  const workload = await Workload.start(nodes, options)
  const load = new UserLoad(nodes[0]!.client!, 1_000)
  await load.hasWritten(2_000)
  const startedAt = performance.now()
  const late = await add()
  workload.join(late)
  const rate = load.rateSince(startedAt)
  await load.hasWritten(2_000)
  const written = await load.stop()
  await workload.end()
  // The start takes one of two cores, and others may want them as well.
  expect(rate).toBeGreaterThan(300)
  const { body } = await late.client!.get<{ total_count: number }>(
    `${FACTS}/users?include_total_count=true&per_page=1`,
  )
  expect(body.total_count).toBe(60 + written)
})

test('two nodes that write the same entity for 30 s: each revision has one writer, and the answers tell its story', async () => {
  const { nodes } = await startNodesOnWires()
  const [one, other] = nodes.map(({ client }) => client!) as [Client, Client]
  await one.createDocumentModel()
  await one.user('alice')
  await one.instance('document:plan')
  const held = { user: 'alice', role: 'viewer', resource_instance: 'document:plan', tenant: 'default' }
  const story: { readonly sequence: number; readonly what: 'granted' | 'revoked' }[] = []
  const until = performance.now() + 30_000
  let lost = 0
  const write = async (client: Client): Promise<void> => {
    for (let round = 0; performance.now() < until; round += 1) {
      const isGrant = round % 2 === 0
      const answer = await client.send(isGrant ? 'POST' : 'DELETE', `${FACTS}/role_assignments`, {
        body: held,
      })
      // 409 and 404: the other one was there first; 503: five times in a row.
      if (answer.status === 200 || answer.status === 204) {
        const sequence = Number(revisionOf(answer).split('.')[1])
        story.push({ sequence, what: isGrant ? 'granted' : 'revoked' })
      } else {
        expect([404, 409, 503]).toContain(answer.status)
        lost += 1
      }
    }
  }
  await Promise.all([write(one), write(one), write(other), write(other)])
  story.sort((before, after) => before.sequence - after.sequence)
  expect(story.length).toBeGreaterThan(30)
  expect(lost).toBeGreaterThan(0)
  expect(new Set(story.map(({ sequence }) => sequence)).size).toBe(story.length)
  const expected = story.map((_, index) => (index % 2 === 0 ? 'granted' : 'revoked'))
  expect(story.map(({ what }) => what)).toEqual(expected)
  const isHeld = story.at(-1)!.what === 'granted'
  for (const client of [one, other])
    expect(await client.allows('alice', 'read', 'document:plan')).toBe(isHeld)
})

/** So many commits, one after the other. */
async function writeUsers(client: Client, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await client.user(`trimmed-${index}`)
}

/** Creates users at a steady rate, some in a call, until it is told to stop. When it falls behind it makes up for that. */
class UserLoad {
  readonly #client: Client
  readonly #callsPerMs: number
  readonly #pending = new Set<Promise<void>>()
  readonly #startedAt = performance.now()
  readonly #ticks: NodeJS.Timeout
  readonly #writtenAt: number[] = []
  #calls = 0

  constructor(client: Client, usersPerSecond: number) {
    this.#client = client
    this.#callsPerMs = usersPerSecond / USERS_PER_CALL / 1_000
    this.#ticks = setInterval(() => this.#tick(), TICK_MS)
  }

  async hasWritten(more: number): Promise<void> {
    const until = this.#written + more
    while (this.#written < until) await pause(TICK_MS)
  }

  /** Users a second, from then until now. */
  rateSince(since: number): number {
    const written = this.#writtenAt.filter(at => at >= since).length * USERS_PER_CALL
    return written / ((performance.now() - since) / 1_000)
  }

  /** Returns how many users there are. */
  async stop(): Promise<number> {
    clearInterval(this.#ticks)
    await Promise.all(this.#pending)
    return this.#written
  }

  get #written(): number {
    return this.#writtenAt.length * USERS_PER_CALL
  }

  #tick(): void {
    const due = (performance.now() - this.#startedAt) * this.#callsPerMs
    while (this.#calls < due && this.#pending.size < CALLS_UNDER_WAY_MAX) {
      const done: Promise<void> = this.#create().finally(() => this.#pending.delete(done))
      this.#pending.add(done)
    }
  }

  async #create(): Promise<void> {
    this.#calls += 1
    const call = this.#calls
    const operations = Array.from({ length: USERS_PER_CALL }, (_, index) => ({
      key: `late-${call}-${index}`,
    }))
    const answer = await this.#client.post('/v2/facts/default/default/bulk/users', { operations })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    this.#writtenAt.push(performance.now())
  }
}

const USERS_PER_CALL = 5
const CALLS_UNDER_WAY_MAX = 32
const TICK_MS = 10
