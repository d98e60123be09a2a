/**
 * Privilege escalation through members and member groups (administration.md M5 to M8): every path on which a
 * caller gives or takes grants, with every kind of caller. A caller must hold `admin` on each object.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import type { MemberRecord } from '#entities/organization-records.ts'
import type { OrganizationWrite } from '#management/organization/organization-operations.ts'
import { organizationWrites } from '#management/organization/organization-operations.ts'
import { isResumable } from '#scheduling/resumable.ts'
import { AuthzError } from '#model/errors.ts'
import type { AccessLevel, Principal } from '#model/principal.ts'
import { principalAnywhere } from '#model/members/member-reach.ts'
import { OrganizationPlaces } from '#model/members/organization-places.ts'
import { jsonText } from '#model/text/json-text.ts'
import type { MemberGroup } from '#model/wire/organization/member.ts'
import { tagOf } from '#management/conditional/conditional-change.ts'
import { errorCodeOf } from '../../support/documents/error-codes.ts'
import { granted, member, memberGroup, onOrganization, organizationOfPeople, sessionOf } from './people.ts'

const opened = await organizationOfPeople('memory:', afterAll)
const { service, principal: owner, put, organization } = opened
const made = await service.execute('createProject', owner, {
  body: { key: 'other', name: 'Other', initial_environments: [{ key: 'one', name: 'One' }] },
})
const other = (made.answer as { readonly id: string }).id
const places = organization.environments()
const [ours, theirs] = places as [(typeof places)[0], (typeof places)[0]]
const { organizationId, projectId, environmentId } = ours.scope

const person = (
  subject: string | null,
  grants: MemberRecord['grants'],
  others: Partial<MemberRecord> = {},
) => ({
  ...member,
  id: randomUUID(),
  subject,
  issuer: subject === null ? null : member.issuer,
  email: `${subject}@example.com`,
  isEmailVerified: true,
  grants,
  ...others,
})
const invitation = { id: randomUUID(), codeHash: 'hash', createdAt: 1, expiresAt: 4_000_000_000_000 }
const people = {
  ann: person('ann', [onOrganization('admin')]),
  bob: person('bob', [granted('read', projectId)]),
  cid: person('cid', [granted('read', projectId, environmentId)]),
  dan: person('dan', [granted('admin', other)]),
  eve: person('eve', [granted('read', projectId), granted('read', other)]),
  fay: person('fay', []),
  guest: person(null, [onOrganization('write')], { email: 'guest@example.com', invitation }),
}
const group = (name: string, grants: MemberRecord['grants']) => ({
  ...memberGroup,
  id: randomUUID(),
  group: name,
  grants,
})
const groups = {
  everywhere: group('everywhere', [onOrganization('read')]),
  here: group('here', [granted('read', projectId)]),
  both: group('both', [granted('read', projectId), granted('read', other)]),
  elsewhere: group('elsewhere', [granted('read', other)]),
}
await put(...Object.values(people), ...Object.values(groups))

/** Objects as permissions name them. */
const objects = {
  org: { object_type: 'org' },
  project: { object_type: 'project', project_id: 'default' },
  env: { object_type: 'env', project_id: 'default', environment_id: 'default' },
  otherProject: { object_type: 'project', project_id: 'other' },
  otherEnv: { object_type: 'env', project_id: other, environment_id: theirs.scope.environmentId },
  unknown: { object_type: 'project', project_id: 'unknown' },
}
const on = (...names: readonly (keyof typeof objects)[]) => ({
  permissions: names.map(name => ({ ...objects[name], access_level: 'admin' })),
})
const { ann, bob, eve, fay, guest, dan } = people

const key = { keyId: randomUUID(), organizationId }
const projectOf = { kind: 'project', projectId, projectKey: 'default' } as const
const environmentOf = { ...projectOf, kind: 'environment', environmentId, environmentKey: 'default' } as const
const session = ({ id: memberId }: MemberRecord) => ({
  keyId: null,
  organizationId,
  session: { sessionId: randomUUID(), memberId, issuer: 'i', subject: 's', name: null },
})
const otherMember = session(person('zoe', []))
const levels: readonly AccessLevel[] = ['read', 'write_facts', 'write']

/** The callers, in the order of the columns below. */
const callers: readonly Principal[] = [
  { ...key, kind: 'organization', level: 'admin' },
  { ...otherMember, kind: 'organization', level: 'admin' },
  { ...key, ...projectOf, level: 'admin' },
  { ...otherMember, ...projectOf, level: 'admin' },
  { ...otherMember, ...environmentOf, level: 'admin' },
  { ...key, ...environmentOf, level: 'admin' },
]
/** Callers that can change nothing, although the routes reject them before. */
const powerless: readonly Principal[] = levels.flatMap(level => [
  { ...key, kind: 'organization', level },
  { ...otherMember, ...projectOf, level },
  { ...otherMember, ...environmentOf, level },
])

/**
 * Outcomes: o done, x 403, n 404. Columns: key and member of the organization, of the project, member and key
 * of the environment.
 */
const PATHS: readonly (readonly [string, keyof typeof organizationWrites, object, string])[] = [
  ['a member on the organization', 'createMember', { body: { id: bob.id, ...on('org') } }, 'ooxxxx'],
  ['a member on the project', 'createMember', { body: { id: bob.id, ...on('project') } }, 'ooooxx'],
  ['a member on the environment', 'createMember', { body: { id: bob.id, ...on('env') } }, 'ooooox'],
  ['a member on another project', 'createMember', { body: { id: bob.id, ...on('otherProject') } }, 'ooxxxx'],
  ['a member on another environment', 'createMember', { body: { id: bob.id, ...on('otherEnv') } }, 'ooxxxx'],
  [
    'a member on two projects',
    'createMember',
    { body: { id: bob.id, ...on('project', 'otherProject') } },
    'ooxxxx',
  ],
  ['a member on an unknown project', 'createMember', { body: { id: bob.id, ...on('unknown') } }, 'nnxxxx'],
  ['a member outside the reach', 'createMember', { body: { id: dan.id, ...on('env') } }, 'oonnnx'],
  [
    'an invited address on the organization',
    'createMember',
    { body: { email: 'x@y', ...on('org') } },
    'ooxxxx',
  ],
  [
    'an invited address on the project',
    'createMember',
    { body: { email: guest.email, ...on('project') } },
    'ooooxx',
  ],
  [
    'an invited address on the environment',
    'createMember',
    { body: { email: 'x@y', ...on('env') } },
    'ooooox',
  ],
  ['a subject on the organization', 'createMember', { body: { subject: 'mallory', ...on('org') } }, 'ooxxxx'],
  ['a subject on the environment', 'createMember', { body: { subject: 'mallory', ...on('env') } }, 'ooooox'],
  [
    'the grants of an invitation, by a subject',
    'createMember',
    { body: { id: guest.id, subject: 'mallory', ...on('env') } },
    'ooxxxx',
  ],
  [
    'removal on the organization',
    'deleteMemberPermissions',
    { body: { id: ann.id, ...on('org') } },
    'ooxxxx',
  ],
  ['removal on the project', 'deleteMemberPermissions', { body: { id: bob.id, ...on('project') } }, 'ooooxx'],
  [
    'removal on another project',
    'deleteMemberPermissions',
    { body: { id: eve.id, ...on('otherProject') } },
    'ooxxxx',
  ],
  ['deletion of an owner', 'deleteMember', { params: { member_id: ann.id } }, 'ooxxxx'],
  ['deletion of a member of the project', 'deleteMember', { params: { member_id: bob.email } }, 'ooooxx'],
  ['deletion of a member of two projects', 'deleteMember', { params: { member_id: eve.id } }, 'ooxxxx'],
  [
    'deletion of a member of the environment',
    'deleteMember',
    { params: { member_id: people.cid.id } },
    'ooooox',
  ],
  ['deletion of a member without grants', 'deleteMember', { params: { member_id: fay.id } }, 'oonnnx'],
  [
    'settings of an owner',
    'updateMember',
    { params: { member_id: ann.id }, body: { settings: {} } },
    'ooxxxx',
  ],
  [
    'settings of a member',
    'updateMember',
    { params: { member_id: bob.id }, body: { settings: {} } },
    'ooooxx',
  ],
  ['a group on the organization', 'createMemberGroup', { body: { group: 'new', ...on('org') } }, 'ooxxxx'],
  ['a group on the project', 'createMemberGroup', { body: { group: 'new', ...on('project') } }, 'ooooxx'],
  ['a group on the environment', 'createMemberGroup', { body: { group: 'new', ...on('env') } }, 'ooooox'],
  [
    'more grants of a group',
    'replaceMemberGroup',
    {
      params: { member_group_id: groups.here.id },
      body: { group: 'here', ...on('project', 'otherProject') },
    },
    'ooxxxx',
  ],
  [
    'fewer grants of a group',
    'replaceMemberGroup',
    { params: { member_group_id: groups.both.id }, body: { group: 'both', ...on('project') } },
    'ooooxx',
  ],
  [
    'another name of a group',
    'replaceMemberGroup',
    { params: { member_group_id: groups.here.id }, body: { group: 'new', ...on('project') } },
    'ooxxxx',
  ],
  ['deletion of a group', 'deleteMemberGroup', { params: { member_group_id: groups.here.id } }, 'ooooxx'],
  [
    'deletion of a group of two projects',
    'deleteMemberGroup',
    { params: { member_group_id: groups.both.id } },
    'ooooxx',
  ],
  [
    'deletion of a wider group',
    'deleteMemberGroup',
    { params: { member_group_id: groups.everywhere.id } },
    'ooxxxx',
  ],
  [
    'deletion of a group of another project',
    'deleteMemberGroup',
    { params: { member_group_id: groups.elsewhere.id } },
    'oonnnx',
  ],
]

const UNDO = new Error('nothing is committed')
const CODES: Readonly<Partial<Record<string, string>>> = { FORBIDDEN: 'x', NOT_FOUND: 'n' }

/** Runs an operation without committing it, and returns its outcome. */
async function outcomeOf(name: keyof typeof organizationWrites, caller: Principal, input: object) {
  const write = (organizationWrites as unknown as Record<string, OrganizationWrite>)[name]!
  try {
    await service.commit(caller, function* (context) {
      const given = write(context, input)
      if (isResumable(given)) yield* given
      throw UNDO
    })
  } catch (error) {
    if (error === UNDO) return 'o'
    if (error instanceof AuthzError) return CODES[error.code] ?? error.code
    throw error
  }
  return 'committed'
}

describe('a caller changes grants only where it holds admin', () => {
  test.each(PATHS)('%s', async (_, name, input, expected) => {
    const outcomes = await Promise.all(callers.map(caller => outcomeOf(name, caller, input)))
    expect(outcomes.join('')).toBe(expected)
    const refused = await Promise.all(powerless.map(caller => outcomeOf(name, caller, input)))
    expect(refused.join('')).toMatch(/^[xn]+$/)
  })
})

test.each([
  ['gives itself a grant', 'createMember', { body: { id: ann.id, ...on('project') } }],
  ['gives its own subject a grant', 'createMember', { body: { subject: 'ann', ...on('project') } }],
  ['invites its own address', 'createMember', { body: { email: 'ANN@example.com', ...on('project') } }],
  ['removes its own grant', 'deleteMemberPermissions', { body: { id: ann.id, ...on('org') } }],
  ['deletes itself', 'deleteMember', { params: { member_id: ann.email } }],
] as const)('a member who %s gets 403, even as an owner', async (_, name, input) => {
  const self = { ...session(ann), kind: 'organization', level: 'admin' } as const
  expect(await outcomeOf(name, self, input)).toBe('x')
  expect(
    await outcomeOf('updateMember', self, { params: { member_id: ann.id }, body: { settings: {} } }),
  ).toBe('o')
})

test.each([
  ['the organization', 0, 'ann bob cid dan eve fay guest', 'everywhere here both elsewhere'],
  ['the project', 2, 'ann bob cid eve guest', 'everywhere here both'],
  ['an environment', 5, 'ann bob cid eve guest', 'everywhere here both'],
] as const)(
  'a caller of %s sees members and groups whose grants concern it',
  async (_, index, seen, seenGroups) => {
    const caller = callers[index]!
    const query = { query: {} }
    const listed = (await service.execute('listMembers', caller, query)).answer as {
      id: string
      grants: unknown[]
    }[]
    const nameOf = (id: string) => Object.entries(people).find(([, each]) => each.id === id)![0]
    expect(listed.map(({ id }) => nameOf(id)).join(' ')).toBe(seen)
    expect(listed.find(({ id }) => id === eve.id)!.grants).toHaveLength(index === 0 ? 2 : 1)
    const shown = (await service.execute('listMemberGroups', caller, query)).answer as {
      group: string
      permissions: unknown[]
    }[]
    expect(shown.map(each => each.group).join(' ')).toBe(seenGroups)
    expect(shown[2]!.permissions).toHaveLength(index === 0 ? 2 : 1)
  },
)

test('administrators of different objects share a group of the issuer, and each sees and changes the own part', async () => {
  const [here, there] = [callers[3]!, { ...callers[3]!, projectId: other, projectKey: 'other' } as Principal]
  type Shown = { readonly id: string; readonly permissions: readonly { readonly access_level: string }[] }
  const run = async (
    name: 'createMemberGroup' | 'replaceMemberGroup' | 'deleteMemberGroup' | 'getMemberGroup',
    caller: Principal,
    input: object,
  ) => (await service.execute(name, caller, input)).answer as Shown
  const refused = (...args: Parameters<typeof run>) => errorCodeOf(run(...args))
  const body = (...names: readonly (keyof typeof objects)[]) => ({
    body: { group: 'shared', ...on(...names) },
  })
  const { id } = await run('createMemberGroup', here, body('project'))
  const params = { params: { member_group_id: id } }
  expect(await refused('getMemberGroup', there, params)).toBe('NOT_FOUND')
  expect(await run('createMemberGroup', there, body('otherProject'))).toMatchObject({
    id,
    permissions: [{ project_id: other }],
  })
  expect(await refused('createMemberGroup', there, body('otherProject', 'otherEnv'))).toBe('DUPLICATE_ENTITY')
  const stored = () => opened.groups().find(each => each.id === id)?.grants
  expect(stored()).toEqual([granted('admin', projectId), granted('admin', other)])
  expect(
    (await run('replaceMemberGroup', there, { ...params, ...body('otherEnv') })).permissions,
  ).toHaveLength(1)
  expect(stored()).toEqual([granted('admin', projectId), granted('admin', other, theirs.scope.environmentId)])
  await run('deleteMemberGroup', here, params)
  expect(await refused('getMemberGroup', here, params)).toBe('NOT_FOUND')
  await run('deleteMemberGroup', there, params)
  expect(stored()).toBe(undefined)
})

test('a session changes a group with the tag and the permissions that it has read, at whatever levels', async () => {
  const mixed = person('mia', [granted('admin', projectId, environmentId), granted('read', other)])
  const running = sessionOf(mixed.id)
  const limited = { tenants: [randomUUID()], roles: ['clerk'] }
  const grants: MemberRecord['grants'] = [
    granted('read', projectId, environmentId),
    { ...granted('write_facts', other, theirs.scope.environmentId), delegation: limited },
    onOrganization('no_access'),
  ]
  const shared = group('mixed', grants)
  await put(mixed, running, shared)
  const caller = { ...session(mixed).session, sessionId: running.id }
  const as = (level: AccessLevel) =>
    principalAnywhere({ caller, grants: mixed.grants }, new OrganizationPlaces(organization.placeNames()), {
      level,
      reach: 'any',
    })
  const params = { params: { member_group_id: shared.id } }
  const read = (await service.execute('getMemberGroup', as('read'), params)).answer as MemberGroup
  expect(read.permissions).toHaveLength(3)
  const replace = (permissions: readonly object[], tags: 'any' | string[]) =>
    service.execute(
      'replaceMemberGroup',
      as('admin'),
      { ...params, body: { group: 'mixed', permissions } },
      null,
      undefined,
      {
        thing: 'getMemberGroup',
        tags,
      },
    )
  const [own, ...others] = read.permissions
  const tags = [tagOf(jsonText(read))]
  await replace([{ ...own, access_level: 'write' }, ...others], tags)
  expect(opened.groups().find(({ id }) => id === shared.id)!.grants).toEqual([
    ...grants.slice(1),
    granted('write', projectId, environmentId),
  ])
  expect(await errorCodeOf(replace([own!], tags))).toBe('PRECONDITION_FAILED')
  for (const change of [{ access_level: 'read' }, { roles: ['boss'] }, { tenants: null, roles: null }]) {
    expect(await errorCodeOf(replace([{ ...others[0], ...change }], 'any'))).toBe('FORBIDDEN')
  }
})

test('an invitation does not replace one with grants on which the caller does not hold admin', async () => {
  const caller = callers[2]!
  const invite = (by: Principal) =>
    service.execute('createMember', by, { body: { email: guest.email, ...on('project') } })
  await invite(caller)
  await invite(caller)
  const invited = opened.members().filter(({ email }) => email === guest.email)
  expect(invited).toEqual([guest, expect.objectContaining({ grants: [granted('admin', projectId)] })])
})

test('only invited and verified addresses name a member, so that no person can claim another address', async () => {
  const claimed = person('mallory', [granted('read', projectId)], { isEmailVerified: false })
  await put(claimed)
  const body = { id: claimed.email, ...on('env') }
  const input = { params: { member_id: claimed.email }, body }
  for (const name of ['createMember', 'deleteMemberPermissions', 'deleteMember', 'updateMember'] as const) {
    expect([name, await outcomeOf(name, owner, input)]).toEqual([name, 'n'])
  }
  expect(await outcomeOf('createMember', owner, { body: { ...body, id: claimed.id } })).toBe('o')
  await put({ ...claimed, subject: null, issuer: null, invitation })
  expect(await outcomeOf('createMember', owner, { body })).toBe('o')
})

test.each([
  ['settings', 'root', []],
  ['a group', 'gus', ['everywhere']],
])(
  'a member with permissions of %s is neither deleted nor signed out by the administrator of an environment',
  async (_, subject, groupNames) => {
    const admitted = person(subject, [granted('read', projectId, environmentId)])
    const running = sessionOf(admitted.id, { groups: groupNames })
    await put(admitted, running)
    const caller = callers[4]!
    const input = { params: { member_id: admitted.id }, body: { settings: {} } }
    expect(await outcomeOf('deleteMember', caller, input)).toBe('x')
    expect(await outcomeOf('updateMember', caller, input)).toBe('x')
    await service.execute('deleteMemberPermissions', caller, { body: { id: admitted.id, ...on('env') } })
    expect(opened.members().find(({ id }) => id === admitted.id)).toMatchObject({ grants: [] })
    expect(opened.sessions()).toContainEqual(running)
    expect(await outcomeOf('deleteMember', owner, input)).toBe('o')
  },
)
