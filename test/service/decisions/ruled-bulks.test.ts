/** Bulk checks in environments with rules. */
import { expect, test } from 'vitest'
import type { DecideJob, DecisionPool } from '#decisions/decision-pool.ts'
import { LongDecisions } from '#decisions/long-decisions.ts'
import { RuledBulk } from '#decisions/rules/ruled-bulk.ts'
import { DecisionService } from '#decisions/decision-service.ts'
import type { DecisionEngine } from '#engine/engine.ts'
import { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import type { Change } from '#model/change.ts'
import { type Query, withoutAttributes } from '#model/decision.ts'
import { TextQuestion } from '#model/question.ts'
import { ruleOf, conditionSet, resourceType, tenant } from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const HERE = { isGone: false, requestId: '' }
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
  const work = new RuledBulk(new TextQuestion(asked)).decide(() => engine)
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

/** A service in which each part of a bulk takes a slice. At most four bulks can be in progress. */
function serviceOfSlowBulks(): DecisionService {
  let now = 0
  const engine = {
    hasRules: () => true,
    evaluateSome: (_: unknown, _stepsMax: number, verdicts: Uint8Array) => {
      now += 5
      return verdicts.fill(1).length
    },
  } as unknown as DecisionEngine
  return new DecisionService(
    { engine: () => engine },
    { bulkChecksMax: 1_000, poolJobsMax: 4 },
    {
      observer: null,
      pool: null,
      now: () => 0,
      sliced: new ThreadScheduler(new TimeBudget('http', () => now)),
    },
  )
}

const CHECK = { user: 'ann', action: 'read', type: 'document', key: null, tenant: null }
const TWO_PARTS = new TextQuestion(Array.from({ length: 200 }, () => CHECK))

test('an environment can use half of the slots for bulks, and is refused further bulks until a slot is free', async () => {
  const decisions = serviceOfSlowBulks()
  const bulk = async (environmentId: string) => decisions.evaluate(environmentId, TWO_PARTS, HERE)
  const own = [bulk('own'), bulk('own')]
  await expect(bulk('own')).rejects.toMatchObject({ code: 'OVERLOADED' })
  const others = [bulk('other-0'), bulk('other-1')]
  await expect(bulk('fifth')).rejects.toMatchObject({ code: 'OVERLOADED' })
  for (const verdicts of await Promise.all([...own, ...others])) expect(verdicts).toHaveLength(200)
  expect(await bulk('own')).toHaveLength(200)
})

test('further bulks of an environment that has used its slice wait, and a bulk of another begins immediately', () => {
  const decisions = serviceOfSlowBulks()
  const one = TWO_PARTS.part(0, 1)
  expect(decisions.evaluate('busy', one, HERE)).toHaveLength(1)
  expect(decisions.evaluate('busy', one, HERE)).toBeInstanceOf(Promise)
  expect(decisions.evaluate('other', one, HERE)).toHaveLength(1)
})

test('a bulk ends if its client disconnects', async () => {
  const leaving = { isGone: false, requestId: '' }
  const left = serviceOfSlowBulks().evaluate('a', TWO_PARTS, leaving)
  leaving.isGone = true
  await expect(left).rejects.toMatchObject({ code: 'OVERLOADED' })
})
