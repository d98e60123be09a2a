/**
 * Limits on the numbers of members, open invitations and member groups (administration.md M11). Callers
 * without level `admin` on the organization can use only a part of each limit, also on each project and
 * environment. Therefore, an administrator of one environment cannot use up what others need.
 *
 * Each command that adds a member, an invitation, a member group or a grant writes the row of the
 * organization before it counts. Concurrent commands therefore do not miss each other.
 */
import type { MemberRecord } from '#entities/organization-records.ts'
import {
  type OrganizationWriteContext,
  requireOrganization,
} from '#management/scopes/organization-context.ts'
import { AuthzError } from '#model/errors.ts'
import {
  DISPLACED_MEMBERS_MAX,
  MEMBER_GROUPS_MAX,
  MEMBER_SHARES,
  MEMBERS_MAX,
  OPEN_INVITATIONS_MAX,
  PERMISSIONS_PER_MEMBER_MAX,
  PERMISSIONS_PER_PROJECT_MAX,
} from '#model/limits.ts'
import type { AccessGrant, Principal } from '#model/principal.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { holdsAdminOn, ON_ORGANIZATION } from './authority.ts'
import { hasExpired } from './lapsed-members.ts'

/** The counted entities, with their maximum number in an organization. */
const MAXIMA = {
  members: MEMBERS_MAX,
  'open invitations': OPEN_INVITATIONS_MAX,
  'member groups': MEMBER_GROUPS_MAX,
}
type Counted = keyof typeof MAXIMA

/** Number of permissions of a member or a group up to which administrators of projects can give more. */
const PERMISSIONS_OF_PROJECTS_MAX = PERMISSIONS_PER_MEMBER_MAX * MEMBER_SHARES.total

/** A project or an environment on which a command adds a grant. */
interface AddedPlace {
  readonly object: 'project' | 'environment'
  readonly id: string
}

/** Grants that a command adds, and those that the member or group had before. */
export interface AddedGrants {
  readonly added: readonly AccessGrant[]
  readonly before: readonly AccessGrant[]
}

/** A command that adds grants to a member, or creates a member. */
interface MemberChange {
  /** The stored member; null if the command creates one. */
  readonly former: MemberRecord | null
  readonly added: readonly AccessGrant[]
}

/**
 * Throws `LIMIT_EXCEEDED` if the organization, or a project or environment on which the member gets its first
 * grant, has too many members. Expired invitations do not count, so one that is renewed counts as a new
 * member. If a new row exceeds the maximum of the organization, members that are not needed are deleted.
 */
export function* requireMemberCapacity(
  context: OrganizationWriteContext,
  { former, added }: MemberChange,
): Resumable<void> {
  const { records, principal } = context
  records.touch(requireOrganization(records))
  if (former === null && records.count(lists.all('member')) >= MEMBERS_MAX) {
    const ids = yield* displaceableMembers(context)
    for (const member of displaceable(context, ids)) records.delete(member)
  }
  const counted = countedMember(context, former)
  if (counted === null) {
    const maximum = maximumFor(principal, 'members')
    requireTotal(principal, 'members', yield* membersIn(context, lists.all('member'), maximum))
  }
  for (const place of sharedPlaces(principal, { added, before: counted?.grants ?? [] })) {
    const maximum = shareOf('members', place)
    requireShare('members', place, yield* membersIn(context, lists.membersGrantedOn(place.id), maximum))
  }
}

/** The member, or null if it is an expired invitation, which does not count. */
function countedMember({ now }: OrganizationWriteContext, member: MemberRecord | null): MemberRecord | null {
  return member !== null && hasExpired(member, now) ? null : member
}

/** Number of members in a list. If it reaches `maximum`, expired invitations do not count. O(members). */
function* membersIn(
  { records, now }: OrganizationWriteContext,
  list: ReturnType<typeof lists.membersGrantedOn>,
  maximum: number,
): Resumable<number> {
  const count = records.count(list)
  if (count < maximum) return count
  let kept = 0
  let rows = 0
  for (const member of records.list('member', list)) {
    if (!hasExpired(member, now)) kept += 1
    if (++rows % YIELD_ROWS === 0) yield
  }
  return kept
}

/**
 * Throws `LIMIT_EXCEEDED` if there are too many invitations that can be accepted. `former`: the invitation
 * that is replaced. O(invitations).
 */
export function* requireInvitationCapacity(
  context: OrganizationWriteContext,
  { former, added }: MemberChange,
): Resumable<void> {
  const { records, principal, now } = context
  records.touch(requireOrganization(records))
  const what = 'open invitations'
  const before = countedMember(context, former)?.grants ?? []
  const places = sharedPlaces(principal, { added, before })
  if (places.length === 0 && records.count(lists.invitedMembers()) < maximumFor(principal, what)) return
  let open = 0
  const openOn = new Map(places.map(({ id }) => [id, 0]))
  let rows = 0
  for (const member of records.list('member', lists.invitedMembers())) {
    if (++rows % YIELD_ROWS === 0) yield
    if (member.id === former?.id || hasExpired(member, now)) continue
    open += 1
    for (const id of new Set(placeIdsOf(member.grants))) {
      const count = openOn.get(id)
      if (count !== undefined) openOn.set(id, count + 1)
    }
  }
  requireTotal(principal, what, open)
  for (const place of places) requireShare(what, place, openOn.get(place.id)!)
}

/** Throws `LIMIT_EXCEEDED` if there are too many member groups. `isNew`: whether the command adds a group. */
export function requireGroupCapacity(
  { records, principal }: OrganizationWriteContext,
  { isNew, ...grants }: AddedGrants & { readonly isNew: boolean },
): void {
  records.touch(requireOrganization(records))
  if (isNew) requireTotal(principal, 'member groups', records.count(lists.all('member-group')))
  for (const place of sharedPlaces(principal, grants)) {
    requireShare('member groups', place, records.count(lists.memberGroupsGrantedOn(place.id)))
  }
}

/**
 * Throws `LIMIT_EXCEEDED` if a caller without level `admin` on the organization would give one member or
 * group so many grants, in one project or in all of them, that the others could give no more.
 */
export function requireProjectCapacity(
  principal: Principal,
  { before, after }: { readonly before: readonly AccessGrant[]; readonly after: readonly AccessGrant[] },
): void {
  if (holdsAdminOn(principal, ON_ORGANIZATION)) return
  if (after.length > PERMISSIONS_OF_PROJECTS_MAX && after.length > before.length) {
    const message = `the last ${PERMISSIONS_PER_MEMBER_MAX - PERMISSIONS_OF_PROJECTS_MAX} of ${PERMISSIONS_PER_MEMBER_MAX} permissions of a member or a member group need access_level "admin" on the organization: remove some first, or ask an administrator of the organization`
    throw new AuthzError('LIMIT_EXCEEDED', message)
  }
  const countIn = (grants: readonly AccessGrant[], id: string | null): number =>
    grants.filter(({ projectId }) => projectId === id).length
  for (const id of new Set(after.map(({ projectId }) => projectId))) {
    if (id === null) continue
    const count = countIn(after, id)
    if (count <= PERMISSIONS_PER_PROJECT_MAX || count <= countIn(before, id)) continue
    const message = `without access_level "admin" on the organization, you can give a member or a member group at most ${PERMISSIONS_PER_PROJECT_MAX} permissions in one project: give a permission on the project`
    throw new AuthzError('LIMIT_EXCEEDED', message)
  }
}

/**
 * Ids of members that are not needed, at most `DISPLACED_MEMBERS_MAX`: expired invitations, and members
 * without own grants who are signed out, those first that were not used for longest. A person whom a group or
 * the settings admit becomes a member again with the next sign-in. O(members).
 */
export function* displaceableMembers(context: OrganizationWriteContext): Resumable<string[]> {
  const found: { readonly id: string; readonly usedAt: number }[] = []
  let rows = 0
  for (const member of context.records.list('member', lists.all('member'))) {
    if (isDisplaceable(context, member)) {
      found.push({ id: member.id, usedAt: member.lastSignInAt ?? member.updatedAt })
    }
    if (++rows % YIELD_ROWS === 0) yield
  }
  const oldest = found.toSorted((one, other) => one.usedAt - other.usedAt)
  return oldest.slice(0, DISPLACED_MEMBERS_MAX).map(({ id }) => id)
}

/** The members that are still not needed. */
export function displaceable(context: OrganizationWriteContext, ids: readonly string[]): MemberRecord[] {
  return ids.flatMap(id => {
    const member = context.records.get('member', rowKeys.member(id))
    return member !== null && isDisplaceable(context, member) ? [member] : []
  })
}

function isDisplaceable({ records, now }: OrganizationWriteContext, member: MemberRecord): boolean {
  if (member.invitation !== null) return hasExpired(member, now)
  return member.grants.length === 0 && records.count(lists.sessionsOfMember(member.id)) === 0
}

function maximumFor(principal: Principal, what: Counted): number {
  const maximum = MAXIMA[what]
  return holdsAdminOn(principal, ON_ORGANIZATION) ? maximum : maximum * MEMBER_SHARES.total
}

function requireTotal(principal: Principal, what: Counted, count: number): void {
  const maximum = maximumFor(principal, what)
  if (count < maximum) return
  const message =
    maximum === MAXIMA[what]
      ? `an organization has at most ${maximum} ${what}: remove some first`
      : `the last ${MAXIMA[what] - maximum} of ${MAXIMA[what]} ${what} need access_level "admin" on the organization: remove some first, or ask an administrator of the organization`
  throw new AuthzError('LIMIT_EXCEEDED', message)
}

function shareOf(what: Counted, { object }: AddedPlace): number {
  return MAXIMA[what] * MEMBER_SHARES[object]
}

function requireShare(what: Counted, place: AddedPlace, count: number): void {
  const maximum = shareOf(what, place)
  if (count < maximum) return
  const message = `without access_level "admin" on the organization, you can bring ${what} on one ${place.object} up to ${maximum}: remove some first, or ask an administrator of the organization`
  throw new AuthzError('LIMIT_EXCEEDED', message)
}

/** The places whose limits count for the caller, and on which there was no grant before. */
function sharedPlaces(principal: Principal, { added, before }: AddedGrants): readonly AddedPlace[] {
  if (holdsAdminOn(principal, ON_ORGANIZATION)) return []
  const known = new Set<string>(placeIdsOf(before))
  const places = new Map<string, AddedPlace>()
  for (const { projectId, environmentId } of added) {
    if (projectId !== null) places.set(projectId, { object: 'project', id: projectId })
    if (environmentId !== null) places.set(environmentId, { object: 'environment', id: environmentId })
  }
  return [...places.values()].filter(({ id }) => !known.has(id))
}

/** Ids of the projects and environments of grants. */
function placeIdsOf(grants: readonly AccessGrant[]): string[] {
  return grants
    .flatMap(({ projectId, environmentId }) => [projectId, environmentId])
    .filter(id => id !== null)
}
