/**
 * Members: the persons who can sign in, and their own permissions (administration.md M1 to M8, M11). Each
 * change requires that the caller holds `admin` on the objects of the permissions.
 */
import { matchesSearch, pageOfLists } from '#management/paging/paging.ts'
import {
  type OrganizationReadContext,
  type OrganizationWriteContext,
  requireOrganization,
} from '#management/scopes/organization-context.ts'
import type { MemberSettings } from '#management/scopes/member-settings.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import { MEMBER_SETTINGS_BYTES_MAX } from '#model/limits.ts'
import { jsonBytes } from '#model/text/json-text.ts'
import type {
  Member,
  MemberCreate,
  OrganizationMemberPath,
  MemberPermissionsRemoval,
  MembersQuery,
  MemberUpdate,
} from '#model/wire/organization/member.ts'
import type { MemberRecord } from '#entities/organization-records.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { ON_ORGANIZATION, requireAdminOn, requireManager, requireMembers, requireOther } from './authority.ts'
import { isSamePlace, mergedGrants } from './grants.ts'
import { isSameEmail } from './identity.ts'
import { invited } from './invitations.ts'
import { requireMemberCapacity, requireProjectCapacity } from './member-capacity.ts'
import { allGrants, presentMember } from './member-presenter.ts'
import { namedPlaces, queriedPlace, requireFew, wantedGrants } from './permissions.ts'
import { endSessionsOfMember } from './session-ends.ts'
import { newMember } from './sign-in.ts'
import { memberVisibility, seesAll } from './visible-members.ts'

/** Lists members as a bare array in every case. Without sign-in, there are none. */
export function* listMembers(
  context: OrganizationReadContext,
  input: { readonly query: MembersQuery },
): Resumable<Member[]> {
  const { members: settings } = context
  if (settings === null) return []
  const { query } = input
  const { search } = query
  const place = queriedPlace(context, query)
  const isVisible = memberVisibility(context, settings, place)
  const matches = (member: MemberRecord): boolean =>
    isVisible(member) && (search === undefined || isFoundBy(search, member))
  const isNarrowed = !seesAll(context, place) || search !== undefined
  const page = yield* pageOfLists(context.records, {
    kind: 'member',
    lists: [lists.all('member')],
    paging: query,
    matches: isNarrowed ? matches : null,
    hasTotal: false,
    present: member => presentMember(context, member, settings),
  })
  return page.data
}

export function getMember(
  context: OrganizationReadContext,
  input: { readonly params: OrganizationMemberPath },
): Member {
  const { members: settings } = context
  if (settings === null) throw noMember(input.params.member_id)
  return presentMember(context, requireMember(context, input.params.member_id, settings), settings)
}

/** The member of the session. */
export function getOwnMember(context: OrganizationReadContext, _input: object): Member {
  const settings = requireMembers(context)
  const { records, principal } = context
  const memberId = principal.session?.memberId ?? ''
  const member = records.get('member', rowKeys.member(memberId))
  if (member === null) throw noMember(memberId)
  const everything = { kind: 'organization', keyId: null, level: 'no_access' } as const
  const { organizationId } = principal
  return presentMember({ ...context, principal: { ...everything, organizationId } }, member, settings)
}

/**
 * Gives a member permissions. Creates the member if the request names a subject without a member, and invites
 * an e-mail address.
 */
export function* createMember(
  context: OrganizationWriteContext,
  input: { readonly body: MemberCreate },
): Resumable<Member> {
  const settings = requireMembers(context)
  requireManager(context.principal)
  const { id, email, subject, permissions } = input.body
  if (!id && !email && !subject) {
    throw new AuthzError('INVALID_INPUT', 'name the member: send id, email or subject')
  }
  if (id && email) throw new AuthzError('INVALID_INPUT', 'send either id or email, not both')
  const grants = wantedGrants(context, permissions)
  if (email && !subject) {
    const { member, url } = yield* invited(context, { email, grants, settings })
    return presentMember(context, member, settings, url)
  }
  // A concurrent sign-in of the same person must not create a second member.
  context.records.touch(requireOrganization(context.records))
  const named = id ? requireMember(context, id, settings) : null
  const bound = subject ? memberWithSubject(context, settings.issuer, subject) : null
  const member = named ? boundTo(context, named, { subject, bound, settings }) : bound
  if (member !== null) requireOther(context.principal, member.id)
  const before = member?.grants ?? []
  const merged = mergedGrants(before, grants)
  requireFew(merged)
  requireProjectCapacity(context.principal, { before, after: merged })
  // A subject makes a member of an expired invitation, with all of its grants.
  yield* requireMemberCapacity(context, { former: named ?? bound, added: subject ? merged : grants })
  const person = member ?? {
    ...newMember(context),
    issuer: settings.issuer,
    subject: subject!,
    email: email ?? null,
  }
  const changed: MemberRecord = { ...person, grants: merged, updatedAt: context.now }
  context.records.put(changed)
  return presentMember(context, changed, settings)
}

/**
 * The member with the subject of the request. The person with this subject gets all grants of the member.
 * Therefore, the caller must hold `admin` on all of their objects.
 */
function boundTo(
  context: OrganizationWriteContext,
  member: MemberRecord,
  {
    subject,
    bound,
    settings,
  }: {
    readonly subject: string | null | undefined
    readonly bound: MemberRecord | null
    readonly settings: MemberSettings
  },
): MemberRecord {
  if (!subject || bound?.id === member.id) return member
  if (bound !== null || member.subject !== null) {
    const message =
      bound === null ? 'the member has another subject' : 'the subject is that of another member'
    throw new AuthzError('DUPLICATE_ENTITY', `${message}: remove that member first`)
  }
  requireAdminOn(context.principal, member.grants)
  return { ...member, issuer: settings.issuer, subject, invitation: null }
}

function memberWithSubject(
  { records }: OrganizationReadContext,
  issuer: string,
  subject: string,
): MemberRecord | null {
  for (const member of records.list('member', lists.membersOfIdentity(issuer, subject))) {
    if (member.issuer === issuer && member.subject === subject) return member
  }
  return null
}

/**
 * Removes own permissions of a member. A member without any permissions is deleted with its sessions. A
 * member with permissions of groups or of the settings stays: the caller might not hold `admin` there.
 */
export function deleteMemberPermissions(
  context: OrganizationWriteContext,
  input: { readonly body: MemberPermissionsRemoval },
): void {
  const settings = requireMembers(context)
  requireManager(context.principal)
  const { id, permissions } = input.body
  const places = namedPlaces(context, permissions)
  const member = requireMember(context, id, settings)
  requireOther(context.principal, member.id)
  for (const [index, place] of places.entries()) {
    if (member.grants.some(grant => isSamePlace(grant, place))) continue
    const message = `permissions: the member has no own permission on the object of number ${index + 1}`
    throw new AuthzError('NOT_FOUND', message)
  }
  const grants = member.grants.filter(grant => !places.some(place => isSamePlace(grant, place)))
  const changed: MemberRecord = { ...member, grants, updatedAt: context.now }
  if (grants.length === 0 && allGrants(context, changed, settings).length === 0) removeMember(context, member)
  else context.records.put(changed)
}

/** Deletes a member with its permissions, its invitation and its sessions. */
export function deleteMember(
  context: OrganizationWriteContext,
  input: { readonly params: OrganizationMemberPath },
): void {
  const member = requireAdministered(context, input.params)
  requireOther(context.principal, member.id)
  removeMember(context, member)
}

/** Changes the settings that clients store for a member. */
export function updateMember(
  context: OrganizationWriteContext,
  input: { readonly params: OrganizationMemberPath; readonly body: MemberUpdate },
): Member {
  const settings = requireMembers(context)
  const member = requireAdministered(context, input.params)
  const { settings: sent = member.settings } = input.body
  if (sent !== null && jsonBytes(sent, MEMBER_SETTINGS_BYTES_MAX) > MEMBER_SETTINGS_BYTES_MAX) {
    const message = `the settings of a member have at most ${MEMBER_SETTINGS_BYTES_MAX} bytes of JSON`
    throw new AuthzError('LIMIT_EXCEEDED', message)
  }
  const changed: MemberRecord = { ...member, settings: sent, updatedAt: context.now }
  context.records.put(changed)
  return presentMember(context, changed, settings)
}

/**
 * The member of a path, if the caller holds `admin` on each object on which the member has a permission of
 * any origin: otherwise, an administrator of one environment could give an owner a permission there, and then
 * delete the owner. Without permissions, `admin` on the organization is needed. The caller itself is also
 * returned: the route admits only callers with level `admin` on some object, and these can change their own
 * settings.
 */
function requireAdministered(
  context: OrganizationWriteContext,
  { member_id: reference }: OrganizationMemberPath,
): MemberRecord {
  const settings = requireMembers(context)
  requireManager(context.principal)
  const member = requireMember(context, reference, settings)
  if (context.principal.session?.memberId !== member.id) {
    const grants = allGrants(context, member, settings)
    requireAdminOn(context.principal, grants.length === 0 ? [ON_ORGANIZATION] : grants)
  }
  return member
}

function removeMember(context: OrganizationWriteContext, member: MemberRecord): void {
  endSessionsOfMember(context, member.id)
  context.records.delete(member)
}

/**
 * Finds a member by id or e-mail address. Throws `NOT_FOUND`, including for members that the caller must not
 * see, and `INVALID_INPUT` if several members have the address.
 */
function requireMember(
  context: OrganizationReadContext,
  reference: string,
  settings: MemberSettings,
): MemberRecord {
  const { records } = context
  const id = idFrom(reference)
  const byId = id === null ? null : records.get('member', rowKeys.member(id))
  const named = byId
    ? [byId]
    : [...records.list('member', lists.membersOfEmail(reference))].filter(member =>
        isKnownAs(member, reference),
      )
  const [member, ...others] = named.filter(memberVisibility(context, settings))
  if (member === undefined) throw noMember(reference)
  if (others.length === 0) return member
  throw new AuthzError('INVALID_INPUT', 'several members have this e-mail address: name the member by its id')
}

/**
 * Whether an address names the member: an invited one, or one whose address the issuer has verified. At many
 * issuers, persons can state any other address, and would get the permissions that are meant for its owner.
 */
function isKnownAs({ email, isEmailVerified, invitation }: MemberRecord, address: string): boolean {
  return email !== null && (isEmailVerified || invitation !== null) && isSameEmail(email, address)
}

function noMember(reference: string): AuthzError {
  const hint = reference.includes('@')
    ? ': only invited and verified addresses name a member, so use the id'
    : ''
  return new AuthzError('NOT_FOUND', `there is no member ${JSON.stringify(reference)}${hint}`)
}

function isFoundBy(search: string, { id, name, email, subject }: MemberRecord): boolean {
  return matchesSearch(search, [name, email, subject, id])
}
