/** A plan without a scan belongs to one state, although commits are made during it (filter.md P62). */
import { expect, test } from 'vitest'
import type { PlanAnswer, PlanJob } from '#decisions/plan/planned-question.ts'
import { planInSlices } from '#decisions/plan/plan-job.ts'
import type { Change } from '#model/change.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import * as made from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const DOCUMENTS = 3_000
const OTHERS = 3_000
const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

const FACTS: readonly Change[] = [
  ...made.FOLDERS,
  ...made.DOCUMENTS,
  made.tenant('acme'),
  made.user('alice'),
  // Because of the rule, the plan reads the keys of all tenants after the roles of the user.
  made.conditionSet('everyone', {}),
  made.conditionSet('own', { 'resource.owner': { equals: 'x' } }, { side: 'resource', type: 'document' }),
  made.ruleOf('everyone', 'own'),
  ...names(OTHERS, 'other').map(key => made.instance(`document:${key}`, 'acme')),
  ...names(DOCUMENTS, 'd').flatMap(key => [
    made.instance(`document:${key}`),
    made.assign('alice', 'viewer', `document:${key}`),
  ]),
]

/** One commit that moves a role and an instance: a plan must see both parts or none. */
const MOVE: readonly Change[] = [
  made.removed(made.assign('alice', 'viewer', 'document:d0')),
  made.instance('document:moved'),
  made.assign('alice', 'viewer', 'document:moved'),
  { kind: 'instance-removed', instance: made.instanceKey('document:other0') },
]

const JOB: PlanJob = {
  kind: 'plan',
  question: {
    user: 'alice',
    action: 'read',
    type: 'document',
    tenant: null,
    hasTenantColumn: true,
    attributes: [{ name: 'owner', type: 'string', nulls: 'sent' }],
    relations: [],
    tenantsAgree: false,
    idsMax: 30_000,
    requestAttributes: { readAt: 0, attributes: { user: null, resource: null, tenant: null, context: null } },
  },
}

function textOf({ kind, filter, ids }: PlanAnswer): string {
  return `${kind} ${ids} ${filter === null ? '' : Buffer.from(filter).toString()}`
}

function answerOf(engine: SharedEngine): string {
  return textOf(runAtOnce(planInSlices(engine, JOB)))
}

test('a commit between any two steps of a plan is included as a whole', () => {
  const before = answerOf(SharedEngine.with(FACTS))
  const after = answerOf(SharedEngine.with([...FACTS, ...MOVE]))
  expect(before).not.toBe(after)
  let steps = 0
  for (let isOver = false; !isOver; steps++) {
    const engine = SharedEngine.with(FACTS)
    const work = planInSlices(engine, JOB)
    let step = work.next()
    for (let done = 0; done < steps && !step.done; done++) step = work.next()
    isOver = step.done === true
    if (!isOver) engine.apply(MOVE)
    while (!step.done) step = work.next()
    expect(textOf(step.value), `after ${steps} steps`).toBe(isOver ? before : after)
  }
  // The plan reads lists of many keys, so it has pauses.
  expect(steps).toBeGreaterThan(10)
})
