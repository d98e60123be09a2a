/** Recorded uses of sessions (administration.md C6), and the removal of expired ones (C9). */
import { expect, test } from 'vitest'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { useIntervalMs } from '#management/members/session-ends.ts'
import { type CommitOrganization, REMOVE_EVERY_MS, SessionUses } from '#management/sessions/session-uses.ts'
import { AuthzError } from '#model/errors.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { member, organizationOfPeople, SESSION_IDLE_MS, SESSION_MAX_MS, sessionOf } from './people.ts'

/** A node with one session. */
async function nodeWithSession() {
  const people = await organizationOfPeople()
  const { clock, put, sessions, service, principal, organization } = people
  const session = sessionOf(member.id)
  await put(member, session)
  const commit: CommitOrganization = command => service.commit(principal, command)
  const node = () => new SessionUses({ now: () => clock.now, idleMs: SESSION_IDLE_MS })
  const entries = () => [...new RecordReader(organization.store.view).list('audit', lists.all('audit'))]
  return { clock, commit, node, uses: node(), session, entries, remove: organization.commits, sessions }
}

test('a recorded use is written once, without an audit entry', async () => {
  const { clock, commit, uses, session, sessions, entries } = await nodeWithSession()
  clock.now += 1_000
  expect(uses.note(session.id)).toEqual({ sessionId: session.id, at: clock.now })
  expect(uses.lastUseOf(session.id)).toBe(clock.now)
  await uses.write(commit)
  expect(sessions()).toEqual([{ ...session, lastUsedAt: clock.now }])
  expect([uses.lastUseOf(session.id), entries()]).toEqual([null, []])
  let commits = 0
  await uses.write(command => ((commits += 1), commit(command)))
  expect(commits).toBe(0)
})

test('the latest use counts, whichever node writes first', async () => {
  const { clock, commit, node, session, sessions } = await nodeWithSession()
  const [one, two] = [node(), node()]
  clock.now += 1_000
  one.note(session.id)
  const latest = (clock.now += 1_000)
  two.note(session.id)
  await two.write(commit)
  await one.write(commit)
  expect(sessions()).toMatchObject([{ lastUsedAt: latest }])
})

test('a use during a commit is written by the next one, and one of an ended session creates no row', async () => {
  const { clock, commit, uses, session, sessions, remove } = await nodeWithSession()
  clock.now += 1_000
  uses.note(session.id)
  await uses.write(async command => {
    await commit(command)
    clock.now += 1_000
    uses.note(session.id)
  })
  expect(uses.lastUseOf(session.id)).toBe(clock.now)
  await uses.write(commit)
  expect(sessions()).toMatchObject([{ lastUsedAt: clock.now }])
  uses.note(session.id)
  await remove.run(draft => draft.delete(session))
  await uses.write(commit)
  expect([sessions(), uses.lastUseOf(session.id)]).toEqual([[], null])
})

test('a use that the store rejects is kept if the commit can be repeated', async () => {
  const { clock, commit, uses, session, sessions } = await nodeWithSession()
  clock.now += 1_000
  uses.note(session.id)
  const rejected = (code: 'OVERLOADED' | 'INTERNAL') => () => Promise.reject(new AuthzError(code, 'no'))
  await uses.write(rejected('OVERLOADED'))
  await expect(uses.write(rejected('INTERNAL'))).rejects.toThrow('no')
  await uses.write(commit)
  expect(sessions()).toMatchObject([{ lastUsedAt: clock.now }])
})

test.each([
  ['that another node can still extend', { lastUsedAt: 0 }, SESSION_IDLE_MS * 1.2 + 59_999, 1],
  ['that no node extends', { lastUsedAt: 0 }, SESSION_IDLE_MS * 1.2 + 60_000, 0],
  ['that is in use', { lastUsedAt: SESSION_MAX_MS }, SESSION_MAX_MS - 1, 1],
  ['after the maximum time', { lastUsedAt: SESSION_MAX_MS }, SESSION_MAX_MS, 0],
])('the row of a session %s is kept or deleted', async (_, { lastUsedAt }, after, left) => {
  const { clock, commit, uses, session, sessions, node } = await nodeWithSession()
  const begun = clock.now
  clock.now = begun + lastUsedAt
  uses.note(session.id)
  await uses.write(commit)
  clock.now = begun + after
  await node().removeExpired(commit)
  expect(sessions()).toHaveLength(left)
})

test.each([5_000, 14_400_000, 86_400_000])(
  'with an idle time of %i ms, the row of an expired session is deleted within an hour',
  async idleMs => {
    const { clock, commit, session, sessions, remove } = await nodeWithSession()
    await remove.run(draft => draft.put({ ...session, expiresAt: clock.now + 2 * idleMs + 3_600_000 }))
    clock.now += idleMs + 3_600_000 - REMOVE_EVERY_MS
    await new SessionUses({ now: () => clock.now, idleMs }).removeExpired(commit)
    expect(sessions()).toEqual([])
    expect(useIntervalMs(idleMs)).toBeLessThanOrEqual(idleMs / 10)
  },
)
