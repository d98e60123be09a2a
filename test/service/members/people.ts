/** People who sign in, and the rows of an organization that they change. */
import { randomUUID } from 'node:crypto'
import type { MemberGroupRecord, MemberRecord, SessionRecord } from '#entities/organization-records.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import type { Identity } from '#management/members/identity.ts'
import { type SignIn, signInMember } from '#management/members/sign-in.ts'
import type { AccessGrant } from '#model/principal.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { organizationService } from '../../support/running-organization.ts'

export const ISSUER = 'https://id.example.com'
export const ann: Identity = {
  issuer: ISSUER,
  subject: 'ann',
  email: 'ann@example.com',
  isEmailVerified: true,
  name: 'Ann Lee',
  givenName: 'Ann',
  familyName: 'Lee',
  groups: [],
  areGroupsCut: false,
  issuerSessionId: null,
}

/** A grant on the organization. */
export function onOrganization(accessLevel: AccessGrant['accessLevel']): AccessGrant {
  return granted(accessLevel, null, null)
}

export function granted(
  accessLevel: AccessGrant['accessLevel'],
  projectId: string | null,
  environmentId: string | null = null,
): AccessGrant {
  return { projectId, environmentId, accessLevel, delegation: null }
}

export const member: MemberRecord = {
  kind: 'member',
  id: 'c0000000-0000-4000-8000-000000000001',
  issuer: ISSUER,
  subject: 'ann',
  email: 'old@example.com',
  isEmailVerified: false,
  name: 'Old Name',
  givenName: null,
  familyName: null,
  lastSignInAt: null,
  signInCount: 0,
  settings: { theme: 'dark' },
  grants: [onOrganization('read')],
  invitation: null,
  createdAt: 1,
  updatedAt: 1,
}

export const memberGroup: MemberGroupRecord = {
  kind: 'member-group',
  id: 'c0000000-0000-4000-8000-000000000002',
  group: 'ops',
  grants: [onOrganization('write')],
  createdAt: 1,
  updatedAt: 1,
}

export const SESSION_IDLE_MS = 1_800_000
export const SESSION_MAX_MS = 43_200_000

export function sessionOf(memberId: string, others: Partial<SessionRecord> = {}): SessionRecord {
  return {
    kind: 'session',
    id: randomUUID(),
    memberId,
    secretHash: randomUUID(),
    signedInAt: 1_800_000_000_000,
    lastUsedAt: 1_800_000_000_000,
    expiresAt: 1_800_000_000_000 + SESSION_MAX_MS,
    groups: [],
    areGroupsCut: false,
    issuerSessionId: null,
    userAgent: null,
    endSessionUrl: null,
    ...others,
  }
}

/** An organization whose clock stands still until a test moves it. */
export async function organizationOfPeople(url?: string, onEnd?: (close: () => Promise<void>) => void) {
  const clock = { now: 1_800_000_000_000 }
  /** Uses that are not in the rows yet, by session. */
  const uses = new Map<string, number>()
  const opened = await organizationService(url, {
    ...(onEnd && { onEnd }),
    runtime: { now: () => clock.now },
    lastUseOf: id => uses.get(id) ?? null,
    members: {
      issuer: ISSUER,
      publicUrl: 'https://verdict.example.com',
      owners: { owners: new Set(['root']), ownerGroups: new Set() },
    },
  })
  const { organization, service, principal } = opened
  const rows = (): RecordReader => new RecordReader(organization.store.view)
  return {
    ...opened,
    clock,
    uses,
    put: (...records: readonly (MemberRecord | MemberGroupRecord | SessionRecord)[]) =>
      organization.commits.run(draft => records.forEach(record => draft.put(record))),
    groups: () => [...rows().list('member-group', lists.all('member-group'))],
    members: () => [...rows().list('member', lists.all('member'))],
    sessions: () => [...rows().list('session', lists.all('session'))],
    async signIn(identity: Partial<Identity> = {}, others: Partial<SignIn> = {}) {
      const signIn: SignIn = {
        identity: { ...ann, ...identity },
        invitationCode: null,
        formerSessionId: null,
        userAgent: 'Browser 1.0',
        endSessionUrl: null,
        owners: { owners: new Set(), ownerGroups: new Set() },
        sessionIdleMs: SESSION_IDLE_MS,
        sessionMaxMs: SESSION_MAX_MS,
        ...others,
      }
      return (await service.commit(principal, context => signInMember(context, signIn))).answer
    },
  }
}
