/**
 * The grants of the sessions that a thread accepts: after each change of a group, if the rows already include
 * commits that are applied later, and if there are many.
 */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { SESSION_GRANTS_MAX, SESSION_GRANTS_PER_PROJECT_MAX } from '#model/limits.ts'
import { countedGrants } from '#model/members/session-grants.ts'
import type { AccessGrant } from '#model/principal.ts'
import type { OwnSession } from '#model/wire/organization/session.ts'
import { SessionDirectory } from '#management/sessions/session-directory.ts'
import { ThreadSessions } from '#threads/channel/session-authentication.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import type { MemberGroupRecord, MemberRecord } from '#entities/organization-records.ts'
import {
  granted,
  ISSUER,
  member,
  memberGroup,
  onOrganization,
  organizationOfPeople,
  sessionOf,
} from './people.ts'

const other: MemberGroupRecord = { ...memberGroup, id: 'c0000000-0000-4000-8000-000000000003', group: 'dev' }
const write = onOrganization('write')
const limited = (tenant: string): AccessGrant => ({
  ...granted('read', 'p', 'e'),
  delegation: { tenants: [tenant], roles: [] },
})

/** A directory of one session in the group `ops`, and a function that applies all commits that it lacks. */
async function opsSession(changed: Partial<MemberRecord> = {}) {
  const { organization, put, clock } = await organizationOfPeople()
  const session = sessionOf(member.id, { groups: ['ops'] })
  await put({ ...member, grants: [], ...changed }, memberGroup, other, session)
  let pauses = 0
  const directory = new SessionDirectory({
    records: () => new RecordReader(organization.store.view),
    places: () => ({ organizationId: 'o', projects: [], environments: [] }),
    issuer: ISSUER,
    owners: { owners: new Set(), ownerGroups: new Set() },
    times: { sessionIdleMs: 1_800_000 },
    now: () => clock.now,
    pause: async () => void (pauses += 1),
  })
  await directory.load()
  const initial = { places: directory.places!, groups: directory.groups(), sessions: [...directory.all()] }
  const clocks = { now: () => clock.now, elapsedMs: () => 0 }
  const thread = new ThreadSessions(initial, { clocks, idleMs: 1_800_000, onUse: () => {} })
  let after = await organization.store.ledger.head()
  const { commits, store } = organization
  const applied = async (count: number): Promise<void> => {
    for await (const entry of store.ledger.feed(after)) {
      thread.apply(await directory.apply(entry))
      after = entry.revision
      count -= 1
      if (count === 0) break
    }
  }
  const grants = () => thread.byId(session.id)?.grants ?? []
  // A thread keeps the grants until they change.
  grants()
  const reload = async () => thread.apply(await directory.load())
  /** Number of pauses while all rows are loaded. */
  const pausesOfLoad = async () => {
    pauses = 0
    await directory.load()
    return pauses
  }
  const remove = () => commits.run(draft => draft.delete(memberGroup))
  return { put, grants, applied, reload, pausesOfLoad, remove }
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

test('a session has the grants of a group that took over the name of its group', async () => {
  const { put, grants, applied } = await opsSession()
  const read = onOrganization('read')
  await put({ ...memberGroup, group: 'admins', updatedAt: 2 })
  await put({ ...other, group: 'ops', grants: [read], updatedAt: 2 })
  await applied(1)
  await applied(1)
  expect(grants()).toEqual([read])
})

test('a thread learns of all changes of groups and members when the rows are loaded again', async () => {
  const { put, grants, applied, reload, remove } = await opsSession()
  const read = onOrganization('read')
  await put({ ...member, grants: [read], updatedAt: 2 })
  await reload()
  expect(grants()).toEqual([read, write])
  await remove()
  await reload()
  expect(grants()).toEqual([read])
  await put({ ...member, grants: [], updatedAt: 2 })
  await applied(3)
  expect(grants()).toEqual([])
})

test('rows that are loaded again are read with as many pauses as at first', async () => {
  const { put, pausesOfLoad } = await opsSession()
  await put(...Array.from({ length: 499 }, () => sessionOf(member.id)))
  const pauses = await pausesOfLoad()
  expect(pauses).toBeGreaterThan(0)
  expect(await pausesOfLoad()).toBe(pauses)
})

describe('a session of a member in many groups', () => {
  const [full, few] = ['a', 'b'].map(letter => `${letter}0000000-0000-4000-8000-000000000000`) as [
    string,
    string,
  ]
  /** Grants on `count` environments of a project. */
  const onMany = (projectId: string, count: number, level: AccessGrant['accessLevel'] = 'read') =>
    Array.from({ length: count }, (_, index) => granted(level, projectId, `${projectId}-${index}`))

  test.each([
    [
      'has the highest level on each object',
      [onMany(few, 2), onMany(few, 3, 'write')],
      onMany(few, 3, 'write'),
      false,
    ],
    [
      'has each limited grant',
      [[limited('a')], [limited('a')], [limited('b')]],
      [limited('a'), limited('a'), limited('b')],
      false,
    ],
    [
      'has as many grants on a project as the limit',
      [onMany(full, SESSION_GRANTS_PER_PROJECT_MAX)],
      onMany(full, SESSION_GRANTS_PER_PROJECT_MAX),
      false,
    ],
    [
      'has no more grants on a project, and all on other projects',
      [onMany(full, SESSION_GRANTS_PER_PROJECT_MAX + 1), onMany(few, 1), onMany(full, 1, 'admin')],
      [
        granted('admin', full, `${full}-0`),
        ...onMany(full, SESSION_GRANTS_PER_PROJECT_MAX).slice(1),
        ...onMany(few, 1),
      ],
      true,
    ],
    [
      'has all grants on the organization after two projects have used up the limit',
      [
        onMany(full, SESSION_GRANTS_PER_PROJECT_MAX),
        onMany(few, SESSION_GRANTS_PER_PROJECT_MAX),
        [write, onOrganization('admin')],
        [{ ...write, delegation: { tenants: ['a'], roles: [] } }],
      ],
      [
        ...onMany(full, SESSION_GRANTS_PER_PROJECT_MAX),
        ...onMany(few, SESSION_GRANTS_PER_PROJECT_MAX),
        onOrganization('admin'),
        { ...write, delegation: { tenants: ['a'], roles: [] } },
      ],
      false,
    ],
    [
      'has as many grants as the limit, those of the first groups',
      [
        ...Array.from({ length: SESSION_GRANTS_MAX }, (_, index) => onMany(`${index}`, 1)),
        onMany(few, 1),
        [onOrganization('no_access')],
      ],
      Array.from({ length: SESSION_GRANTS_MAX }, (_, index) => onMany(`${index}`, 1)).flat(),
      true,
    ],
  ] as const)('%s', (_, groups, grants, areCut) => {
    expect(countedGrants(groups)).toEqual({ grants, areCut })
  })
})

test('a session states that grants of groups do not count, and its member does so to administrators', async () => {
  const { put, service, principal } = await organizationOfPeople()
  const groups = Array.from({ length: 11 }, (_, index) => ({
    ...memberGroup,
    id: randomUUID(),
    group: `group-${index}`,
    grants: Array.from({ length: 100 }, () => granted('read', randomUUID())),
  }))
  const session = sessionOf(member.id, { groups: groups.map(({ group }) => group) })
  const cut = async () => {
    const caller = { sessionId: session.id, memberId: member.id, issuer: ISSUER, subject: 'ann', name: null }
    const own = await service.execute('getSession', { ...principal, session: caller }, {})
    const shown = await service.execute('getMember', principal, { params: { member_id: member.id } })
    return [own.answer, shown.answer].map(answer => {
      const { grants, grants_cut } = answer as Pick<OwnSession, 'grants'> & Partial<OwnSession>
      return [grants.length, grants_cut ?? false]
    })
  }
  await put(member, session, ...groups.slice(0, 10))
  expect(await cut()).toEqual([
    [1_001, false],
    [1_001, false],
  ])
  await put(groups[10]!)
  expect(await cut()).toEqual([
    [1_001, true],
    [1_001, true],
  ])
})
