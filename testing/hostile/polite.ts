/** A well-behaved tenant next to a hostile tenant. It sends checks at a fixed rate, and some changes. */
import { setTimeout as pause } from 'node:timers/promises'
import type { HostileClient } from './caller.ts'

export interface Felt {
  /** Milliseconds since each check was due or sent early, so that a delay before it was sent is included. */
  readonly decisions: number[]
  readonly writes: number[]
  /** Descriptions of wrong decisions, errors and broken connections. */
  readonly failures: string[]
}

const FACTS = '/v2/facts/default/polite'
const DOCUMENTS = 20

export async function arrangePolite(caller: HostileClient): Promise<void> {
  const roles = { viewer: { name: 'Viewer', permissions: ['read'] } }
  const document = { key: 'document', name: 'Document', actions: { read: {} }, roles }
  await caller.done('POST', '/v2/schema/default/polite/resources', document)
  for (const key of ['alice', 'bob']) await caller.done('POST', `${FACTS}/users`, { key })
  for (let n = 0; n < DOCUMENTS; n += 1) {
    const instance = { resource: 'document', key: `d${n}`, tenant: 'default' }
    await caller.done('POST', `${FACTS}/resource_instances`, instance)
    if (n % 2 === 0) await caller.done('POST', `${FACTS}/role_assignments`, held('alice', n))
  }
}

const held = (user: string, n: number) => ({ user, role: 'viewer', resource_instance: `document:d${n}` })

const question = (user: string, n: number) => ({
  user: { key: user },
  action: 'read',
  resource: { type: 'document', key: `d${n}`, tenant: 'default' },
})

export interface Pace {
  readonly decisionsPerSecond: number
  readonly writesPerSecond: number
}

/** Runs until `isOver` returns true, and then waits for requests that are in flight. */
export async function livePolitely(caller: HostileClient, pace: Pace, isOver: () => boolean): Promise<Felt> {
  const felt: Felt = { decisions: [], writes: [], failures: [] }
  await Promise.all([decide(caller, felt, pace, isOver), write(caller, felt, pace, isOver)])
  return felt
}

async function decide(caller: HostileClient, felt: Felt, pace: Pace, isOver: () => boolean): Promise<void> {
  const underWay = new Set<Promise<void>>()
  const from = performance.now()
  for (let n = 0; !isOver(); n += 1) {
    const due = from + (n * 1_000) / pace.decisionsPerSecond
    const early = due - performance.now()
    if (early > 1) await pause(early)
    const one = ask(caller, felt, Math.min(due, performance.now()), n % DOCUMENTS)
    underWay.add(one)
    void one.then(() => underWay.delete(one))
  }
  await Promise.all(underWay)
}

async function ask(caller: HostileClient, felt: Felt, from: number, n: number): Promise<void> {
  try {
    const { status, text } = await caller.send('POST', '/allowed', question('alice', n))
    felt.decisions.push(performance.now() - from)
    const isRight = status === 200 && (JSON.parse(text) as { allow: boolean }).allow === (n % 2 === 0)
    if (!isRight) felt.failures.push(`a decision: ${status} ${text}`)
  } catch (error) {
    felt.failures.push(`a decision: ${String(error)}`)
  }
}

/** Grants and revokes a role alternately, and checks the effect after each change. */
async function write(caller: HostileClient, felt: Felt, pace: Pace, isOver: () => boolean): Promise<void> {
  // Ends only after the last grant was revoked, so that the next measurement starts in the same state.
  for (let turn = 0; !isOver() || turn % 2 === 1; turn += 1) {
    const [n, isGiven] = [(turn >> 1) % DOCUMENTS, turn % 2 === 0]
    const from = performance.now()
    try {
      const method = isGiven ? 'POST' : 'DELETE'
      const { status, text } = await caller.send(method, `${FACTS}/role_assignments`, held('bob', n))
      felt.writes.push(performance.now() - from)
      if (status >= 300) felt.failures.push(`a write: ${status} ${text}`)
      const decided = await caller.send('POST', '/allowed', question('bob', n))
      if ((JSON.parse(decided.text) as { allow?: boolean }).allow !== isGiven) {
        felt.failures.push(`behind a write: ${decided.status} ${decided.text}`)
      }
    } catch (error) {
      felt.failures.push(`a write: ${String(error)}`)
    }
    await pause(1_000 / pace.writesPerSecond)
  }
}
