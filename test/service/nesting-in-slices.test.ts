/** Whether a nesting would close a circle is looked for along all groups around it, and in slices: there may be twenty thousand. */
import { expect, test } from 'vitest'
import { assignGroup } from '#services/management/group-nesting.ts'
import { YIELD_ROWS } from '#services/management/resumable.ts'
import { RunningEnvironment } from '../support/running-environment.ts'

const GROUPS = 10 * YIELD_ROWS
const tenant = 'default'

function nesting(parent: string, child: string) {
  return { params: { group_instance_key: parent }, body: { group_instance_key: child } }
}

/** `g0` is in `g1`, that in `g2`, and so on; `other` is in none. */
async function nested(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open()
  for (const key of ['g0', 'g1', 'other', `g${GROUPS}`]) {
    await environment.execute('createGroup', { body: { group_instance_key: key, group_tenant: tenant } })
  }
  await environment.execute('assignGroup', nesting('group:g1', 'group:g0'))
  const operations = Array.from({ length: GROUPS - 1 }, (_, n) => ({
    subject: `group:g${n + 1}`,
    relation: 'group',
    object: `group:g${n + 2}`,
    tenant,
  }))
  await environment.execute('createRelationshipTuples', { body: { operations } })
  return environment
}

test('the walk stops on its way, and finds the circle at its end', async () => {
  const environment = await nested()
  const { work } = environment.attempt(context =>
    assignGroup(context, nesting('group:g0', `group:g${GROUPS}`)),
  )
  let stops = 0
  const walk = (): void => {
    while (!work.next().done) stops += 1
  }
  expect(walk).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
  expect(stops).toBe(GROUPS / YIELD_ROWS)
})

test('a nesting behind the walk that would close a circle with its own keeps it from being made', async () => {
  const environment = await nested()
  const inner = nesting('group:g0', 'group:other')
  const { work, commit } = environment.attempt(context => assignGroup(context, inner))
  // The walk passes g1 before it stops.
  for (let stops = 0; stops < 3; stops += 1) expect(work.next().done).toBe(false)
  await environment.execute('assignGroup', nesting('group:other', 'group:g1'))
  while (!work.next().done);
  expect(await commit()).toBe(false)
  await expect(environment.execute('assignGroup', inner)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})
