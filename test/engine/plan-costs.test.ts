/** Work of plans for users with access in many tenants, counted in steps (filter.md P28, P32, P54, P56). */
import { expect, test } from 'vitest'
import type { PlanAnswer, PlanJob } from '#decisions/plan/planned-question.ts'
import { planInSlices } from '#decisions/plan/plan-job.ts'
import type { Change } from '#model/change.ts'
import { FILTER_NODES_MAX, PLAN_TENANTS_MAX } from '#model/limits.ts'
import * as made from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

const OTHERS = names(30_000, 'other').map(key => made.instance(`folder:${key}`, 'acme'))

const JOB: PlanJob = {
  kind: 'plan',
  question: {
    user: 'alice',
    action: 'read',
    type: 'document',
    tenant: null,
    hasTenantColumn: false,
    attributes: [{ name: 'owner', type: 'string', nulls: 'sent' }],
    relations: ['parent'],
    tenantsAgree: false,
    idsMax: 30_000,
    requestAttributes: { readAt: 0, attributes: { user: null, resource: null, tenant: null, context: null } },
  },
}

const BASE: readonly Change[] = [...made.FOLDERS, ...made.DOCUMENTS, made.user('alice'), made.tenant('acme')]

/** Tenants in each of which alice is viewer of a folder. The first ones also have a document. */
function folders(tenants: number, withDocument: number): readonly Change[] {
  return names(tenants, 't').flatMap((tenant, index) => [
    made.tenant(tenant),
    made.instance(`folder:${tenant}`, tenant),
    made.assign('alice', 'viewer', `folder:${tenant}`),
    ...(index < withDocument ? [made.instance(`document:${tenant}`, tenant)] : []),
  ])
}

/** Tenants with a document each. A rule has another result in each of them. */
function ruled(tenants: number): readonly Change[] {
  return [
    made.conditionSet('everyone', {}),
    made.conditionSet(
      'own',
      { 'resource.owner': { equals: { ref: 'tenant.key' } } },
      { side: 'resource', type: 'document' },
    ),
    made.ruleOf('everyone', 'own'),
    ...names(tenants, 't').flatMap(tenant => [
      made.tenant(tenant),
      made.instance(`document:${tenant}`, tenant),
    ]),
  ]
}

/** Runs a plan. Returns the answer, or the error, and the number of steps. */
function planned(facts: readonly Change[]): { answer: PlanAnswer | null; error: unknown; steps: number } {
  const work = planInSlices(SharedEngine.with([...BASE, ...facts]), JOB)
  let steps = 0
  try {
    for (;;) {
      const step = work.next()
      steps += 1
      if (step.done) return { answer: step.value, error: null, steps }
    }
  } catch (error) {
    return { answer: null, error, steps }
  }
}

test.each<[string, (tenants: number) => readonly Change[]]>([
  ['relation columns', tenants => folders(tenants, tenants)],
  ['rules', ruled],
])('a plan reads the index once for all tenants that %s distinguish', (_what, facts) => {
  const few = planned([...OTHERS, ...facts(2)])
  const many = planned([...OTHERS, ...facts(102)])
  expect(few.answer).toMatchObject({ kind: 'conditional' })
  expect(many.answer).toMatchObject({ kind: 'conditional' })
  // A walk over the index has more than 30 steps.
  expect(few.steps).toBeGreaterThan(30)
  expect(many.steps - few.steps).toBeLessThan(4 * 100)
})

test('tenants without rows add nothing to the filter', () => {
  const { answer } = planned(folders(PLAN_TENANTS_MAX, 3))
  expect(answer).toMatchObject({ kind: 'conditional' })
  expect(answer).toEqual(planned(folders(3, 3)).answer)
})

test.each([
  [PLAN_TENANTS_MAX + 1, 3, 'FILTER_TOO_COSTLY', { source: 'tenants', limit: PLAN_TENANTS_MAX }],
  [
    FILTER_NODES_MAX + 1,
    FILTER_NODES_MAX + 1,
    'FILTER_TOO_LARGE',
    { source: 'nodes', limit: FILTER_NODES_MAX },
  ],
])('a plan for subjects in %i tenants, of which %i have rows, is refused', (tenants, rows, code, detail) => {
  expect(planned(folders(tenants, rows)).error).toMatchObject({ code, planDetail: [detail] })
})
