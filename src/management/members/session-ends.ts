/** Ends sessions: those of a member or of a person at the issuer, and those that have expired. */
import type {
  OrganizationReadContext,
  OrganizationWriteContext,
} from '#management/scopes/organization-context.ts'
import type { Instant } from '#entities/instant.ts'
import type { SessionRecord } from '#entities/organization-records.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import type { ListName } from '#store/view.ts'

export interface SessionTimes {
  /** Time after its last use at which a session ends. */
  readonly sessionIdleMs: number
  /** Time after its sign-in at which a session ends. */
  readonly sessionMaxMs: number
}

/** Whether a session has ended by time, according to its stored row. */
export function isExpired(
  { lastUsedAt, expiresAt }: SessionRecord,
  now: Instant,
  { sessionIdleMs }: Pick<SessionTimes, 'sessionIdleMs'>,
): boolean {
  return expiresAt <= now || lastUsedAt + sessionIdleMs <= now
}

/** Ids of the sessions that have expired, at most `max` of them. O(sessions). */
export function* expiredSessions(
  { records, now }: OrganizationReadContext,
  times: Pick<SessionTimes, 'sessionIdleMs'>,
  max = Number.POSITIVE_INFINITY,
): Resumable<string[]> {
  const ids: string[] = []
  let rows = 0
  for (const session of records.list('session', lists.all('session'))) {
    if (isExpired(session, now, times)) ids.push(session.id)
    if (ids.length === max) break
    if (++rows % YIELD_ROWS === 0) yield
  }
  return ids
}

/** Deletes the sessions that have expired, and returns their number (administration.md C9). */
export function* removeExpiredSessions(
  context: OrganizationWriteContext,
  times: Pick<SessionTimes, 'sessionIdleMs'>,
): Resumable<number> {
  const { records, now } = context
  let removed = 0
  for (const id of yield* expiredSessions(context, times)) {
    const session = records.get('session', rowKeys.session(id))
    if (session === null || !isExpired(session, now, times)) continue
    records.delete(session)
    if (++removed % YIELD_ROWS === 0) yield
  }
  return removed
}

/** Ends one session. Returns whether it existed. */
export function endSession({ records }: OrganizationWriteContext, sessionId: string): boolean {
  const session = records.get('session', rowKeys.session(sessionId))
  if (session !== null) records.delete(session)
  return session !== null
}

/** Ends all sessions of a member and returns their number. A member has few of them. */
export function endSessionsOfMember(context: OrganizationWriteContext, memberId: string): number {
  return endEach(context, lists.sessionsOfMember(memberId))
}

/**
 * Ends the sessions of a person at the issuer that began before an instant. Returns
 * their number.
 */
export function endSessionsOfSubject(
  context: OrganizationWriteContext,
  {
    issuer,
    subject,
    before,
  }: { readonly issuer: string; readonly subject: string; readonly before: Instant },
): number {
  let ended = 0
  for (const member of context.records.list('member', lists.membersOfIdentity(issuer, subject))) {
    if (member.issuer !== issuer || member.subject !== subject) continue
    ended += endEach(context, lists.sessionsOfMember(member.id), session => session.signedInAt < before)
  }
  return ended
}

/**
 * Ends the sessions that began before an instant in a session of the issuer. Returns
 * their number.
 */
export function endSessionsOfIssuerSession(
  context: OrganizationWriteContext,
  {
    issuer,
    issuerSessionId,
    before,
  }: { readonly issuer: string; readonly issuerSessionId: string; readonly before: Instant },
): number {
  return endEach(context, lists.sessionsOfIssuerSession(issuerSessionId), session => {
    const member = context.records.get('member', rowKeys.member(session.memberId))
    const isOfIssuer = session.issuerSessionId === issuerSessionId && member?.issuer === issuer
    return isOfIssuer && session.signedInAt < before
  })
}

function endEach(
  { records }: OrganizationWriteContext,
  list: ListName,
  isMeant: (session: SessionRecord) => boolean = () => true,
): number {
  const sessions = [...records.list('session', list)].filter(isMeant)
  for (const session of sessions) records.delete(session)
  return sessions.length
}
