/** Expired facts that are not removed yet. Changes treat them like other facts, and decisions ignore them. */
import { expect, test } from 'vitest'
import { trySamples } from '#decisions/rules/tried-conditions.ts'
import { grantAssignment } from '#management/facts/role-assignments.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { RunningEnvironment } from '../../support/running-environment.ts'

const PAST = Date.UTC(2020, 0, 1)
const LATER = Date.UTC(2131, 0, 1)

async function environmentWithAnn(url?: string) {
  const environment = await RunningEnvironment.open(url)
  await environment.tenantRole('auditor')
  await environment.users('ann')
  const records = environment.reader()
  const [user] = records.list('user', lists.all('user'))
  const [role] = records.list('role', lists.rolesOfType(null))
  const [tenant] = records.list('tenant', lists.all('tenant'))
  return { environment, parts: { user: user!, role: role!, tenant: tenant!, instance: null } }
}

test.each([
  ['extended', LATER, '2131-01-01T00:00:00.000Z'],
  ['made permanent', null, undefined],
])('an expired assignment is %s by another grant, and keeps its id', async (_, end, shown) => {
  const { environment, parts } = await environmentWithAnn()
  const outcome = await environment.onOneState(context => grantAssignment(context, parts, PAST))
  expect(outcome).toEqual([true])
  const [id] = environment.idsOf('assignment')
  const again = await environment.execute('createRoleAssignment', {
    body: {
      user: 'ann',
      role: 'auditor',
      tenant: 'default',
      expires_at: end === null ? null : new Date(end).toISOString(),
    },
  })
  expect(again).toMatchObject({ id })
  expect(again.expires_at).toBe(shown)
  expect(environment.idsOf('assignment')).toEqual([id])
})

test('the trial of a condition set ignores expired assignments, like a decision', async () => {
  const { environment, parts } = await environmentWithAnn()
  const body = { conditions: { 'user.roles': { array_contains: 'auditor' } }, samples: [{ user: 'ann' }] }
  const valueOf = async () => {
    const trial = await environment.execute('tryConditionSet', { body })
    const engine = await environment.startedEngine()
    return runAtOnce(trySamples(engine, { kind: 'try', trial })).samples[0]!.value
  }
  await environment.onOneState(context => grantAssignment(context, parts, LATER))
  expect(await valueOf()).toBe('true')
  await environment.onOneState(context => grantAssignment(context, parts, PAST))
  expect(await valueOf()).toBe('false')
})

test('if an expired assignment is renewed and removed concurrently, only the first change commits', async () => {
  const { environment, parts } = await environmentWithAnn()
  await environment.onOneState(context => grantAssignment(context, parts, PAST))
  const [held] = environment.reader().list('assignment', lists.expiringAssignments())
  const outcomes = await environment.onOneState(
    context => grantAssignment(context, parts, LATER),
    context => {
      const found = context.records.byId('user', held!.userId)
      expect(found).not.toBe(null)
      context.records.delete(held!)
    },
  )
  expect(outcomes).toEqual([true, false])
  expect(environment.idsOf('assignment')).toEqual([held!.id])
})

test('assignments that expired before a restart are removed after it, without an index', async () => {
  const { environment, parts } = await environmentWithAnn(`lmdb:${storeDirectory()}`)
  const many = Array.from({ length: 250 }, (_, n) => `user-${n}`)
  await environment.users(...many)
  const [ann, ...others] = environment.reader().list('user', lists.all('user'))
  await environment.onOneState(context => {
    grantAssignment(context, { ...parts, user: ann! }, LATER)
    for (const user of others) grantAssignment(context, { ...parts, user }, PAST)
  })
  const [lasting] = environment.idsOf('assignment')
  const next = await environment.reopen()
  await next.until(() => next.count('assignment') === 1)
  expect(next.idsOf('assignment')).toEqual([lasting])
  const { data } = await next.execute('listAuditEntries', { query: { operation: 'expireGrants' } })
  const removed = data.map(({ input }) => (input as { grants: { user: string }[] }).grants)
  expect(removed.map(({ length }) => length).toSorted()).toEqual([100, 100, 50])
  expect(new Set(removed.flat().map(({ user }) => user))).toEqual(new Set(many))
})
