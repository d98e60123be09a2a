/** Sign-in on an organization whose clocks stand still, at an issuer that forges tokens. */
import { onTestFinished } from 'vitest'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { SignInCounts } from '#model/sign-in/sign-in-counts.ts'
import type { SignInStep } from '#model/sign-in/sign-in-request.ts'
import { type SignInSettings, SignInService } from '#sign-in/sign-in-service.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { CLIENT_ID, CLIENT_SECRET, ForgingIssuer } from '#testing/issuer/forging-issuer.ts'
import { organizationOfPeople, SESSION_IDLE_MS, SESSION_MAX_MS } from '../members/people.ts'

export async function signInAtIssuer(changed: Partial<SignInSettings> = {}) {
  const issuer = await ForgingIssuer.start()
  onTestFinished(() => issuer.close())
  const people = await organizationOfPeople()
  const { service: organization, principal, clock } = people
  const elapsed = { ms: 0 }
  const logged: object[] = []
  const log = (line: unknown) => void logged.push(line as object)
  const parts = {
    organization,
    organizationId: principal.organizationId,
    counts: new SignInCounts(),
    log: { info: log, warn: log },
    now: () => clock.now,
    elapsedMs: () => elapsed.ms,
  }
  const settings: SignInSettings = {
    issuer: issuer.origin,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    scopes: 'openid profile email',
    groupsClaim: null,
    owners: { owners: new Set(['ann']), ownerGroups: new Set() },
    skewSeconds: 30,
    sessionIdleMs: SESSION_IDLE_MS,
    sessionMaxMs: SESSION_MAX_MS,
    publicUrl: 'https://verdict.example.com',
    tokenSecret: people.organization.tokenSecret(),
    ...changed,
  }
  /** Creates another node of the same organization. */
  const node = () => new SignInService(settings, parts)
  const service = node()
  const cookiesOf = ({ cookies }: SignInStep) =>
    cookies.map(cookie => cookie.split(';')[0]!.split('=') as [string, string])

  async function begin(at = service, sessionId: string | null = null, kept: [string, string][] = []) {
    const call = { operation: 'beginSignIn', invite: null, sessionId, cookies: kept } as const
    return (await at.execute(call, 'request'))!
  }
  /** Returns the part of the console's address after `#/`. */
  async function finish(begun: SignInStep, at = service): Promise<string> {
    const { state, code } = issuer.authorize(begun.location)
    const parameters = { state: [state], code: [code] }
    const cookies = cookiesOf(begun)
    const call = { operation: 'finishSignIn', parameters, cookies, userAgent: null } as const
    const { location } = (await at.execute(call, 'request'))!
    return location.split('#/')[1]!.replace(/=[\w-]+\.\d+$/, '')
  }
  const signIn = async () => finish(await begin())
  const logOut = (logoutToken: string | null) =>
    service.execute({ operation: 'receiveLogout', logoutToken }, 'request')
  const entries = () => [
    ...new RecordReader(people.organization.store.view).list('audit', lists.all('audit')),
  ]
  return {
    ...people,
    entries,
    issuer,
    elapsed,
    logged,
    node,
    service,
    begin,
    finish,
    signIn,
    logOut,
    cookiesOf,
  }
}

export const SIGNED_IN = 'signed-in?revision'
