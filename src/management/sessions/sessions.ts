/**
 * Operations on sessions of members. A member sees and ends the own sessions. Level `admin` on the
 * organization sees and ends all sessions.
 */
import { presentInstant } from '#management/drafts/context.ts'
import { effectiveGrants, memberGroupsOf } from '#management/members/effective-grants.ts'
import { presentPermission } from '#management/members/permissions.ts'
import { hasEnded, lastUseOf } from '#management/members/session-ends.ts'
import { type Page, pageOfLists } from '#management/paging/paging.ts'
import {
  type OrganizationReadContext,
  type OrganizationWriteContext,
} from '#management/scopes/organization-context.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import type { SessionCaller } from '#model/principal.ts'
import type {
  EndedSession,
  OwnSession,
  ListedSession,
  SessionPath,
  SessionsQuery,
} from '#model/wire/organization/session.ts'
import type { SessionRecord } from '#entities/organization-records.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'

/** Returns the session of the request, without its token. */
export function getSession(context: OrganizationReadContext, _input: object): Omit<OwnSession, 'csrf_token'> {
  const { records } = context
  const session = requireOwn(context)
  const member = records.get('member', rowKeys.member(session.memberId))
  const { sessionIdleMs, owners } = requireSessions(context)
  // The member was removed after the request was admitted.
  if (member === null || member.issuer === null || member.subject === null) throw noSession()
  const { id, name, email, issuer, subject } = member
  const groups = { groups: session.groups, records: memberGroupsOf(records, session) }
  const { grants, areCut } = effectiveGrants(member, groups, owners)
  return {
    member: { id, name, email, issuer, subject },
    session_id: session.id,
    signed_in_at: presentInstant(session.signedInAt),
    idle_expires_at: presentInstant(lastUseOf(context, session) + sessionIdleMs),
    expires_at: presentInstant(session.expiresAt),
    grants: grants.map(grant => presentPermission(context, grant)),
    grants_cut: areCut,
    groups: [...session.groups],
    groups_cut: session.areGroupsCut,
    end_session_url: session.endSessionUrl,
  }
}

/** Ends the session of the request. */
export function endSession(context: OrganizationWriteContext, _input: object): EndedSession {
  const session = requireOwn(context)
  context.records.delete(session)
  return { end_session_url: session.endSessionUrl }
}

export function* listSessions(
  context: OrganizationReadContext,
  input: { readonly query: SessionsQuery },
): Resumable<Page<ListedSession>> {
  const { member_id: named } = input.query
  const own = requireSeen(context)
  const memberId = named === undefined ? own : (idFrom(named) ?? named)
  const isHidden = own !== null && memberId !== own
  const signIn = requireSessions(context)
  const isSeen = (session: SessionRecord): boolean =>
    (memberId === null || session.memberId === memberId) && !hasEnded(context, session, signIn)
  return yield* pageOfLists(context.records, {
    kind: 'session',
    lists: [
      memberId === null || idFrom(memberId) === null
        ? lists.all('session')
        : lists.sessionsOfMember(memberId),
    ],
    paging: input.query,
    matches: session => !isHidden && isSeen(session),
    present: session => presentSession(context, session),
  })
}

export function deleteSession(
  context: OrganizationWriteContext,
  input: { readonly params: SessionPath },
): void {
  const { session_id: reference } = input.params
  const own = requireSeen(context)
  const id = idFrom(reference)
  const session = id === null ? null : context.records.get('session', rowKeys.session(id))
  if (session === null || (own !== null && session.memberId !== own)) {
    throw new AuthzError('NOT_FOUND', `there is no session ${JSON.stringify(reference)}`)
  }
  context.records.delete(session)
}

/**
 * The member whose sessions the caller can see; null for all members. Throws `FORBIDDEN` if the caller can
 * see no sessions.
 */
function requireSeen({ principal }: OrganizationReadContext): string | null {
  const { kind, level, session } = principal
  if (kind === 'organization' && level === 'admin') return null
  if (session !== undefined) return session.memberId
  throw new AuthzError(
    'FORBIDDEN',
    'this request needs a session, or access_level "admin" on the organization',
  )
}

function requireOwn(context: OrganizationReadContext): SessionRecord {
  const caller: SessionCaller | undefined = context.principal.session
  assert(caller, 'the route accepts only sessions')
  const session = context.records.get('session', rowKeys.session(caller.sessionId))
  // It ended after the request was admitted.
  if (session === null) throw noSession()
  return session
}

function noSession(): AuthzError {
  return new AuthzError('UNAUTHENTICATED', 'this session has ended: sign in again')
}

function requireSessions({ sessions, members }: OrganizationReadContext) {
  assert(sessions && members, 'there are sessions only if members can sign in')
  return { ...sessions, owners: members.owners }
}

function presentSession(context: OrganizationReadContext, session: SessionRecord): ListedSession {
  return {
    id: session.id,
    member_id: session.memberId,
    signed_in_at: presentInstant(session.signedInAt),
    last_used_at: presentInstant(lastUseOf(context, session)),
    expires_at: presentInstant(session.expiresAt),
    user_agent: session.userAgent,
    is_current: session.id === context.principal.session?.sessionId,
  }
}
