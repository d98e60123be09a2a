/**
 * Records the decisions of nodes while their history is replaced. A state is the list of users that are
 * allowed. One commit allows a user in two places, which reveals partial commits and mixtures of two
 * histories.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { type Client, FACTS, question } from '#testing/processes/running-service.ts'
import { inBothPlaces, PLACES } from './workload.ts'
import type { NodeProcess } from './node-process.ts'

const ASK_PAUSE_MS = 5
const PATIENCE_MS = 25_000

/** The allowed users, `503`, or `gone` if the node does not respond. */
type State = string

export class Watch {
  readonly #users: readonly string[]
  readonly #states = new Map<NodeProcess, State[]>()
  #isOver = false

  /** Runs until the end of the current test. */
  constructor(nodes: readonly NodeProcess[], users: readonly string[]) {
    this.#users = users
    const watching = nodes.map(node => this.#watch(node))
    onTestFinished(async () => {
      this.#isOver = true
      await Promise.all(watching)
    })
  }

  /** Resolves when every node has this state. */
  async until(state: State): Promise<void> {
    const isSo = () => [...this.#states.values()].every(states => states.at(-1) === state)
    const endAt = performance.now() + PATIENCE_MS
    while (!isSo()) {
      if (performance.now() > endAt)
        throw new Error(`waited for ${state}: ${JSON.stringify([...this.#states.values()])}`)
      await pause(ASK_PAUSE_MS)
    }
  }

  /** Discards all recorded states except for the last one of each node. */
  forget(): void {
    for (const states of this.#states.values()) states.splice(0, states.length - 1)
  }

  /** The sequence of states of each node, without rejections. */
  decidedBy(): State[][] {
    return [...this.#states.values()].map(states =>
      states
        .filter(state => state !== '503' && state !== 'gone')
        .filter((state, index, all) => state !== all[index - 1]),
    )
  }

  async #watch(node: NodeProcess): Promise<void> {
    const states: State[] = []
    this.#states.set(node, states)
    while (!this.#isOver) {
      const state = node.client === null ? 'gone' : await this.#ask(node.client)
      if (state !== states.at(-1)) states.push(state)
      await pause(ASK_PAUSE_MS)
    }
  }

  async #ask(client: Client): Promise<State> {
    const body = this.#users.flatMap(user => PLACES.map(place => question(user, 'read', `document:${place}`)))
    const answer = await client.post<{ allow: { allow: boolean }[] }>('/allowed/bulk', body).catch(() => null)
    if (answer === null) return 'gone'
    if (answer.status !== 200) return String(answer.status)
    const allowed = answer.body.allow.map(({ allow }) => allow)
    return this.#users
      .map((user, index) => {
        const [first, second] = [allowed[2 * index]!, allowed[2 * index + 1]!]
        if (first !== second) return `half of ${user}`
        return first ? user : ''
      })
      .filter(text => text !== '')
      .join(' and ')
  }
}

export async function makeModel(client: Client): Promise<void> {
  await client.createDocumentModel()
  for (const place of PLACES) await client.instance(`document:${place}`)
}

/** Creates a user and allows it in both places with one commit. */
export async function grantBoth(client: Client, user: string): Promise<void> {
  await client.user(user)
  const answer = await client.post(`${FACTS}/role_assignments/bulk`, inBothPlaces(user))
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
}
