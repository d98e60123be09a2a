/** Sign-in of people whom the issuer has authenticated, and the end of their sessions. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { MemberGroupRecord, MemberRecord } from '#entities/organization-records.ts'
import type { AccessGrant } from '#model/principal.ts'
import {
  endSession,
  endSessionsOfIssuerSession,
  endSessionsOfMember,
  endSessionsOfSubject,
  removeExpiredSessions,
} from '#management/members/session-ends.ts'
import { listSessions } from '#management/sessions/sessions.ts'
import {
  EXPIRED_SESSIONS_ENDED_MAX,
  INVITATION_MS,
  MEMBERS_MAX,
  OWNER_MEMBERS_RESERVE,
  OWNER_SESSIONS_RESERVE,
  SESSIONS_MAX,
  SESSIONS_PER_MEMBER_MAX,
  SESSION_GROUPS_MAX,
} from '#model/limits.ts'
import { hashOfSecret } from '#secrets/secret-hash.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import {
  ann,
  granted,
  ISSUER,
  member,
  memberGroup,
  onOrganization,
  organizationOfPeople,
  sessionOf,
  SESSION_IDLE_MS,
  SESSION_MAX_MS,
} from './people.ts'

const owners = (...names: string[]) => ({ owners: new Set(names), ownerGroups: new Set<string>() })
const ownerGroups = (...names: string[]) => ({ owners: new Set<string>(), ownerGroups: new Set(names) })

describe('a person with a grant', () => {
  test('begins a session of the stored member, whose name and address are refreshed', async () => {
    const { put, members, sessions, signIn, clock } = await organizationOfPeople()
    await put(member)
    const signedIn = await signIn()
    if (signedIn.outcome !== 'ok') throw new Error(signedIn.outcome)
    expect(signedIn.secret).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const { email, isEmailVerified, name, givenName, familyName } = ann
    const refreshed = { email, isEmailVerified, name, givenName, familyName, updatedAt: clock.now }
    expect(members()).toEqual([{ ...member, ...refreshed, lastSignInAt: clock.now, signInCount: 1 }])
    expect(sessions()).toEqual([
      {
        kind: 'session',
        id: signedIn.sessionId,
        memberId: member.id,
        secretHash: hashOfSecret(signedIn.secret),
        signedInAt: clock.now,
        lastUsedAt: clock.now,
        expiresAt: clock.now + SESSION_MAX_MS,
        groups: [],
        areGroupsCut: false,
        issuerSessionId: null,
        userAgent: 'Browser 1.0',
        endSessionUrl: null,
      },
    ])
  })

  test.each([
    ['a group of members', { groups: ['staff', 'ops'] }, {}, ['ops']],
    ['a group of owners', { groups: ['staff', 'root'] }, { owners: ownerGroups('root') }, ['root']],
    ['the setting of owners', { groups: ['staff'] }, { owners: owners('ann') }, []],
  ] as const)(
    'becomes a member through %s, and the session keeps only groups that grant',
    async (_, identity, others, groups) => {
      const { put, members, sessions, signIn } = await organizationOfPeople()
      await put(memberGroup)
      expect(await signIn(identity, others)).toMatchObject({ outcome: 'ok' })
      expect(members()).toMatchObject([{ issuer: ISSUER, subject: 'ann', grants: [], signInCount: 1 }])
      expect(sessions()).toMatchObject([{ groups, areGroupsCut: false }])
      await signIn(identity, others)
      expect(members()).toMatchObject([{ signInCount: 2 }])
    },
  )

  test('keeps a limited number of groups, and long texts are cut between characters', async () => {
    const { sessions, members, signIn } = await organizationOfPeople()
    const names = Array.from({ length: SESSION_GROUPS_MAX + 1 }, (_, index) => `group-${index}`)
    const identity = { name: `${'n'.repeat(255)}😀`, email: 'e'.repeat(321) }
    await signIn({ ...identity, groups: names.slice(1) }, { owners: ownerGroups(...names) })
    await signIn({ groups: names }, { owners: ownerGroups(...names), userAgent: 'u'.repeat(300) })
    const kept = sessions().map(({ groups, areGroupsCut, userAgent }) => [
      groups.length,
      areGroupsCut,
      userAgent,
    ])
    expect(kept).toEqual([
      [SESSION_GROUPS_MAX, false, 'Browser 1.0'],
      [SESSION_GROUPS_MAX, true, 'u'.repeat(256)],
    ])
    await signIn(identity, { owners: owners('ann') })
    expect(members()).toMatchObject([{ name: 'n'.repeat(255), email: null, isEmailVerified: false }])
  })

  test('keeps its groups of owners, of the organization and of each object, however many one environment names', async () => {
    const { put, sessions, signIn } = await organizationOfPeople()
    const named = (group: string, ...grants: readonly AccessGrant[]): MemberGroupRecord => ({
      ...memberGroup,
      id: randomUUID(),
      group,
      grants,
    })
    const [project, environment] = [randomUUID(), randomUUID()]
    const many = Array.from({ length: SESSION_GROUPS_MAX }, (_, index) =>
      named(`many-${index}`, granted(index % 2 === 0 ? 'read' : 'no_access', project, environment)),
    )
    const few = [
      named('environment', granted('read', project, randomUUID())),
      named('project', granted('write', randomUUID())),
      named('both', granted('no_access', project, environment), onOrganization('read')),
    ]
    await put(...many, ...few)
    const groups = [...many, ...few].map(({ group }) => group)
    await signIn({ groups: [...groups, 'root'] }, { owners: ownerGroups('root') })
    const [session] = sessions()
    expect(session).toMatchObject({ areGroupsCut: true })
    expect(session!.groups).toHaveLength(SESSION_GROUPS_MAX)
    expect(session!.groups.slice(0, 2)).toEqual(['both', 'root'])
    expect(session!.groups).toEqual(expect.arrayContaining(['environment', 'project', 'many-0', 'many-98']))
    // Groups without permissions are kept last.
    expect(session!.groups.slice(2, 54)).not.toContain('many-1')
    expect(session!.groups).not.toContain('many-99')
  })
})

test.each([
  ['has a grant of level no_access', 'no_access', {}, {}],
  ['has another subject', 'read', { subject: 'Ann' }, {}],
  ['has another issuer', 'read', { issuer: `${ISSUER}/` }, {}],
  ['has the address of a member', 'read', { subject: 'eve', email: 'old@example.com' }, {}],
  ['is in an unknown group', 'read', { subject: 'eve', groups: ['OPS'] }, { owners: ownerGroups('Ops') }],
] as const)('a person who %s is not a member, and nothing is written', async (_, level, identity, others) => {
  const { put, members, sessions, signIn, organization } = await organizationOfPeople()
  const stored = { ...member, grants: [onOrganization(level)] }
  await put(stored, memberGroup)
  const before = organization.store.view.sequence()
  expect(await signIn(identity, others)).toEqual({ outcome: 'not_a_member' })
  expect(organization.store.view.sequence()).toBe(before)
  expect([members(), sessions()]).toEqual([[stored], []])
})

describe('an invitation', () => {
  const code = 'the-code-in-the-link'
  const invited = (now: number): MemberRecord => ({
    ...member,
    id: 'c0000000-0000-4000-8000-000000000003',
    issuer: null,
    subject: null,
    email: 'Ann@example.com',
    grants: [onOrganization('write')],
    invitation: {
      id: 'c0000000-0000-4000-8000-000000000004',
      codeHash: hashOfSecret(code),
      createdAt: now,
      expiresAt: now + INVITATION_MS,
    },
  })

  test('is accepted once, and makes the person the invited member', async () => {
    const { put, members, signIn, clock } = await organizationOfPeople()
    await put(invited(clock.now))
    clock.now += INVITATION_MS - 1
    expect(await signIn({}, { invitationCode: code })).toMatchObject({ outcome: 'ok' })
    const accepted = { subject: 'ann', invitation: null, grants: [onOrganization('write')] }
    expect(members()).toMatchObject([{ id: invited(0).id, ...accepted }])
    expect(await signIn({}, { invitationCode: code })).toEqual({ outcome: 'invite' })
    expect(await signIn()).toMatchObject({ outcome: 'ok' })
  })

  test('adds its grants to a person who is a member already', async () => {
    const { put, members, signIn, clock } = await organizationOfPeople()
    await put(member, invited(clock.now))
    expect(await signIn({}, { invitationCode: code })).toMatchObject({ outcome: 'ok' })
    expect(members()).toMatchObject([{ id: member.id, grants: [onOrganization('write')], invitation: null }])
  })

  test.each([
    ['another code', {}, { invitationCode: 'another-code' }, 0],
    ['an address that is not verified', { isEmailVerified: false }, {}, 0],
    ['another address', { email: 'bob@example.com' }, {}, 0],
    [
      'an address with another letter, whose lower case is the same',
      { email: '\u212Aen@example.com' },
      {},
      0,
    ],
    ['no address', { email: null }, {}, 0],
    ['an expired link', {}, {}, INVITATION_MS],
  ] as const)('stays open after a sign-in with %s', async (_, identity, others, laterMs) => {
    const { put, members, sessions, signIn, clock } = await organizationOfPeople()
    const stored = { ...invited(clock.now), email: 'Ken@example.com' }
    await put(stored)
    clock.now += laterMs
    const result = await signIn(
      { email: 'ken@example.com', ...identity },
      { invitationCode: code, ...others },
    )
    expect(result).toEqual({ outcome: 'invite' })
    expect([members(), sessions()]).toEqual([[stored], []])
  })

  test('is not accepted by the address without the link', async () => {
    const { put, members, signIn, clock } = await organizationOfPeople()
    await put(invited(clock.now))
    expect(await signIn()).toEqual({ outcome: 'not_a_member' })
    expect(members()).toEqual([invited(clock.now)])
  })
})

describe('sessions', () => {
  test('end with the next sign-in of the same browser, including those of another member', async () => {
    const { put, sessions, signIn } = await organizationOfPeople()
    const other = { ...member, id: randomUUID(), subject: 'bob' }
    const [former, elsewhere] = [sessionOf(other.id), sessionOf(other.id)]
    await put(member, other, former, elsewhere)
    await signIn({ subject: 'eve' }, { formerSessionId: former.id })
    expect(sessions()).toHaveLength(2)
    await signIn({}, { formerSessionId: former.id })
    expect(sessions()).toMatchObject([elsewhere, { memberId: member.id }])
  })

  test('are limited per member: the one that is unused for longest ends', async () => {
    const { put, sessions, signIn, clock } = await organizationOfPeople()
    const running = Array.from({ length: SESSIONS_PER_MEMBER_MAX }, (_, index) =>
      sessionOf(member.id, { lastUsedAt: clock.now - (index === 3 ? 100 : index) }),
    )
    await put(member, ...running)
    const result = await signIn()
    const left = sessions().map(({ id }) => id)
    const newId = result.outcome === 'ok' ? result.sessionId : ''
    expect(left).toEqual([...running.filter((_, index) => index !== 3).map(({ id }) => id), newId])
  })

  // administration.md C9
  test.each([
    ['that another node can have extended', SESSION_IDLE_MS * 1.2 + 59_999, null, true],
    ['that no node has extended', SESSION_IDLE_MS * 1.2 + 60_000, null, false],
    ['that this node has extended', SESSION_IDLE_MS * 1.2 + 60_000, 1, true],
  ])('%s are listed and kept when the member signs in again', async (_, after, used, isKept) => {
    const { put, sessions, signIn, clock, uses, service, principal } = await organizationOfPeople()
    const session = sessionOf(member.id)
    await put(member, session)
    if (used !== null) uses.set(session.id, clock.now + used)
    clock.now += after
    const { answer } = await service.read(principal, context => listSessions(context, { query: {} as never }))
    await signIn()
    const ids = [answer.data, sessions()].map(rows => rows.some(({ id }) => id === session.id))
    expect(ids).toEqual([isKept, isKept])
  })

  test('used on this node stay when another one of the member must end', async () => {
    const { put, sessions, signIn, clock, uses } = await organizationOfPeople()
    const running = Array.from({ length: SESSIONS_PER_MEMBER_MAX }, (_, index) =>
      sessionOf(member.id, { lastUsedAt: clock.now - 10 + index }),
    )
    uses.set(running[0]!.id, clock.now)
    await put(member, ...running)
    await signIn()
    const left = sessions().map(({ id }) => id)
    expect(running.filter(({ id }) => !left.includes(id))).toEqual([running[1]])
  })

  test('and members are limited in the organization; expired sessions do not count, and a sign-in ends some', async () => {
    const { put, sessions, members, signIn, clock, organization } = await organizationOfPeople()
    await put(member, ...Array.from({ length: SESSIONS_MAX }, () => sessionOf(randomUUID())))
    const before = organization.store.view.sequence()
    expect(await signIn()).toEqual({ outcome: 'unavailable' })
    expect(organization.store.view.sequence()).toBe(before)
    await put({ ...sessions()[5]!, expiresAt: clock.now })
    // Concurrent sign-ins compete for the last session.
    const results = await Promise.all([signIn(), signIn(), signIn()])
    expect(results.map(({ outcome }) => outcome).toSorted()).toEqual(['ok', 'unavailable', 'unavailable'])
    expect(sessions()).toHaveLength(SESSIONS_MAX)
    clock.now += SESSION_IDLE_MS * 1.2 + 60_000
    const others = Array.from({ length: MEMBERS_MAX - 1 }, () => ({ ...member, id: randomUUID() }))
    await put(memberGroup, ...others.map(each => ({ ...each, subject: each.id })))
    expect(await signIn({ subject: 'new', groups: ['ops'] })).toEqual({ outcome: 'unavailable' })
    expect(await signIn()).toMatchObject({ outcome: 'ok' })
    // One expired session of the member ends in addition, if it is not among the others.
    const left = SESSIONS_MAX - EXPIRED_SESSIONS_ENDED_MAX
    expect([left, left + 1]).toContain(sessions().length)
    expect(members()).toHaveLength(MEMBERS_MAX)
    // A person whom only a group admits becomes a member again, and its row is deleted if another needs it.
    await put({ ...others[0]!, subject: others[0]!.id, grants: [] })
    expect(await signIn({ subject: 'new', groups: ['ops'] })).toMatchObject({ outcome: 'ok' })
    expect(await signIn({ subject: others[0]!.id, groups: ['ops'] })).toEqual({ outcome: 'unavailable' })
    expect(members()).toHaveLength(MEMBERS_MAX)
  })

  test('begin for owners of the settings even if the organization is full', async () => {
    const { put, signIn, clock } = await organizationOfPeople()
    const asOwner = (subject: string) => signIn({ subject }, { owners: owners(subject) })
    const full = MEMBERS_MAX + OWNER_MEMBERS_RESERVE - 1
    await put(
      ...Array.from({ length: full }, (_, index) => ({ ...member, id: randomUUID(), subject: `${index}` })),
      ...Array.from({ length: SESSIONS_MAX + OWNER_SESSIONS_RESERVE - 1 }, () => sessionOf(randomUUID())),
    )
    expect(await signIn({ subject: '1' })).toEqual({ outcome: 'unavailable' })
    expect(await asOwner('1')).toMatchObject({ outcome: 'ok' })
    expect(await asOwner('1')).toEqual({ outcome: 'unavailable' })
    clock.now += SESSION_IDLE_MS * 1.2 + 60_000
    expect(await asOwner('root')).toMatchObject({ outcome: 'ok' })
    expect(await asOwner('another')).toEqual({ outcome: 'unavailable' })
  })

  test('begin concurrently for one person, who becomes one member', async () => {
    const { signIn, members, sessions } = await organizationOfPeople(`lmdb:${storeDirectory()}`)
    const asOwner = () => signIn({}, { owners: owners('ann') })
    const results = await Promise.all([asOwner(), asOwner(), asOwner()])
    expect(results.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok'])
    expect(members()).toMatchObject([{ subject: 'ann', signInCount: 3 }])
    expect(new Set(sessions().map(({ memberId }) => memberId))).toEqual(new Set([members()[0]!.id]))
  })

  test('are ended by id, member, person and session of the issuer, and when they expire', async () => {
    const { put, sessions, service, principal, clock } = await organizationOfPeople()
    const bob = { ...member, id: randomUUID(), subject: 'bob' }
    const [early, late] = [clock.now - 1, clock.now]
    const all = [
      sessionOf(member.id, { signedInAt: early, issuerSessionId: 's1' }),
      sessionOf(member.id, { signedInAt: late, issuerSessionId: 's1' }),
      sessionOf(bob.id, { signedInAt: early, issuerSessionId: 's2', lastUsedAt: 0 }),
      sessionOf(bob.id, { signedInAt: early, issuerSessionId: 's2', expiresAt: late }),
      sessionOf(bob.id, { signedInAt: early, issuerSessionId: 's2', expiresAt: late + 1 }),
    ]
    const cases: readonly [Parameters<typeof service.commit<unknown>>[1], readonly number[]][] = [
      [context => endSession(context, all[1]!.id), [0, 2, 3, 4]],
      [context => endSession(context, randomUUID()), [0, 1, 2, 3, 4]],
      [context => endSessionsOfMember(context, bob.id), [0, 1]],
      [
        context => endSessionsOfSubject(context, { issuer: ISSUER, subject: 'ann', before: late }),
        [1, 2, 3, 4],
      ],
      [
        context => endSessionsOfSubject(context, { issuer: 'x', subject: 'ann', before: late }),
        [0, 1, 2, 3, 4],
      ],
      [
        context =>
          endSessionsOfIssuerSession(context, { issuer: ISSUER, issuerSessionId: 's1', before: late }),
        [1, 2, 3, 4],
      ],
      [
        context => endSessionsOfIssuerSession(context, { issuer: 'x', issuerSessionId: 's1', before: late }),
        [0, 1, 2, 3, 4],
      ],
      [context => removeExpiredSessions(context, { sessionIdleMs: SESSION_IDLE_MS }), [0, 1, 4]],
    ]
    for (const [command, left] of cases) {
      await put(member, bob, ...all)
      await service.commit(principal, command)
      expect(new Set(sessions())).toEqual(new Set(left.map(index => all[index]!)))
    }
  })
})
