/** Single checks in environments with rules, on a clock that advances only when a decision is made. */
import { expect, test } from 'vitest'
import { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import type { DecisionPool } from '#decisions/decision-pool.ts'
import type { DecisionEngine } from '#engine/engine.ts'
import { DecisionService } from '#decisions/decision-service.ts'
import type { Change } from '#model/change.ts'
import { type Query, withoutAttributes } from '#model/decision.ts'
import { packQueries } from '#model/packed-queries.ts'
import { TextQuestion } from '#model/question.ts'
import { ruleOf, conditionSet, resourceType, tenant } from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const HERE = { isGone: false, requestId: '' }
const [ALLOWED, DENIED] = [Uint8Array.of(1), Uint8Array.of(0)]
const RULES: readonly Change[] = [conditionSet('ann', { 'user.key': { equals: 'ann' } }), ruleOf('ann')]

/** `slow` and `other` have rules, `plain` has none. Each step of `slow` advances the clock by `ms`. */
function serviceWith(ms: number) {
  const engineOf = (changes: readonly Change[]): SharedEngine => {
    return SharedEngine.with([resourceType('document', 'read'), tenant('default'), ...changes])
  }
  const engines = new Map([
    ['slow', engineOf(RULES)],
    ['other', engineOf(RULES)],
    ['plain', engineOf([])],
  ])
  let now = 0
  const slow = engines.get('slow')!
  const evaluateWithin = slow.evaluateWithin.bind(slow)
  slow.evaluateWithin = (asked, stepsMax) => {
    now += ms
    return evaluateWithin(asked, stepsMax)
  }
  return new DecisionService(
    { engine: environmentId => engines.get(environmentId) ?? null },
    { bulkChecksMax: 10, poolJobsMax: 2 },
    {
      observer: null,
      pool: null,
      now: () => 0,
      sliced: new ThreadScheduler(new TimeBudget('http', () => now)),
    },
  )
}

const query = (user: string): Query => ({
  user,
  action: 'read',
  type: 'document',
  key: null,
  tenant: null,
  queryContext: withoutAttributes(0),
})
const question = (user: string) => TextQuestion.single(query(user))

function packed(user: string) {
  const one = packQueries([query(user)])!
  one.isSingle = true
  return one
}

const nextTurn = () => new Promise(resolve => setImmediate(resolve))

test('checks above the time quota of an environment wait, and checks of other environments do not wait', async () => {
  const decisions = serviceWith(5)
  expect(decisions.evaluate('slow', question('ann'), HERE)).toEqual(ALLOWED)
  // The limit of bulks in progress does not apply to these checks, because each has its own connection.
  const late = ['ann', 'bob', 'ann', 'bob', 'ann'].map(user =>
    decisions.evaluate('slow', question(user), HERE),
  )
  expect(late.every(each => each instanceof Promise)).toBe(true)
  expect(decisions.evaluate('other', question('ann'), HERE)).toEqual(ALLOWED)
  expect(decisions.evaluate('other', question('bob'), HERE)).toEqual(DENIED)
  expect(decisions.evaluate('plain', question('ann'), HERE)).toEqual(DENIED)
  expect(await Promise.all(late)).toEqual([ALLOWED, DENIED, ALLOWED, DENIED, ALLOWED])
  await nextTurn()
  expect(decisions.evaluate('slow', question('bob'), HERE)).toEqual(DENIED)
})

test('a waiting check that is decoded from bytes is decided correctly, even if its buffer is overwritten', async () => {
  const decisions = serviceWith(5)
  expect(decisions.evaluate('slow', packed('ann'), HERE)).toEqual(ALLOWED)
  const asked = packed('ann')
  const late = decisions.evaluate('slow', asked, HERE)
  expect(late).toBeInstanceOf(Promise)
  new Uint8Array(asked.bytes.buffer).fill(0)
  expect(await late).toEqual(ALLOWED)
})

test('cheap checks are decided immediately, regardless of their number per event-loop iteration', () => {
  const decisions = serviceWith(0.001)
  const answers = Array.from({ length: 2_000 }, () => decisions.evaluate('slow', question('ann'), HERE))
  expect(new Set(answers)).toEqual(new Set([ALLOWED]))
})

test('a waiting check is not decided if its client disconnects', async () => {
  const decisions = serviceWith(5)
  void decisions.evaluate('slow', question('ann'), HERE)
  const leaving = { isGone: false, requestId: '' }
  const late = decisions.evaluate('slow', question('ann'), leaving)
  leaving.isGone = true
  await expect(late).rejects.toMatchObject({ code: 'OVERLOADED' })
})

test('while the pool decides a long check of an environment, further checks of the environment begin with fewer steps', async () => {
  const tried: number[] = []
  const engine = {
    hasRules: () => true,
    evaluateWithin: (_: unknown, stepsMax: number) => {
      tried.push(stepsMax)
      return null
    },
  } as unknown as DecisionEngine
  const inPool: ((isAllowed: boolean) => void)[] = []
  const pool = { read: () => new Promise(resolve => inPool.push(resolve)) } as unknown as DecisionPool
  const decisions = new DecisionService(
    { engine: () => engine },
    { bulkChecksMax: 10, poolJobsMax: 2 },
    { observer: null, pool, now: () => 0, sliced: new ThreadScheduler(new TimeBudget('http', () => 0)) },
  )
  const ask = () => decisions.evaluate('slow', question('ann'), HERE)
  const first = ask()
  await nextTurn()
  const late = ask()
  while (inPool.length < 1) await nextTurn()
  inPool[0]!(true)
  while (inPool.length < 2) await nextTurn()
  inPool[1]!(false)
  expect(await Promise.all([first, late])).toEqual([ALLOWED, DENIED])
  // Neither check is tried a second time in this thread.
  expect(tried).toHaveLength(2)
  expect(tried[1]).toBeLessThan(tried[0]! / 10)
})
