/** Limits and lifetimes of members, and the keys that they create (administration.md M1, M9 to M11). */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiKey } from '#model/wire/organization/api-key.ts'
import type { Member } from '#model/wire/organization/member.ts'
import type { MemberRecord } from '#entities/organization-records.ts'
import type { Principal } from '#model/principal.ts'
import { LapsedMemberRemoval } from '#composition/node/lapsed-member-removal.ts'
import {
  EXPIRED_INVITATION_MS,
  INVITATION_MS,
  MEMBER_GROUPS_MAX,
  MEMBER_SHARES,
  MEMBERS_MAX,
  OPEN_INVITATIONS_MAX,
  PERMISSIONS_PER_MEMBER_MAX,
  PERMISSIONS_PER_PROJECT_MAX,
  UNGRANTED_MEMBER_MS,
} from '#model/limits.ts'
import { errorCodeOf } from '../../support/documents/error-codes.ts'
import { organizationService } from '../../support/running-organization.ts'
import { granted, member, memberGroup, onOrganization, organizationOfPeople, sessionOf } from './people.ts'

const permissions = [{ object_type: 'org', access_level: 'read' }]
const many = (count: number, others: Partial<MemberRecord> = {}) =>
  Array.from({ length: count }, () => ({ ...member, id: randomUUID(), subject: randomUUID(), ...others }))
const invitation = (expiresAt: number) => ({
  id: randomUUID(),
  codeHash: randomUUID(),
  createdAt: 1,
  expiresAt,
})
/** Invitations of different addresses. */
const invitations = (count: number, expiresAt: number, others: Partial<MemberRecord> = {}) =>
  many(count, { issuer: null, subject: null, ...others }).map((each, index) => ({
    ...each,
    email: `guest-${index}@example.com`,
    invitation: invitation(expiresAt),
  }))
const groupsOf = (count: number, grants: MemberRecord['grants']) =>
  Array.from({ length: count }, (_, index) => ({
    ...memberGroup,
    id: randomUUID(),
    group: `group-${index}`,
    grants,
  }))

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
  const invited = invitations(OPEN_INVITATIONS_MAX, clock.now + INVITATION_MS)
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

test('the number of member groups is limited', async () => {
  const { service, principal, put } = await organizationOfPeople()
  await put(...groupsOf(MEMBER_GROUPS_MAX - 1, memberGroup.grants))
  const create = (group: string) =>
    errorCodeOf(service.execute('createMemberGroup', principal, { body: { group, permissions } }))
  expect([await create('last'), await create('another')]).toEqual([null, 'LIMIT_EXCEEDED'])
})

/** Callers in an organization with two projects, and the objects of their permissions. */
async function organizationOfProjects() {
  const opened = await organizationOfPeople()
  const { service, principal, organization } = opened
  await service.execute('createProject', principal, {
    body: { key: 'other', name: 'Other', initial_environments: [{ key: 'one', name: 'One' }] },
  })
  const [ours, theirs] = organization.environments().map(({ scope, projectKey, environmentKey }) => {
    const { organizationId, projectId, environmentId } = scope
    const session = { sessionId: randomUUID(), memberId: randomUUID(), issuer: 'i', subject: 's', name: null }
    const caller = { ...scope, kind: 'environment', projectKey, environmentKey } as const
    return {
      projectId,
      environmentId,
      caller: { ...caller, organizationId, keyId: null, level: 'admin', session } as Principal,
      permissions: [
        {
          object_type: 'env',
          project_id: projectKey,
          environment_id: environmentKey,
          access_level: 'read',
        },
      ],
    }
  }) as [OfEnvironment, OfEnvironment]
  return { ...opened, ours, theirs }
}
interface OfEnvironment {
  readonly projectId: string
  readonly environmentId: string
  readonly caller: Principal
  readonly permissions: object[]
}

const ADDITIONS = {
  members: [MEMBERS_MAX, 'createMember', () => ({ subject: randomUUID() })],
  invitations: [OPEN_INVITATIONS_MAX, 'createMember', () => ({ email: `${randomUUID()}@example.com` })],
  groups: [MEMBER_GROUPS_MAX, 'createMemberGroup', () => ({ group: randomUUID() })],
} as const
const WHATS = Object.keys(ADDITIONS) as readonly (keyof typeof ADDITIONS)[]

test.each(
  WHATS.flatMap(what => (['environment', 'project', 'total'] as const).map(on => [what, on] as const)),
)('administrators of environments can use a part of the limit of %s: %s', async (what, on) => {
  const { service, principal, put, clock, ours, theirs } = await organizationOfProjects()
  const [maximum, operation, body] = ADDITIONS[what]
  const count = maximum * MEMBER_SHARES[on] - 1
  const grants = {
    environment: [granted('read', ours.projectId, ours.environmentId)],
    project: [granted('read', ours.projectId)],
    total: [onOrganization('read')],
  }[on]
  const later = clock.now + INVITATION_MS
  if (what === 'members') await put(...many(count, { grants }))
  if (what === 'invitations') await put(...invitations(count, later, { grants }))
  if (what === 'groups') await put(...groupsOf(count, grants))
  const add = (caller: Principal, permitted: object[]) =>
    errorCodeOf(service.execute(operation, caller, { body: { ...body(), permissions: permitted } }))
  const competing = await Promise.all([1, 2].map(() => add(ours.caller, ours.permissions)))
  expect(competing.toSorted()).toEqual(['LIMIT_EXCEEDED', null])
  expect(await add(theirs.caller, theirs.permissions)).toBe(on === 'total' ? 'LIMIT_EXCEEDED' : null)
  expect(await add(principal, ours.permissions)).toBe(null)
})

const HERE = MEMBER_SHARES.environment
test.each([
  ['a renewal', 'open invitations on an environment', OPEN_INVITATIONS_MAX * HERE],
  ['a renewal', 'members on an environment', MEMBERS_MAX * HERE],
  ['a renewal', 'members of the organization', MEMBERS_MAX * MEMBER_SHARES.total],
  ['a subject', 'members on an environment', MEMBERS_MAX * HERE],
  ['a subject', 'members of the organization', MEMBERS_MAX * MEMBER_SHARES.total],
])('an expired invitation counts again with %s: %s', async (how, what, maximum) => {
  const { service, principal, put, clock, ours, theirs } = await organizationOfProjects()
  const here = [granted('read', ours.projectId, ours.environmentId)]
  const grants = what.endsWith('environment') ? here : [onOrganization('read')]
  const later = clock.now + INVITATION_MS
  const full = what.startsWith('open')
    ? invitations(maximum - 1, later, { grants })
    : many(maximum - 1, { grants })
  const [one, two, three] = invitations(3, clock.now, { grants: here }).map((each, index) => ({
    ...each,
    email: `late-${index}@example.com`,
  }))
  await put(...full, one!, two!, three!)
  const revive = (caller: Principal, { id, email }: { id: string; email: string }, permitted: object[]) => {
    const named = how === 'a renewal' ? { email } : { id, subject: id }
    return errorCodeOf(
      service.execute('createMember', caller, { body: { ...named, permissions: permitted } }),
    )
  }
  expect([
    await revive(ours.caller, one!, ours.permissions),
    await revive(ours.caller, two!, ours.permissions),
    await revive(principal, three!, theirs.permissions),
  ]).toEqual([null, 'LIMIT_EXCEEDED', null])
})

test('no member is deleted for a new one before the organization has the maximum of members', async () => {
  const { service, put, members, clock, ours } = await organizationOfProjects()
  const maximum = MEMBERS_MAX * MEMBER_SHARES.total
  await put(...invitations(1, clock.now), ...many(maximum - 1, { grants: [] }))
  const create = () =>
    errorCodeOf(
      service.execute('createMember', ours.caller, {
        body: { subject: randomUUID(), permissions: ours.permissions },
      }),
    )
  expect([await create(), await create()]).toEqual([null, 'LIMIT_EXCEEDED'])
  expect(members()).toHaveLength(maximum + 1)
})

test('expired invitations and signed-out members without own grants do not use up the limit of members', async () => {
  const { service, principal, put, members, clock, ours } = await organizationOfProjects()
  const here = [granted('read', ours.projectId, ours.environmentId)]
  const expired = invitations(OPEN_INVITATIONS_MAX, clock.now, { grants: here })
  await put(...expired)
  const create = (caller: Principal, body: object) =>
    errorCodeOf(service.execute('createMember', caller, { body }))
  expect(await create(ours.caller, { subject: 'here', permissions: ours.permissions })).toBe(null)
  const [oldest, signedIn] = many(2, { grants: [], lastSignInAt: 0 })
  const ofGroups = many(150, { grants: [], lastSignInAt: 2 })
  const left = MEMBERS_MAX - members().length - 152
  await put(oldest!, ...ofGroups, signedIn!, sessionOf(signedIn!.id), ...many(left))
  expect(members()).toHaveLength(MEMBERS_MAX)
  const has = ({ id }: MemberRecord) => members().some(each => each.id === id)
  expect(await create(principal, { subject: 'new', permissions })).toBe(null)
  // The longest unused ones are deleted first, a limited number at a time.
  expect(members()).toHaveLength(MEMBERS_MAX - 100 + 1)
  expect(members().filter(({ invitation: invited }) => invited)).toHaveLength(OPEN_INVITATIONS_MAX - 99)
  expect([has(oldest!), has(signedIn!)]).toEqual([false, true])
})

test('the permissions of a member are limited, and those in one project for its administrators', async () => {
  const { service, principal, put, ours, theirs } = await organizationOfProjects()
  const give = (caller: Principal, permitted: object[]) =>
    errorCodeOf(service.execute('createMember', caller, { body: { id: member.id, permissions: permitted } }))
  const inProject = (count: number) =>
    Array.from({ length: count }, () => granted('read', ours.projectId, randomUUID()))
  const seen = onOrganization('read')
  await put({ ...member, grants: [...inProject(PERMISSIONS_PER_PROJECT_MAX - 1), seen] })
  expect(await give(ours.caller, ours.permissions)).toBe(null)
  expect(await give(ours.caller, ours.permissions)).toBe(null)
  await put({ ...member, grants: [...inProject(PERMISSIONS_PER_PROJECT_MAX), seen] })
  expect(await give(ours.caller, ours.permissions)).toBe('LIMIT_EXCEEDED')
  expect(await give(theirs.caller, theirs.permissions)).toBe(null)
  // Callers without level admin on the organization leave some permissions to it.
  const shared = PERMISSIONS_PER_MEMBER_MAX * 0.75
  await put({ ...member, grants: [...inProject(shared - 2), seen] })
  expect(await give(theirs.caller, theirs.permissions)).toBe(null)
  expect(await give(theirs.caller, theirs.permissions)).toBe(null)
  await put({ ...member, grants: [...inProject(shared - 1), seen] })
  expect(await give(theirs.caller, theirs.permissions)).toBe('LIMIT_EXCEEDED')
  expect(await give(principal, theirs.permissions)).toBe(null)
  await put({ ...member, grants: [...inProject(PERMISSIONS_PER_MEMBER_MAX - 2), seen] })
  expect([await give(principal, ours.permissions), await give(principal, ours.permissions)]).toEqual([
    null,
    null,
  ])
  expect(await give(principal, theirs.permissions)).toBe('LIMIT_EXCEEDED')
})

test('a member without own grants is deleted 30 days after the last sign-in, and an invitation 7 days after its end', async () => {
  const { service, principal, put, members, clock } = await organizationOfPeople()
  const [kept, recent, lapsed, never] = [
    ...many(1, { lastSignInAt: 1 }),
    ...many(1, { grants: [], lastSignInAt: clock.now - UNGRANTED_MEMBER_MS + 1 }),
    ...many(1, { grants: [], lastSignInAt: clock.now - UNGRANTED_MEMBER_MS }),
    ...many(1, { grants: [], updatedAt: clock.now - UNGRANTED_MEMBER_MS }),
  ]
  const [shown] = invitations(1, clock.now - EXPIRED_INVITATION_MS + 1)
  await put(kept!, recent!, lapsed!, never!, shown!, ...invitations(1, clock.now - EXPIRED_INVITATION_MS))
  let mayWrite = false
  const { organizationId } = principal
  const onFault = (error: unknown) => expect(error).toBeUndefined()
  const parts = { service, organizationId: () => organizationId, mayWrite: () => mayWrite, onFault }
  const removal = new LapsedMemberRemoval(parts)
  onTestFinished(() => removal.close())
  await removal.run()
  expect(members()).toHaveLength(6)
  mayWrite = true
  await removal.run()
  expect(members()).toEqual([kept, recent, shown])
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
