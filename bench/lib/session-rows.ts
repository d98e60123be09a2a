/** Many sessions of members: as HTTP threads know them, and as rows of the organization's store. */
import { hash } from 'node:crypto'
import { MEMBERS_MAX, SESSIONS_MAX, SESSIONS_PER_MEMBER_MAX } from '#model/limits.ts'
import type { MemberRecord, SessionRecord } from '#entities/organization-records.ts'
import type { AccessGrant } from '#model/principal.ts'
import type { InitialSessions } from '#threads/channel/session-authentication.ts'
import { newId } from '../data/bulk-store.ts'

/** Settings of a service with sign-in. No issuer listens at this address. */
export const SIGN_IN = {
  OIDC_ISSUER: 'http://localhost:1',
  OIDC_CLIENT_ID: 'verdict',
  PUBLIC_URL: 'http://localhost:2',
}
/** Name of the cookie for this `PUBLIC_URL`. */
export const SESSION_COOKIE = 'verdict-session'
const HOUR_MS = 3_600_000
const ON_ORGANIZATION: AccessGrant = {
  projectId: null,
  environmentId: null,
  accessLevel: 'write',
  delegation: null,
}

/** Secret of a session: 43 characters of base64url. */
export function sessionSecret(index: number): string {
  return String(index).padStart(43, 'S')
}

/** The maximum number of sessions, with ten sessions per member. */
export function sessionRows(): { readonly members: MemberRecord[]; readonly sessions: SessionRecord[] } {
  const now = Date.now()
  const count = Math.min(MEMBERS_MAX, SESSIONS_MAX / SESSIONS_PER_MEMBER_MAX)
  const members = Array.from({ length: count }, (_, index) => memberRow(index, now))
  const sessions = Array.from({ length: SESSIONS_MAX }, (_, index) =>
    sessionRow(members[index % count]!, index, now),
  )
  return { members, sessions }
}

function memberRow(index: number, now: number): MemberRecord {
  return {
    kind: 'member',
    id: newId(),
    issuer: SIGN_IN.OIDC_ISSUER,
    subject: `person-${index}`,
    email: `person-${index}@example.com`,
    isEmailVerified: true,
    name: `Person ${index}`,
    givenName: null,
    familyName: null,
    lastSignInAt: now,
    signInCount: 1,
    settings: null,
    grants: [ON_ORGANIZATION],
    invitation: null,
    createdAt: now,
    updatedAt: now,
  }
}

function sessionRow({ id: memberId }: MemberRecord, index: number, now: number): SessionRecord {
  return {
    kind: 'session',
    id: newId(),
    memberId,
    secretHash: hash('sha256', sessionSecret(index), 'hex'),
    signedInAt: now,
    lastUsedAt: now,
    expiresAt: now + 12 * HOUR_MS,
    groups: [],
    areGroupsCut: false,
    issuerSessionId: null,
    userAgent: 'Mozilla/5.0',
    endSessionUrl: null,
  }
}

/** The same sessions for threads that start. */
export function acceptedSessions(
  organizationId: string,
  scope: InitialSessions['places']['environments'][number],
): InitialSessions {
  const { members, sessions } = sessionRows()
  const byId = new Map(members.map(member => [member.id, member]))
  return {
    places: { organizationId, projects: [scope], environments: [scope] },
    groups: [],
    sessions: sessions.map(({ id, memberId, secretHash, expiresAt, lastUsedAt }, slot) => {
      const { issuer, subject, name, grants } = byId.get(memberId)!
      const caller = { sessionId: id, memberId, issuer: issuer!, subject: subject!, name }
      return { caller, grants, groups: [], secretHash, expiresAt, lastUsedAt, slot }
    }),
  }
}
