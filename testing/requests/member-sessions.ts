/** Members who are signed in to a service in this process, without an issuer. */
import type { MemberRecord } from '#entities/organization-records.ts'
import { csrfTokenOf } from '#http/message/csrf-token.ts'
import { mergedGrants } from '#management/members/grants.ts'
import { signInMember } from '#management/members/sign-in.ts'
import { valueOfSession } from '#model/sign-in/session-cookies.ts'
import type { AccessGrant } from '#model/principal.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'
import type { Answer, Client } from '#testing/processes/running-service.ts'

export const ISSUER = 'https://id.example.com'
export const ORIGIN = 'https://verdict.example.com'
/** Settings of a service at which members can sign in. `root` is an owner. */
export const SIGN_IN = {
  oidcIssuer: ISSUER,
  oidcClientId: 'verdict',
  publicUrl: ORIGIN,
  oidcOwners: ['root'],
}
export const COOKIE = '__Host-verdict-session'
const SERVICE = { kind: 'organization', organizationId: '', keyId: null, level: 'admin' } as const

export interface SignedIn {
  readonly memberId: string
  readonly sessionId: string
  readonly secret: string
  /** Value of the cookie. */
  readonly cookie: string
  readonly token: string
}

/** A grant on an object, given as `organization`, a project key, or `project/environment`. */
export interface Given {
  readonly on: string
  readonly level: AccessGrant['accessLevel']
  readonly delegation?: AccessGrant['delegation']
}

/**
 * Signs a person in. The grants replace those of the member on the same objects. `groups`: groups of the
 * person at the issuer.
 */
export async function signedIn(
  client: Client,
  subject: string,
  given: readonly Given[] = [],
  groups: readonly string[] = [],
): Promise<SignedIn> {
  const identity = {
    issuer: client.settings.oidcIssuer!,
    subject,
    email: `${subject}@example.com`,
    isEmailVerified: true,
  }
  const names = { name: subject, givenName: null, familyName: null }
  const { answer, revision } = await client.organization.commit(SERVICE, function* (context) {
    const grants = given.map(each => grantOf(context.records, each))
    const result = yield* signInMember(context, {
      identity: { ...identity, ...names, groups, areGroupsCut: false, issuerSessionId: null },
      invitationCode: null,
      formerSessionId: null,
      userAgent: 'Browser 1.0',
      endSessionUrl: null,
      // The first sign-in of a member needs a grant.
      owners: { owners: new Set(['root', subject]), ownerGroups: new Set() },
      sessionIdleMs: client.settings.sessionIdleSeconds * 1_000,
      sessionMaxMs: client.settings.sessionMaxSeconds * 1_000,
    })
    if (result.outcome !== 'ok') throw new Error(`the sign-in failed: ${result.outcome}`)
    const { member, sessionId, secret } = result
    const now = context.records.get('member', rowKeys.member(member.id))!
    context.records.put({ ...now, grants: mergedGrants(now.grants, grants) })
    return { memberId: member.id, sessionId, secret, token: csrfTokenOf(secret) }
  })
  return { ...answer, cookie: valueOfSession({ secret: answer.secret, begun: revision }) }
}

type Records = Parameters<Parameters<Client['organization']['commit']>[1]>[0]['records']

function grantOf(records: Records, { on, level, delegation = null }: Given): AccessGrant {
  if (on === 'organization') return { projectId: null, environmentId: null, accessLevel: level, delegation }
  const [projectKey, environmentKey] = on.split('/')
  const projectId = records.get('project', rowKeys.project(projectKey!))!.id
  const environmentId =
    environmentKey === undefined
      ? null
      : records.get('environment', rowKeys.environment(projectId, environmentKey))!.id
  return { projectId, environmentId, accessLevel: level, delegation }
}

/** Replaces all grants of a member. */
export async function regrant(client: Client, memberId: string, given: readonly Given[]): Promise<void> {
  await client.organization.commit(SERVICE, ({ records }) => {
    const member: MemberRecord = records.get('member', rowKeys.member(memberId))!
    records.put({ ...member, grants: given.map(each => grantOf(records, each)) })
  })
}

export interface SessionOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Headers of a request in a session. */
export function headersOf({ cookie, token }: SignedIn): Record<string, string> {
  return { cookie: `${COOKIE}=${cookie}`, 'x-csrf-token': token }
}

/** Sends a request as the page of the console does. */
export function sendIn<Body = unknown>(
  client: Client,
  session: SignedIn,
  method: string,
  path: string,
  { body, headers }: SessionOptions = {},
): Promise<Answer<Body>> {
  return client.send<Body>(method, path, { key: null, body, headers: { ...headersOf(session), ...headers } })
}
