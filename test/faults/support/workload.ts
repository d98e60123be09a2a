/** A writer that retries until each write is acknowledged, and a reader per node that checks responses. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Client, FACTS, question } from '#testing/processes/running-service.ts'
import { isReady, type NodeProcess } from './node-process.ts'
import { STALE_MS_MAX } from './nodes-on-wires.ts'
import { RING_SEATS, ringWrite, type SeatAnswers } from './ring.ts'
import { WriteHistory } from './write-history.ts'

/** Documents. A user may read both or none of them. */
export const PLACES = ['first', 'second'] as const

/** Role assignments with which a user may read both documents. */
export function inBothPlaces(user: string): object[] {
  return PLACES.map(place => ({
    user,
    role: 'viewer',
    resource_instance: `document:${place}`,
    tenant: 'default',
  }))
}

/** Short pauses, so that faults interrupt as many requests as possible. */
const WRITE_PAUSE_MS = 10
const ASK_PAUSE_MS = 10
const RETRY_PAUSE_MS = 50
const CALL_MS_MAX = 15_000

/** Observations of clients. Tests assert them, and docs/redis-failures.md documents them. */
export interface Seen {
  decided: number
  /** Checks that received 503 or no response. */
  refused: number
  /** Attempts to write that were not acknowledged. */
  failedWrites: number
  /** All commits since the start. A write with several attempts must be a single commit. */
  commits: number
}

export class Workload {
  readonly history: WriteHistory
  readonly seen: Seen = { decided: 0, refused: 0, failedWrites: 0, commits: 0 }
  readonly #commitsAtFirst: number
  readonly #nodes: readonly NodeProcess[]
  readonly #wrong: string[] = []
  /** Nodes whose last response contained all writes. */
  readonly #level = new Set<NodeProcess>()
  #isOver = false
  #isWriting = true
  readonly #work: Promise<unknown>[] = []
  #writing: Promise<void> = Promise.resolve()

  /** Creates the model and starts. */
  static async start(nodes: readonly NodeProcess[], staleMsMax = STALE_MS_MAX): Promise<Workload> {
    const client = await nodes[0]!.serving()
    await seatUsers(client)
    // Before the faults begin, every node must have the model and have processed some requests.
    for (const node of nodes) await hasUsers(await node.serving())
    const workload = new Workload(nodes, staleMsMax, await commitsIn(client))
    await workload.hasWritten(10)
    return workload
  }

  private constructor(nodes: readonly NodeProcess[], staleMsMax: number, commitsAtFirst: number) {
    this.#commitsAtFirst = commitsAtFirst
    this.history = new WriteHistory(staleMsMax)
    this.#nodes = nodes
    this.#writing = this.#write()
    for (const node of nodes) this.#work.push(this.#ask(node))
  }

  /** Resolves when `more` further writes are acknowledged. Throws if this takes too long. */
  async hasWritten(more: number, withinMs = Infinity): Promise<void> {
    const until = this.history.sent + more
    const startedAt = performance.now()
    while (this.history.sent <= until) {
      if (performance.now() - startedAt > withinMs) {
        throw new Error(`no ${more} writes in ${withinMs} ms: ${JSON.stringify(this.seen)}`)
      }
      await pause(WRITE_PAUSE_MS)
    }
  }

  /** Stops writing and resolves when the last write is acknowledged. The readers continue. */
  async stopWriting(): Promise<void> {
    this.#isWriting = false
    await this.#writing
  }

  goOnWriting(): void {
    this.#isWriting = true
    this.#writing = this.#write()
  }

  /** Stops writing, and ends when every node is ready and caught up. Throws if a response was wrong. */
  async end(recoveryMsMax = 20_000): Promise<Seen> {
    await this.stopWriting()
    const until = performance.now() + recoveryMsMax
    // Nodes that were caught up before can lack the latest writes.
    this.#level.clear()
    try {
      await Promise.all(this.#nodes.map(node => this.#hasRecovered(node, until)))
    } finally {
      this.#isOver = true
      await Promise.all(this.#work)
    }
    expect(this.#wrong.slice(0, 5)).toEqual([])
    this.seen.commits = (await commitsIn(this.#nodes[0]!.client!)) - this.#commitsAtFirst
    expect(this.seen.decided).toBeGreaterThan(20)
    return this.seen
  }

  async #write(): Promise<void> {
    let turn = 0
    while (this.#isWriting) {
      turn += 1
      await this.#insist(this.history.send(performance.now()), turn)
      await pause(WRITE_PAUSE_MS)
    }
  }

  async #insist(number: number, turn: number): Promise<void> {
    for (let attempt = turn; ; attempt += 1) {
      const node = this.#nodes[attempt % this.#nodes.length]!
      const { incarnation } = node
      const status = node.client ? await writeAt(node.client, number) : 0
      if (status === 200) return this.history.acknowledge(performance.now(), incarnation)
      this.seen.failedWrites += 1
      if (status !== 0 && status !== 503) this.#wrong.push(`${incarnation} answered a write with ${status}`)
      await pause(RETRY_PAUSE_MS)
    }
  }

  async #ask(node: NodeProcess): Promise<void> {
    while (!this.#isOver) {
      const isLevel = node.client !== null && (await this.#askOnce(node, node.client))
      if (isLevel) this.#level.add(node)
      else this.#level.delete(node)
      await pause(ASK_PAUSE_MS)
    }
  }

  /** Makes one check at a time, so that the responses of a node are in the order of its states. */
  async #askOnce(node: NodeProcess, client: Client): Promise<boolean> {
    const { incarnation } = node
    const askedAt = performance.now()
    const seats = await askSeats(client)
    if (!Array.isArray(seats)) {
      this.seen.refused += 1
      if (seats !== 0 && seats !== 503) this.#wrong.push(`${incarnation} answered a question with ${seats}`)
      return false
    }
    this.seen.decided += 1
    const answer = { node: incarnation, askedAt, answeredAt: performance.now(), seats }
    const wrong = this.history.judge(answer)
    if (wrong !== null) this.#wrong.push(wrong)
    return this.history.isLast(answer)
  }

  async #hasRecovered(node: NodeProcess, until: number): Promise<void> {
    for (;;) {
      if ((await isReady(await node.serving())) && this.#level.has(node)) return
      if (performance.now() > until) {
        throw new Error(`${node.incarnation} has not recovered; ${this.#wrong.join('; ')}\n${node.log}`)
      }
      await pause(RETRY_PAUSE_MS)
    }
  }
}

async function commitsIn(client: Client): Promise<number> {
  return Number((await client.revision()).split('.')[1])
}

async function seatUsers(client: Client): Promise<void> {
  await client.createDocumentModel()
  for (const place of PLACES) await client.instance(`document:${place}`)
  const users = Array.from({ length: RING_SEATS }, (_, seat) => ({ key: `seat-${seat}` }))
  const answer = await client.post('/v2/facts/default/default/bulk/users', { operations: users })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
}

/** Resolves when the node has the last user of the model. */
async function hasUsers(client: Client): Promise<void> {
  while ((await client.get(`${FACTS}/users/seat-${RING_SEATS - 1}`)).status !== 200)
    await pause(RETRY_PAUSE_MS)
}

/** Returns the status of the response, or 0 without a response. */
async function writeAt(client: Client, number: number): Promise<number> {
  const { kind, seat } = ringWrite(number)
  const body = inBothPlaces(`seat-${seat}`)
  const method = kind === 'seat' ? 'POST' : 'DELETE'
  const call = client.send(method, `${FACTS}/role_assignments/bulk`, {
    body,
    signal: AbortSignal.timeout(CALL_MS_MAX),
  })
  return (await call.catch(() => ({ status: 0 }))).status
}

const QUESTIONS = PLACES.map(place =>
  Array.from({ length: RING_SEATS }, (_, seat) => question(`seat-${seat}`, 'read', `document:${place}`)),
).flat()

/** Returns the decisions for all seats, the status of another response, or 0 without a response. */
async function askSeats(client: Client): Promise<SeatAnswers | number> {
  const answer = await client
    .send<{ allow: { allow: boolean }[] }>('POST', '/allowed/bulk', {
      body: QUESTIONS,
      signal: AbortSignal.timeout(CALL_MS_MAX),
    })
    .catch(() => null)
  if (answer === null) return 0
  if (answer.status !== 200) return answer.status
  const allowed = answer.body.allow.map(({ allow }) => allow)
  return Array.from({ length: RING_SEATS }, (_, seat) => ({
    first: allowed[seat]!,
    second: allowed[RING_SEATS + seat]!,
  }))
}
