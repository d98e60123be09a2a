/** Whether a nesting would close a circle is looked for along all groups around it, and in slices: there may be twenty thousand. */
import { randomBytes, randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { Draft } from '#services/management/draft.ts'
import { assignGroup } from '#services/management/group-nesting.ts'
import { YIELD_ROWS } from '#services/management/resumable.ts'
import { EnvironmentService } from '#services/environment-service.ts'
import { listRule } from '#store/keyspace.ts'
import { openStore } from '#store/open-store.ts'
import { surroundingsWith } from '../support/surroundings.ts'

const GROUPS = 10 * YIELD_ROWS
const tenant = 'default'
const scope = { organizationId: randomUUID(), projectId: randomUUID(), environmentId: randomUUID() }

test('the walk stops on its way, and finds the circle at its end', async () => {
  const store = await openStore('memory:', listRule)
  onTestFinished(() => store.close())
  const environment = await store.environment(scope.environmentId)
  const surroundings = surroundingsWith({ newCommitId: () => randomBytes(16) })
  const service = new EnvironmentService({
    store: environment,
    scope,
    surroundings,
    whenVisible: () => Promise.resolve(),
  })
  onTestFinished(() => service.close())
  await service.execute('createTenant', { body: { key: tenant, name: 'Default' } })
  for (const key of ['g0', 'g1', `g${GROUPS}`]) {
    await service.execute('createGroup', { body: { group_instance_key: key, group_tenant: tenant } })
  }
  const nesting = (parent: string, child: string) => ({
    params: { group_instance_key: parent },
    body: { group_instance_key: child },
  })
  await service.execute('assignGroup', nesting('group:g1', 'group:g0'))
  const operations = Array.from({ length: GROUPS - 1 }, (_, n) => ({
    subject: `group:g${n + 1}`,
    relation: 'group',
    object: `group:g${n + 2}`,
    tenant,
  }))
  await service.execute('createRelationshipTuples', { body: { operations } })

  const records = new Draft(environment.view)
  const context = { records, scope, now: Date.now(), newId: randomUUID }
  const work = assignGroup(context, nesting('group:g0', `group:g${GROUPS}`))
  let stops = 0
  const walk = (): void => {
    while (!work.next().done) stops += 1
  }
  expect(walk).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
  expect(stops).toBe(GROUPS / YIELD_ROWS)
})
