/** Removals in several commits (C.5), with a concurrent operation at every point of the removal. */
import { describe, expect, test } from 'vitest'
import type { WriteContext } from '#management/drafts/context.ts'
import { removeRetiredRelation, retireRelation } from '#management/groups/group-relations.ts'
import { addGroupRole, removeGroupRole } from '#management/groups/group-roles.ts'
import { call, type Call, RunningEnvironment } from '../../support/running-environment.ts'
import { errorCodeOf } from '../../support/documents/error-codes.ts'
import { runsOf } from '../../support/random-runs.ts'

/** More iterations of the microtask queue than any removal takes. */
const MOMENTS = 100
const MOMENTS_BEFORE = 40
/** Tests use every sixth moment, or every moment if `VERDICT_RUNS` requests more runs. */
const EVERY = Math.max(1, Math.round(6 / runsOf(1)))
const MEETINGS = Array.from({ length: MOMENTS_BEFORE + MOMENTS }, (_, n) => n - MOMENTS_BEFORE).filter(
  moment => (moment + MOMENTS_BEFORE) % EVERY === 0,
)
const tenant = 'default'
const onTeam = { params: { group_instance_key: 'team' } }
const editorOnD1 = { role: 'editor', resource: 'document', resource_instance: 'd1', tenant }
const question = { user: 'alice', action: 'update', type: 'document', key: 'd1', tenant: null }

const grant: Call = call('addGroupRole', { ...onTeam, body: editorOnD1 })
const revoke: Call = call('removeGroupRole', { ...onTeam, body: editorOnD1 })
const deleteTeam: Call = call('deleteGroup', onTeam)

/** Alice is in `team`. The tests nest `team` in `other` and grant it a role on `document:d1`. */
async function prepared(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open()
  await environment.resource('document', ['update'], { editor: ['update'], viewer: [] })
  await environment.users('alice')
  for (const key of ['team', 'other', 'inner']) await environment.group(key)
  await environment.join('team', 'alice')
  return environment
}

/** Starts `other` after `moment` microtask iterations, or before `removal` if the moment is negative. */
async function meet(environment: RunningEnvironment, moment: number, removal: Call, other: Call) {
  const [first, second] = moment < 0 ? [other, removal] : [removal, other]
  const began = errorCodeOf(first(environment))
  // At moment -1, `other` starts just before the removal, so that both read the same state.
  const turns = moment < 0 ? -1 - moment : moment
  for (let turn = 0; turn < turns; turn += 1) await undefined
  const outcomes = await Promise.all([began, errorCodeOf(second(environment))])
  await environment.purged()
  return moment < 0 ? outcomes.toReversed() : outcomes
}

const GROUP_LISTS = ['listGroupChildren', 'listGroupParents', 'listGroupRoles', 'listGroupUsers'] as const

/** Expects that lists can be shown, no row references a removed row, and decisions match the stored rows. */
async function expectWhole(environment: RunningEnvironment): Promise<void> {
  const query = {}
  await environment.execute('listResources', { query })
  for (const { group_instance_key } of await environment.execute('listGroups', { query })) {
    const params = { group_instance_key }
    for (const list of GROUP_LISTS) {
      const page = await environment.execute(list, { params, query })
      expect(page.total_count).toBe(page.data.length)
    }
  }
  expect(environment.orphanCount()).toBe(0)
  const right = environment.decide(question)
  expect(environment.oracle().evaluate(question)).toBe(right)
  expect(environment.freshEngine().evaluate(question)).toBe(right)
}

describe('the revocation of the last grant of a group', () => {
  test('with a concurrent new grant leaves the role if and only if the grant succeeded', async () => {
    const environment = await prepared()
    for (const moment of MEETINGS) {
      await grant(environment)
      const [revoked, granted] = await meet(environment, moment, revoke, grant)
      expect(revoked).toBe(null)
      expect([null, 'DUPLICATE_ENTITY']).toContain(granted)
      expect([moment, environment.decide(question)]).toEqual([moment, granted === null])
      await expectWhole(environment)
      if (granted === null) await revoke(environment)
    }
    expect(environment.count('relation')).toBe(0)
  })

  test.each(['first', 'second'])('conflicts with a concurrent grant that commits %s', async place => {
    const isFirst = place === 'first'
    const environment = await prepared()
    await grant(environment)
    const [relationId] = environment.idsOf('relation')
    const input = { ...onTeam, body: editorOnD1 }
    await environment.onOneState(context => removeGroupRole(context, input))
    await environment.onOneState(context => retireRelation(context, relationId!))
    const grantAgain = (context: WriteContext) => addGroupRole(context, input)
    const removal = (context: WriteContext) => removeRetiredRelation(context, relationId!)
    const both = isFirst ? [grantAgain, removal] : [removal, grantAgain]
    expect(await environment.onOneState(...both)).toEqual([true, false])
    expect(environment.decide(question)).toBe(isFirst)
    expect(environment.count('relation')).toBe(isFirst ? 1 : 0)
    await expectWhole(environment)
  })

  test('with a concurrent derivation over the same relation leaves a consistent state', async () => {
    const environment = await prepared()
    const params = { resource_id: 'document', role_id: 'viewer' }
    const entry = { role: 'member', on_resource: 'group', linked_by_relation: 'group_group_editor' }
    const body = { granted_to: { users_with_role: [entry] } }
    const take: Call = call('updateResourceRole', { params, body })
    for (const moment of MEETINGS) {
      await grant(environment)
      const [revoked] = await meet(environment, moment, revoke, take)
      expect(revoked).toBe(null)
      await expectWhole(environment)
      await environment.execute('updateResourceRole', { params, body: { granted_to: {} } })
    }
  })
})

describe('the deletion of a group', () => {
  const nest = (outer: string, inner: string): Call => {
    const input = { params: { group_instance_key: outer }, body: { group_instance_key: inner } }
    return call('assignGroup', input)
  }
  test.each<[string, Call]>([
    ['a grant to it', grant],
    [
      'a new member',
      call('createRoleAssignment', {
        body: { user: 'alice', role: 'member', resource_instance: 'group:team' },
      }),
    ],
    ['its nesting in another group', nest('other', 'team')],
    ['the nesting of another group in it', nest('team', 'inner')],
    [
      'a tuple',
      call('createRelationshipTuple', {
        body: { subject: 'group:team', relation: 'group', object: 'group:other' },
      }),
    ],
    [
      'a grant of its membership to another group',
      call('addGroupRole', {
        params: { group_instance_key: 'inner' },
        body: { role: 'member', resource: 'group', resource_instance: 'team', tenant },
      }),
    ],
  ])('with a concurrent operation leaves nothing of the group: %s', async (_what, operation) => {
    for (const moment of MEETINGS) {
      const environment = await prepared()
      await nest('other', 'inner')(environment)
      const [deleted] = await meet(environment, moment, deleteTeam, operation)
      expect(deleted).toBe(null)
      await expectWhole(environment)
      // A later tuple or grant can create a plain instance with the same key, which is not a group.
      expect(await errorCodeOf(environment.execute('getGroup', onTeam))).toBe('NOT_FOUND')
      expect(environment.decide(question)).toBe(false)
      await environment.close()
    }
  })
})
