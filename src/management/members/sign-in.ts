/**
 * Sign-in of a person whom the issuer has authenticated: finds or creates the member, accepts an invitation,
 * and begins a session (administration.md S10 to S12, M4, C2, C9). A sign-in that does not succeed writes
 * nothing.
 */
import {
  type OrganizationWriteContext,
  requireOrganization,
} from '#management/scopes/organization-context.ts'
import {
  EMAIL_LENGTH_MAX,
  EXPIRED_SESSIONS_ENDED_MAX,
  MEMBER_TEXT_LENGTH_MAX,
  MEMBERS_MAX,
  OWNER_MEMBERS_RESERVE,
  OWNER_SESSIONS_RESERVE,
  PERMISSIONS_PER_MEMBER_MAX,
  SESSIONS_MAX,
  SESSIONS_PER_MEMBER_MAX,
} from '#model/limits.ts'
import type { MemberRecord, SessionRecord } from '#entities/organization-records.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import type { OwnerSettings } from '#management/scopes/member-settings.ts'
import { effectiveGrants } from './effective-grants.ts'
import { mergedGrants } from './grants.ts'
import { type Identity, isSameEmail } from './identity.ts'
import { displaceable, displaceableMembers } from './member-capacity.ts'
import { keptGroups } from './kept-groups.ts'
import { expiredSessions, hasEnded, lastUseOf, type SessionTimes } from './session-ends.ts'

export interface SignIn extends SessionTimes {
  readonly identity: Identity
  /** Code of the invitation with which the sign-in was begun; null if it was begun without one. */
  readonly invitationCode: string | null
  /** Id of the session that the browser had when the sign-in was begun; null if it had none. */
  readonly formerSessionId: string | null
  readonly userAgent: string | null
  /** Address at which the issuer ends its own session; null if it offers none. */
  readonly endSessionUrl: string | null
  readonly owners: OwnerSettings
}

/**
 * Result of a sign-in. `invite`: the invitation does not fit the person. `unavailable`: the organization has
 * the maximum number of sessions or members.
 */
export type SignInResult =
  | {
      readonly outcome: 'ok'
      readonly sessionId: string
      /** Secret of the session, which only its cookie contains. */
      readonly secret: string
      readonly member: MemberRecord
    }
  | { readonly outcome: 'not_a_member' | 'invite' | 'unavailable' }

/**
 * The longest-unused session makes room for the eleventh of a member, and some expired ones for the first
 * beyond the maximum of the organization.
 */
export function* signInMember(context: OrganizationWriteContext, signIn: SignIn): Resumable<SignInResult> {
  const { records } = context
  const surplus = records.count(lists.all('session')) - SESSIONS_MAX
  const expiredIds =
    surplus < 0 ? [] : yield* expiredSessions(context, signIn, surplus + EXPIRED_SESSIONS_ENDED_MAX)
  const { issuer, subject } = signIn.identity
  const isNew = records.count(lists.membersOfIdentity(issuer, subject)) === 0
  const needsRoom = isNew && records.count(lists.all('member')) >= MEMBERS_MAX
  const displaceableIds = needsRoom ? yield* displaceableMembers(context) : []
  // No pause from here to the commit: no other sign-in can come between the checks and the writes.
  return signInNow(context, signIn, { expiredIds, displaceableIds })
}

/** Rows that a sign-in can delete if it needs their place. */
interface Dispensable {
  readonly expiredIds: readonly string[]
  readonly displaceableIds: readonly string[]
}

function signInNow(
  context: OrganizationWriteContext,
  signIn: SignIn,
  { expiredIds, displaceableIds }: Dispensable,
): SignInResult {
  const { records } = context
  const found = memberOf(context, signIn)
  if (found === null) return { outcome: 'invite' }
  const { member, accepted, isNew } = found
  const { groups, areGroupsCut } = keptGroups(context.records, signIn)
  const groupNames = groups.map(({ name }) => name)
  const granting = groups.map(({ record }) => record).filter(record => record !== null)
  const { grants } = effectiveGrants(member, { groups: groupNames, records: granting }, signIn.owners)
  if (grants.length === 0) return { outcome: 'not_a_member' }
  const isOwner = grants.some(({ via }) => via === 'settings')
  const ended = endedBy(context, signIn, { member, expiredIds })
  const sessionsMax = SESSIONS_MAX + (isOwner ? OWNER_SESSIONS_RESERVE : 0)
  if (records.count(lists.all('session')) - ended.size >= sessionsMax) return { outcome: 'unavailable' }
  const displaced = isNew ? displaceable(context, displaceableIds) : []
  const membersMax = MEMBERS_MAX + (isOwner ? OWNER_MEMBERS_RESERVE : 0)
  if (isNew && records.count(lists.all('member')) - displaced.length >= membersMax) {
    return { outcome: 'unavailable' }
  }

  // Two concurrent sign-ins must neither create the same member nor take the last place.
  records.touch(requireOrganization(records))
  for (const row of [...ended.values(), ...displaced]) records.delete(row)
  if (accepted !== null && accepted.id !== member.id) records.delete(accepted)
  records.put(member)
  const secret = context.secrets.newToken()
  const sessionId = context.newId()
  records.put({
    kind: 'session',
    id: sessionId,
    memberId: member.id,
    secretHash: context.secrets.hash(secret),
    signedInAt: context.now,
    lastUsedAt: context.now,
    expiresAt: context.now + signIn.sessionMaxMs,
    groups: groupNames,
    areGroupsCut,
    issuerSessionId: signIn.identity.issuerSessionId,
    userAgent: cut(signIn.userAgent),
    endSessionUrl: signIn.endSessionUrl,
  })
  return { outcome: 'ok', sessionId, secret, member }
}

interface FoundMember {
  /** The member as it is after the sign-in. */
  readonly member: MemberRecord
  /** The stored member with the invitation that is accepted; null if there is none. */
  readonly accepted: MemberRecord | null
  readonly isNew: boolean
}

/** Returns null if the sign-in was begun with an invitation that the person cannot accept. */
function memberOf(context: OrganizationWriteContext, signIn: SignIn): FoundMember | null {
  const { identity, invitationCode } = signIn
  const { issuer, subject } = identity
  const isKnown = (member: MemberRecord) => member.issuer === issuer && member.subject === subject
  const candidates = context.records.list('member', lists.membersOfIdentity(issuer, subject))
  const known = [...candidates].find(isKnown) ?? null
  if (invitationCode === null) {
    const member = known ?? newMember(context)
    return { member: signedIn(context, member, identity), accepted: null, isNew: known === null }
  }
  const invited = invitedBy(context, invitationCode)
  const isMeant =
    invited !== null &&
    identity.isEmailVerified &&
    identity.email !== null &&
    isSameEmail(identity.email, invited.email ?? '')
  if (!isMeant) return null
  const grants = mergedGrants(known?.grants ?? [], invited.grants)
  if (grants.length > PERMISSIONS_PER_MEMBER_MAX) return null
  const member = { ...(known ?? invited), grants, ...(known === null && { invitation: null }) }
  return { member: signedIn(context, member, identity), accepted: invited, isNew: false }
}

/** The member with an open invitation that has this code. */
function invitedBy({ records, secrets, now }: OrganizationWriteContext, code: string): MemberRecord | null {
  const codeHash = secrets.hash(code)
  for (const member of records.list('member', lists.membersOfInvitation(codeHash))) {
    const { invitation } = member
    if (invitation?.codeHash === codeHash && invitation.expiresAt > now) return member
  }
  return null
}

export function newMember({ newId, now }: OrganizationWriteContext): MemberRecord {
  return {
    kind: 'member',
    id: newId(),
    issuer: null,
    subject: null,
    email: null,
    isEmailVerified: false,
    name: null,
    givenName: null,
    familyName: null,
    lastSignInAt: null,
    signInCount: 0,
    settings: null,
    grants: [],
    invitation: null,
    createdAt: now,
    updatedAt: now,
  }
}

function signedIn({ now }: OrganizationWriteContext, member: MemberRecord, identity: Identity): MemberRecord {
  const hasEmail = identity.email !== null && identity.email.length <= EMAIL_LENGTH_MAX
  return {
    ...member,
    issuer: identity.issuer,
    subject: identity.subject,
    email: hasEmail ? identity.email : null,
    isEmailVerified: hasEmail && identity.isEmailVerified,
    name: cut(identity.name),
    givenName: cut(identity.givenName),
    familyName: cut(identity.familyName),
    lastSignInAt: now,
    signInCount: member.signInCount + 1,
    updatedAt: now,
  }
}

/**
 * The sessions that this sign-in ends, by id: the one that the browser had, the longest-unused one of a
 * member with the maximum number, and expired ones.
 */
function endedBy(
  context: OrganizationWriteContext,
  signIn: SignIn,
  { member, expiredIds }: { readonly member: MemberRecord; readonly expiredIds: readonly string[] },
): ReadonlyMap<string, SessionRecord> {
  const { records } = context
  const ended = new Map<string, SessionRecord>()
  const former = signIn.formerSessionId
  for (const id of former === null ? expiredIds : [...expiredIds, former]) {
    const session = records.get('session', rowKeys.session(id))
    if (session !== null && (id === former || hasEnded(context, session, signIn))) ended.set(id, session)
  }
  const own = [...records.list('session', lists.sessionsOfMember(member.id))]
  for (const session of own) if (hasEnded(context, session, signIn)) ended.set(session.id, session)
  const running = own
    .filter(({ id }) => !ended.has(id))
    .toSorted((a, b) => lastUseOf(context, a) - lastUseOf(context, b))
  const surplus = Math.max(0, running.length + 1 - SESSIONS_PER_MEMBER_MAX)
  for (const session of running.slice(0, surplus)) ended.set(session.id, session)
  return ended
}

/** Shortens a text of the issuer or the browser, without leaving half of a character. */
function cut(text: string | null): string | null {
  return text === null ? null : text.slice(0, MEMBER_TEXT_LENGTH_MAX).replace(/[\uD800-\uDBFF]$/, '')
}
