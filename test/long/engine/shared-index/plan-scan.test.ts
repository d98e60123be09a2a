/** A plan scans at most 1,000,000 stored instances (filter.md P56). */
import { expect, test } from 'vitest'
import type { AccessPlan } from '#filter/tree.ts'
import { PLAN_INSTANCES_MAX } from '#model/limits.ts'
import { askRoutes } from '#testing/engines/ask-routes.ts'
import * as made from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const APPLIED_AT_ONCE = 10_000

test('a plan scans 1,000,000 instances, and refuses to scan one more', async () => {
  const engine = SharedEngine.with([
    ...made.FOLDERS,
    ...made.DOCUMENTS,
    made.user('alice'),
    made.conditionSet('everyone', {}),
    made.conditionSet(
      'own',
      { 'resource.owner': { equals: 'alice' } },
      { side: 'resource', type: 'document' },
    ),
    made.ruleOf('everyone', 'own'),
    { ...made.instance('document:own'), attributes: { owner: 'alice' } },
  ])
  for (let from = 1; from < PLAN_INSTANCES_MAX; from += APPLIED_AT_ONCE) {
    const count = Math.min(APPLIED_AT_ONCE, PLAN_INSTANCES_MAX - from)
    engine.apply(Array.from({ length: count }, (_, index) => made.instance(`document:${from + index}`)))
  }
  const body = JSON.stringify({ user: { key: 'alice' }, action: 'read', resource: { type: 'document' } })
  const ask = () => askRoutes(() => engine, 0)<AccessPlan>('planAccess', body)
  expect(await ask()).toMatchObject({ filter: { operator: 'eq', field: 'key', value: 'own' } })
  engine.apply([made.instance('document:one-more')])
  await expect(ask()).rejects.toMatchObject({
    code: 'FILTER_TOO_COSTLY',
    planDetail: [{ source: 'instances', limit: PLAN_INSTANCES_MAX }],
  })
})
