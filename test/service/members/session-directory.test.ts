/** The sessions that a node accepts, if the rows already include commits that are applied later. */
import { expect, test } from 'vitest'
import { SessionDirectory } from '#management/sessions/session-directory.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import type { MemberGroupRecord, MemberRecord } from '#entities/organization-records.ts'
import { ISSUER, member, memberGroup, onOrganization, organizationOfPeople, sessionOf } from './people.ts'

const other: MemberGroupRecord = { ...memberGroup, id: 'c0000000-0000-4000-8000-000000000003', group: 'dev' }
const write = onOrganization('write')

/** A directory of one session in the group `ops`, and a function that applies all commits that it lacks. */
async function opsSession(changed: Partial<MemberRecord> = {}) {
  const { organization, put, clock } = await organizationOfPeople()
  await put(
    { ...member, grants: [], ...changed },
    memberGroup,
    other,
    sessionOf(member.id, { groups: ['ops'] }),
  )
  const directory = new SessionDirectory({
    records: () => new RecordReader(organization.store.view),
    places: () => ({ organizationId: 'o', projects: [], environments: [] }),
    issuer: ISSUER,
    owners: { owners: new Set(), ownerGroups: new Set() },
    times: { sessionIdleMs: 1_800_000 },
    now: () => clock.now,
    pause: () => Promise.resolve(),
  })
  await directory.load()
  let after = await organization.store.ledger.head()
  const { commits, store } = organization
  const applied = async (count: number): Promise<void> => {
    for await (const entry of store.ledger.feed(after)) {
      await directory.apply(entry)
      after = entry.revision
      count -= 1
      if (count === 0) break
    }
  }
  const grants = () => [...directory.all()].flatMap(session => session.grants)
  return { put, grants, applied, remove: () => commits.run(draft => draft.delete(memberGroup)) }
}

test('a session has the grants of its group before the group changes', async () => {
  const { grants } = await opsSession()
  expect(grants()).toEqual([write])
})

test('a session of a member at another issuer than the configured one does not count', async () => {
  const { grants } = await opsSession({ issuer: 'https://former.example.com', grants: [write] })
  expect(grants()).toEqual([])
})

test('a session loses the grants of a group that is deleted after a change of another group', async () => {
  const { put, grants, applied, remove } = await opsSession()
  await put({ ...other, grants: [], updatedAt: 2 })
  await remove()
  await applied(2)
  expect(grants()).toEqual([])
})

test('a session loses the grants of a group that is renamed after a change of another group', async () => {
  const { put, grants, applied } = await opsSession()
  await put({ ...other, grants: [], updatedAt: 2 })
  await put({ ...memberGroup, group: 'admins', updatedAt: 2 })
  await put({ ...memberGroup, group: 'owners', updatedAt: 2 })
  await applied(3)
  expect(grants()).toEqual([])
})

test('a session has the present grants of a group that changes twice within a millisecond', async () => {
  const { put, grants, applied } = await opsSession()
  const read = onOrganization('read')
  await put({ ...memberGroup, grants: [onOrganization('admin')], updatedAt: 2 })
  await applied(1)
  await put({ ...memberGroup, grants: [read], updatedAt: 2 })
  await applied(1)
  expect(grants()).toEqual([read])
})
