/** Limits and lifetimes of members, and the keys that they create (administration.md M1, M9 to M11). */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiKey } from '#model/wire/organization/api-key.ts'
import type { Member } from '#model/wire/organization/member.ts'
import type { MemberRecord } from '#entities/organization-records.ts'
import { LapsedMemberRemoval } from '#composition/node/lapsed-member-removal.ts'
import {
  INVITATION_MS,
  MEMBER_GROUPS_MAX,
  MEMBERS_MAX,
  OPEN_INVITATIONS_MAX,
  PERMISSIONS_PER_MEMBER_MAX,
  UNGRANTED_MEMBER_MS,
} from '#model/limits.ts'
import { errorCodeOf } from '../../support/documents/error-codes.ts'
import { organizationService } from '../../support/running-organization.ts'
import { granted, member, memberGroup, onOrganization, organizationOfPeople, sessionOf } from './people.ts'

const permissions = [{ object_type: 'org', access_level: 'read' }]
const many = (count: number, others: Partial<MemberRecord> = {}) =>
  Array.from({ length: count }, () => ({ ...member, id: randomUUID(), subject: randomUUID(), ...others }))

test('without sign-in there are no members, and each change is rejected', async () => {
  const { service, principal } = await organizationService()
  for (const name of ['listMembers', 'listMemberGroups'] as const) {
    expect((await service.execute(name, principal, { query: { project_id: 'none' } })).answer).toEqual([])
  }
  const params = { member_id: randomUUID(), member_group_id: randomUUID() }
  for (const name of ['getMember', 'getMemberGroup'] as const) {
    expect(await errorCodeOf(service.execute(name, principal, { params }))).toBe('NOT_FOUND')
  }
  const body = { id: randomUUID(), group: 'ops', permissions, settings: {} }
  for (const name of [
    'createMember',
    'updateMember',
    'deleteMember',
    'deleteMemberPermissions',
    'createMemberGroup',
    'replaceMemberGroup',
    'deleteMemberGroup',
  ] as const) {
    expect(await errorCodeOf(service.execute(name, principal, { params, body })), name).toBe('INVALID_INPUT')
  }
})

test('the number of members is limited, and concurrent requests compete for the last one', async () => {
  const { service, principal, put, members } = await organizationOfPeople()
  await put(...many(MEMBERS_MAX - 1))
  const create = (body: object) =>
    errorCodeOf(service.execute('createMember', principal, { body: { ...body, permissions } }))
  const outcomes = await Promise.all([
    create({ subject: 'a' }),
    create({ email: 'b@c' }),
    create({ subject: 'd' }),
  ])
  expect(outcomes.filter(code => code === null)).toHaveLength(1)
  expect(outcomes.filter(code => code === 'LIMIT_EXCEEDED')).toHaveLength(2)
  expect(members()).toHaveLength(MEMBERS_MAX)
})

test('the number of open invitations is limited; expired and repeated ones do not count', async () => {
  const { service, principal, put, clock } = await organizationOfPeople()
  const invited = Array.from({ length: OPEN_INVITATIONS_MAX }, (_, index) => {
    const invitation = {
      id: randomUUID(),
      codeHash: `${index}`,
      createdAt: 1,
      expiresAt: clock.now + INVITATION_MS,
    }
    const identity = { issuer: null, subject: null, email: `guest-${index}@example.com` }
    return { ...member, id: randomUUID(), ...identity, invitation }
  })
  await put(...invited)
  const invite = (email: string) =>
    errorCodeOf(service.execute('createMember', principal, { body: { email, permissions } }))
  expect(await invite('more@example.com')).toBe('LIMIT_EXCEEDED')
  expect(await invite('GUEST-7@example.com')).toBe(null)
  await put({ ...invited[0]!, invitation: { ...invited[0]!.invitation, expiresAt: clock.now } })
  const outcomes = await Promise.all([invite('one@example.com'), invite('two@example.com')])
  expect(outcomes.toSorted()).toEqual(['LIMIT_EXCEEDED', null])
  const query = { search: 'guest-0@' }
  const { answer } = await service.execute('listMembers', principal, { query })
  const failed = { status: 'failed', failed_reason: expect.stringContaining('expired') }
  expect(answer).toMatchObject([{ invite: failed }])
})

test('the number of member groups, and the permissions of a member, are limited', async () => {
  const { service, principal, put } = await organizationOfPeople()
  const groups = Array.from({ length: MEMBER_GROUPS_MAX - 1 }, (_, index) => ({
    ...memberGroup,
    id: randomUUID(),
    group: `group-${index}`,
  }))
  await put(...groups)
  const create = (group: string) =>
    errorCodeOf(service.execute('createMemberGroup', principal, { body: { group, permissions } }))
  expect([await create('last'), await create('another')]).toEqual([null, 'LIMIT_EXCEEDED'])
  const full = {
    ...member,
    grants: Array.from({ length: PERMISSIONS_PER_MEMBER_MAX - 1 }, () => granted('read', randomUUID())),
  }
  await put(full)
  const give = (object: object) =>
    errorCodeOf(
      service.execute('createMember', principal, {
        body: { id: member.id, permissions: [{ ...object, access_level: 'read' }] },
      }),
    )
  const project = { object_type: 'project', project_id: 'default' }
  expect([await give(project), await give(project)]).toEqual([null, null])
  expect(await give({ object_type: 'org' })).toBe('LIMIT_EXCEEDED')
})

test('a member without own grants is deleted 30 days after the last sign-in', async () => {
  const { service, principal, put, members, clock } = await organizationOfPeople()
  const [kept, recent, lapsed, never] = [
    ...many(1, { lastSignInAt: 1 }),
    ...many(1, { grants: [], lastSignInAt: clock.now - UNGRANTED_MEMBER_MS + 1 }),
    ...many(1, { grants: [], lastSignInAt: clock.now - UNGRANTED_MEMBER_MS }),
    ...many(1, { grants: [], updatedAt: clock.now - UNGRANTED_MEMBER_MS }),
  ]
  await put(kept!, recent!, lapsed!, never!)
  let mayWrite = false
  const { organizationId } = principal
  const onFault = (error: unknown) => expect(error).toBeUndefined()
  const parts = { service, organizationId: () => organizationId, mayWrite: () => mayWrite, onFault }
  const removal = new LapsedMemberRemoval(parts)
  onTestFinished(() => removal.close())
  await removal.run()
  expect(members()).toHaveLength(4)
  mayWrite = true
  await removal.run()
  expect(members()).toEqual([kept, recent])
})

test.each([
  ['its deletion', 'deleteMember', { params: { member_id: member.id } }],
  ['the removal of its last permission', 'deleteMemberPermissions', { body: { id: member.id, permissions } }],
] as const)('the sessions of a member end with %s', async (_, operation, input) => {
  const { service, principal, put, members, sessions } = await organizationOfPeople()
  const other = sessionOf(randomUUID())
  await put(member, sessionOf(member.id), sessionOf(member.id), other)
  await service.execute(operation, principal, input)
  expect([members(), sessions()]).toEqual([[], [other]])
})

test('a key names the member that created it, and stays when the member is deleted', async () => {
  const { service, principal, put } = await organizationOfPeople()
  await put(member)
  const caller = {
    sessionId: randomUUID(),
    memberId: member.id,
    issuer: 'i',
    subject: 'ann',
    name: 'Ann Lee',
  }
  const inSession = { ...principal, session: caller }
  const { answer } = await service.execute('createApiKey', inSession, { body: { object_type: 'org' } })
  await service.execute('createApiKey', principal, { body: { object_type: 'org' } })
  await service.execute('deleteMember', principal, { params: { member_id: member.id } })
  const { id } = answer as ApiKey
  const list = async (member_id: string) =>
    (await service.execute('listApiKeys', principal, { query: { created_by_member: member_id } })).answer
  const createdBy = { api_key_id: null, name: null, member: { id: member.id, name: 'Ann Lee' } }
  expect(await list(member.id.toUpperCase())).toMatchObject({ data: [{ id, created_by: createdBy }] })
  for (const other of [randomUUID(), 'ann']) expect(await list(other)).toMatchObject({ data: [] })
})

test('a member sees all of its grants: own ones, those of groups of its session, and those of settings', async () => {
  const { service, principal, put, signIn, organization } = await organizationOfPeople()
  const { projectId } = organization.environments()[0]!.scope
  const group = { ...memberGroup, grants: [granted('write', projectId)] }
  await put({ ...member, subject: 'root', grants: [onOrganization('no_access')] }, group)
  const owners = { owners: new Set(['root']), ownerGroups: new Set<string>() }
  const result = await signIn({ subject: 'root', groups: ['ops', 'other'] }, { owners })
  if (result.outcome !== 'ok') throw new Error(result.outcome)
  const caller = {
    sessionId: result.sessionId,
    memberId: member.id,
    issuer: 'i',
    subject: 'root',
    name: null,
  }
  const { organizationId } = principal
  const session = {
    kind: 'project',
    projectId: 'p',
    projectKey: 'p',
    organizationId,
    keyId: null,
    level: 'read',
    session: caller,
  } as const
  const { answer } = await service.execute('getOwnMember', session, {})
  expect((answer as Member).grants.map(grant => [grant.object_type, grant.access_level, grant.via])).toEqual([
    ['org', 'no_access', 'own'],
    ['project', 'write', 'group'],
    ['org', 'admin', 'settings'],
  ])
})
