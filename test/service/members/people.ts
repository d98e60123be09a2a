/** People who sign in, and the rows of an organization that they change. */
import type { MemberGroupRecord, MemberRecord, SessionRecord } from '#entities/organization-records.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import type { Identity } from '#management/members/identity.ts'
import { type SignIn, signInMember } from '#management/members/sign-in.ts'
import type { AccessGrant, AccessLevel } from '#model/principal.ts'
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
export function onOrganization(accessLevel: AccessLevel): AccessGrant {
  return { projectId: null, environmentId: null, accessLevel, delegation: null }
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

/** An organization whose clock stands still until a test moves it. */
export async function organizationOfPeople(url?: string) {
  const clock = { now: 1_800_000_000_000 }
  const opened = await organizationService(url, { runtime: { now: () => clock.now } })
  const { organization, service, principal } = opened
  const rows = (): RecordReader => new RecordReader(organization.store.view)
  return {
    ...opened,
    clock,
    put: (...records: readonly (MemberRecord | MemberGroupRecord | SessionRecord)[]) =>
      organization.commits.run(draft => records.forEach(record => draft.put(record))),
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
