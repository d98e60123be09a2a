/** Traversals of nested groups and of derivations, which yield to other requests. */
import { describe, expect, test } from 'vitest'
import { assignGroup } from '#management/groups/group-nesting.ts'
import { addGroupRole } from '#management/groups/group-roles.ts'
import { YIELD_ROWS } from '#scheduling/resumable.ts'
import { RunningEnvironment } from '../support/running-environment.ts'

const GROUPS = 10 * YIELD_ROWS
const tenant = 'default'

function nesting(parent: string, child: string) {
  return { params: { group_instance_key: parent }, body: { group_instance_key: child } }
}

/** Creates groups of which each is nested in the next one, from `g0` on. The group `other` is in no group. */
async function nested(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open()
  for (const key of ['g0', 'g1', 'other', `g${GROUPS}`]) {
    await environment.group(key)
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

test('the search for nesting cycles yields and finds a cycle at its end', async () => {
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

test('a nesting that would form a cycle with a concurrent nesting does not commit, and its retry is refused', async () => {
  const environment = await nested()
  const inner = nesting('group:g0', 'group:other')
  const { work, commit } = environment.attempt(context => assignGroup(context, inner))
  // The traversal visits `g1` before its third yield.
  for (let stops = 0; stops < 3; stops += 1) expect(work.next().done).toBe(false)
  await environment.execute('assignGroup', nesting('group:other', 'group:g1'))
  while (!work.next().done);
  expect(await commit()).toBe(false)
  await expect(environment.execute('assignGroup', inner)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

describe('a group grant over a relation without its derivation', () => {
  const ROLES = 5 * YIELD_ROWS
  const grant = { role: 'viewer', resource: 'document', resource_instance: 'd1', tenant }
  const onTeam = { params: { group_instance_key: 'team' }, body: grant }
  const derives = {
    users_with_role: [{ role: 'member', on_resource: 'group', linked_by_relation: 'group_group_viewer' }],
  }
  const roles = Object.fromEntries(Array.from({ length: ROLES }, (_, n) => [`role-${n}`, []]))

  async function takenAway(): Promise<RunningEnvironment> {
    const environment = await RunningEnvironment.open()
    await environment.resource('document', ['read'], { viewer: [], ...roles })
    await environment.group('team')
    await environment.execute('addGroupRole', onTeam)
    await environment.execute('updateResourceRole', {
      params: { resource_id: 'document', role_id: 'viewer' },
      body: { granted_to: {} },
    })
    return environment
  }

  test('replaces the relation, and yields at each role', async () => {
    const environment = await takenAway()
    const { work, commit } = environment.attempt(context => addGroupRole(context, onTeam))
    let stops = 0
    while (!work.next().done) stops += 1
    expect(stops).toBeGreaterThan(ROLES)
    expect(await commit()).toBe(true)
  })

  test('conflicts with a concurrent derivation over the relation, and its retry creates another relation', async () => {
    const environment = await takenAway()
    const { work, commit } = environment.attempt(context => addGroupRole(context, onTeam))
    // The traversal has visited the first roles.
    for (let stops = 0; stops < 2; stops += 1) expect(work.next().done).toBe(false)
    await environment.execute('updateResourceRole', {
      params: { resource_id: 'document', role_id: 'role-0' },
      body: { granted_to: derives },
    })
    while (!work.next().done);
    expect(await commit()).toBe(false)
    await environment.execute('addGroupRole', onTeam)
    const onDocument = { params: { resource_id: 'document' }, query: {} }
    const relations = await environment.execute('listRelations', onDocument)
    expect(JSON.stringify(relations)).toContain('group_group_viewer_2')
  })
})
