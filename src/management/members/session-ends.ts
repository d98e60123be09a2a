/** Ends sessions: those of a member or of a person at the issuer, and those that have expired. */
import type {
  OrganizationContext,
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

/**
 * Maximum interval between recorded uses. Expired rows are kept until all nodes have recorded their uses, and
 * must be deleted within an hour after the expiry (administration.md C9).
 */
const USE_INTERVAL_MS_MAX = 1_200_000
/** Maximum difference between the clocks of nodes that is expected. */
const CLOCK_DIFFERENCE_MS = 60_000

/** Interval in which a use of a session is recorded once, if it ends after `idleMs` without a use. */
export function useIntervalMs(idleMs: number): number {
  return Math.min(idleMs / 10, USE_INTERVAL_MS_MAX)
}

/** Last use of a session that this node knows of. */
export function lastUseOf({ sessions }: OrganizationContext, { id, lastUsedAt }: SessionRecord): Instant {
  return Math.max(lastUsedAt, sessions?.lastUseOf(id) ?? 0)
}

/**
 * Whether no node accepts a session any more. Another node can know of a later use: it records it one
 * interval late, and writes it one interval later.
 */
export function hasEnded(
  context: OrganizationReadContext | OrganizationWriteContext,
  session: SessionRecord,
  { sessionIdleMs }: Pick<SessionTimes, 'sessionIdleMs'>,
): boolean {
  const lateMs = 2 * useIntervalMs(sessionIdleMs) + CLOCK_DIFFERENCE_MS
  const known = { ...session, lastUsedAt: lastUseOf(context, session) }
  return isExpired(known, context.now, { sessionIdleMs: sessionIdleMs + lateMs })
}

/** Whether a session has ended by time, according to its stored row. */
export function isExpired(
  { lastUsedAt, expiresAt }: SessionRecord,
  now: Instant,
  { sessionIdleMs }: Pick<SessionTimes, 'sessionIdleMs'>,
): boolean {
  return expiresAt <= now || lastUsedAt + sessionIdleMs <= now
}

/** Ids of the sessions that have expired on all nodes, at most `max` of them. O(sessions). */
export function* expiredSessions(
  context: OrganizationReadContext,
  times: Pick<SessionTimes, 'sessionIdleMs'>,
  max = Number.POSITIVE_INFINITY,
): Resumable<string[]> {
  const ids: string[] = []
  let rows = 0
  for (const session of context.records.list('session', lists.all('session'))) {
    if (hasEnded(context, session, times)) ids.push(session.id)
    if (ids.length === max) break
    if (++rows % YIELD_ROWS === 0) yield
  }
  return ids
}

/** Deletes the sessions that have expired on all nodes, and returns their number (administration.md C9). */
export function* removeExpiredSessions(
  context: OrganizationWriteContext,
  times: Pick<SessionTimes, 'sessionIdleMs'>,
): Resumable<number> {
  const { records } = context
  let removed = 0
  for (const id of yield* expiredSessions(context, times)) {
    const session = records.get('session', rowKeys.session(id))
    if (session === null || !hasEnded(context, session, times)) continue
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
