/** Bulk checks in environments with rules. */
import { expect, test } from 'vitest'
import type { DecideJob, DecisionPool } from '#decisions/decision-pool.ts'
import { LongDecisions } from '#decisions/long-decisions.ts'
import { RuledBulk } from '#decisions/rules/ruled-bulk.ts'
import { RuledBulks } from '#decisions/ruled-bulks.ts'
import type { Change } from '#model/change.ts'
import { type Query, withoutAttributes } from '#model/decision.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { ruleOf, conditionSet, resourceType, tenant } from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const HERE = { isGone: false }
const VERDICTS = Uint8Array.of(1)
const fine = (): void => {}

interface State {
  isDone: boolean
  resumed: number
}

function* until(state: State): Resumable<Uint8Array> {
  while (!state.isDone) {
    state.resumed += 1
    yield
  }
  return VERDICTS
}

const working = (): State => ({ isDone: false, resumed: 0 })
const readOf = (state: State, waiting = HERE) => ({ work: until(state), waiting, check: fine })

test('an environment with many bulks does not delay the bulk of another environment', async () => {
  const bulks = new RuledBulks(10)
  const [many, one] = [[working(), working(), working()], working()]
  const answers = [...many.map(state => bulks.run('many', readOf(state))), bulks.run('one', readOf(one))]
  while (one.resumed === 0) await new Promise(resolve => setImmediate(resolve))
  // The bulk of the other environment runs after the first bulk, not after the third.
  expect(many.filter(({ resumed }) => resumed > 0).length).toBeLessThanOrEqual(2)
  one.isDone = true
  expect(await answers.at(-1)).toBe(VERDICTS)
  for (const state of many) state.isDone = true
  expect(await Promise.all(answers)).toHaveLength(4)
})

test('a bulk yields after a few expensive checks, even if the checks before them were cheap', () => {
  const engine = new SharedEngine()
  const user = (key: string, length: number): Change => ({
    kind: 'user-put',
    user: key,
    attributes: { text: 'a'.repeat(length) },
  })
  engine.apply([
    resourceType('document', 'read'),
    tenant('default'),
    user('cheap', 1),
    user('expensive', 6_000),
    conditionSet('s', { 'user.text': { match: '*a*a*b' } }),
    ruleOf('s'),
  ])
  const asked = ['cheap', 'expensive'].flatMap(key =>
    Array.from({ length: 200 }, (): Query => ({
      user: key,
      action: 'read',
      type: 'document',
      key: null,
      tenant: null,
      queryContext: withoutAttributes(0),
    })),
  )
  let stops = 0
  const work = new RuledBulk(asked).decide(() => engine)
  while (!work.next().done) stops += 1
  expect(stops).toBeGreaterThan(150)
})

test('a check that waits for the pool keeps its attributes after its request body is gone', async () => {
  const jobs: DecideJob[] = []
  const read = (_: string, job: DecideJob) => Promise.resolve(jobs.push(job) > 0)
  const decisions = new LongDecisions({ read } as unknown as DecisionPool)
  let body = 'first'
  const decide = () => {
    const sent = () => ({ user: { mail: body }, resource: null, tenant: null, context: null })
    const queryContext = { readAt: 0, sent }
    const query = { user: 'ann', action: 'read', type: 'document', key: null, tenant: null, queryContext }
    return decisions.decide('environment', query, HERE)
  }
  const first = decide()
  body = 'second'
  const second = decide()
  body = 'third'
  expect(await Promise.all([first, second])).toEqual([true, true])
  const said = jobs.map(({ question }) => question.requestAttributes?.attributes)
  expect(said).toMatchObject([{ user: { mail: 'first' } }, { user: { mail: 'second' } }])
})

test('an environment can use half of the slots for bulks, and is refused further bulks until a slot is free', async () => {
  const bulks = new RuledBulks(4)
  const states = [working(), working(), working(), working()]
  const own = states.slice(0, 2).map(state => bulks.run('own', readOf(state)))
  await expect(bulks.run('own', readOf(working()))).rejects.toMatchObject({ code: 'OVERLOADED' })
  const others = states.slice(2).map((state, index) => bulks.run(`other-${index}`, readOf(state)))
  await expect(bulks.run('fifth', readOf(working()))).rejects.toMatchObject({ code: 'OVERLOADED' })
  for (const state of states) state.isDone = true
  await Promise.all([...own, ...others])
  const done = { isDone: true, resumed: 0 }
  expect(await bulks.run('own', readOf(done))).toBe(VERDICTS)
})

test('a bulk ends if its client disconnects, or if its decisions would be stale', async () => {
  const bulks = new RuledBulks(4)
  const leaving = { isGone: false }
  const left = bulks.run('a', readOf(working(), leaving))
  const stale = bulks.run('b', {
    ...readOf(working()),
    check: () => {
      throw new Error('stale')
    },
  })
  leaving.isGone = true
  await expect(left).rejects.toMatchObject({ code: 'OVERLOADED' })
  await expect(stale).rejects.toThrow('stale')
})
