/**
 * Sign-in of people at an OpenID Connect issuer (administration.md 3), on the main thread. An unfinished
 * sign-in uses no memory and no row. Log lines contain no token, code, state or cookie.
 */
import { addServiceEntry, type AuditedCall } from '#management/audit/audit.ts'
import type { OwnerSettings } from '#management/scopes/member-settings.ts'
import type { Identity } from '#management/members/identity.ts'
import { endSessionsOfIssuerSession, endSessionsOfSubject } from '#management/members/session-ends.ts'
import { signInMember, type SignInResult } from '#management/members/sign-in.ts'
import type { OrganizationService } from '#management/organization/organization-service.ts'
import type { OrganizationWriteContext } from '#management/scopes/organization-context.ts'
import { AuthzError } from '#model/errors.ts'
import { LOGOUT_TOKEN_BYTES_MAX, SIGN_IN_MS } from '#model/limits.ts'
import type { Principal, SessionCaller } from '#model/principal.ts'
import { formatRevision } from '#model/revision.ts'
import type { SignInCounts } from '#model/sign-in/sign-in-counts.ts'
import { SessionCookies } from '#model/sign-in/session-cookies.ts'
import {
  type BeginSignIn,
  type FinishSignIn,
  type ReceiveLogout,
  type SignInCall,
  type SignInOutcome,
  type SignInStep,
} from '#model/sign-in/sign-in-request.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import type { Logger } from '#telemetry/log.ts'
import { identityFrom } from './claims.ts'
import type { Issuer } from './issuer.ts'
import { IssuerError } from './issuer-error.ts'
import { logoutIn } from './logout-token.ts'
import { Recent } from './recent.ts'
import { SignInQuota } from './sign-in-quota.ts'
import { type Transaction, Transactions } from './transactions.ts'

export interface SignInSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | null
  readonly scopes: string
  readonly groupsClaim: string | null
  readonly owners: OwnerSettings
  readonly skewSeconds: number
  readonly sessionIdleMs: number
  readonly sessionMaxMs: number
  readonly publicUrl: string
  /** Secret of the organization, from which the keys of the cookies are derived. */
  readonly tokenSecret: string
}

export interface SignInParts {
  readonly organization: Pick<OrganizationService, 'commit'>
  readonly organizationId: string
  readonly counts: SignInCounts
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly now: () => number
  readonly elapsedMs: () => number
}

const CALLBACK = '/v2/sign-in/callback'
/** Errors of the issuer that mean that it will be available again (RFC 6749, 4.1.2.1). */
const TEMPORARY = ['temporarily_unavailable', 'server_error']

export class SignInService {
  readonly #settings: SignInSettings
  readonly #parts: SignInParts
  /** `PUBLIC_URL` without a slash at its end. */
  readonly #base: string
  readonly #cookies: SessionCookies
  readonly #transactions: Transactions
  /** Null before the first sign-in. */
  #issuer: Issuer | null = null
  readonly #quota: SignInQuota
  /** Sign-ins whose code was sent, and logout tokens that were processed. */
  readonly #sent: Recent
  readonly #loggedOut: Recent

  constructor(settings: SignInSettings, parts: SignInParts) {
    this.#settings = settings
    this.#parts = parts
    this.#base = settings.publicUrl.replace(/\/$/, '')
    this.#cookies = new SessionCookies(settings.publicUrl)
    this.#transactions = new Transactions(this.#cookies, settings.tokenSecret)
    this.#quota = new SignInQuota(parts.elapsedMs)
    this.#sent = new Recent(SIGN_IN_MS, parts.elapsedMs)
    this.#loggedOut = new Recent(SIGN_IN_MS, parts.elapsedMs)
  }

  /**
   * Returns the next step of the browser, or null after a logout. Throws `OVERLOADED` if the node has too
   * many sign-ins or if the issuer cannot be used, and `INVALID_INPUT` for a logout token that is not valid.
   */
  execute(call: SignInCall, requestId: string): Promise<SignInStep | null> {
    switch (call.operation) {
      case 'beginSignIn':
        return this.#begin(call)
      case 'finishSignIn':
        return this.#finish(call, requestId)
      case 'receiveLogout':
        return this.#logOut(call)
    }
  }

  async #begin({ invite, sessionId, cookies }: BeginSignIn): Promise<SignInStep> {
    this.#quota.takeBegin()
    const now = this.#parts.now()
    const transaction = this.#transactions.create(now, { invite, sessionId })
    try {
      const location = await this.#quota.run('sign-ins', async () =>
        (await this.#openIssuer()).authorizationUrl(transaction),
      )
      const surplus = this.#transactions.surplus(cookies, now).map(name => this.#cookies.withoutSignIn(name))
      return { location, cookies: [...surplus, this.#transactions.cookieOf(transaction)] }
    } catch (error) {
      throw this.#asUnavailable(error)
    }
  }

  async #finish(call: FinishSignIn, requestId: string): Promise<SignInStep> {
    const { state = [] } = call.parameters
    const name = state.length === 1 ? this.#transactions.nameOf(state[0]!) : null
    const isSent = name !== null && call.cookies.some(([of]) => of === name)
    const cleared = isSent ? [this.#cookies.withoutSignIn(name)] : []
    const { result, location, cookie } = await this.#resultOf(call, name, requestId)
    this.#parts.counts.add(result)
    return { location, cookies: cookie === null ? cleared : [...cleared, cookie] }
  }

  async #resultOf(call: FinishSignIn, name: string | null, requestId: string): Promise<Finished> {
    try {
      const transaction = this.#requireTransaction(call, name)
      return await this.#quota.run('sign-ins', () => this.#signIn(call, transaction, requestId))
    } catch (error) {
      // A refused commit, a full node and an issuer that is down have the same meaning for the browser.
      if (!(error instanceof IssuerError) && !(error instanceof AuthzError)) throw error
      const { result, reason } =
        error instanceof IssuerError ? error : { result: 'unavailable' as const, reason: error.code }
      const isNotable = result === 'failed' || result === 'unavailable'
      if (isNotable) this.#parts.log.warn({ result, reason, requestId }, 'a sign-in did not succeed')
      return { result, location: this.#errorPage(result), cookie: null }
    }
  }

  /** Performs all checks that need no request to the issuer. Throws `IssuerError`. */
  #requireTransaction({ parameters, cookies }: FinishSignIn, name: string | null): Transaction {
    const { state, code = [], error = [], iss = [] } = parameters
    if (name === null) throw new IssuerError('failed', 'the response has no single state')
    const transaction = this.#transactions.open(cookies, name, this.#parts.now())
    if (transaction === null) throw new IssuerError('expired', 'no unfinished sign-in')
    const { issuer } = this.#settings
    if (transaction.state !== state![0])
      throw new IssuerError('failed', 'the state is that of another sign-in')
    const isNamed = iss.length === 1 ? iss[0] === issuer : iss.length === 0 && !this.#issuer?.namesItself
    if (!isNamed) throw new IssuerError('failed', 'the response is not from the issuer')
    if (error.length === 1) throw refusedBy(error[0]!)
    if (error.length > 1 || code.length !== 1 || code[0] === '') {
      throw new IssuerError('failed', 'the response has no single code')
    }
    return transaction
  }

  async #signIn(
    { parameters: { code, iss }, userAgent }: FinishSignIn,
    transaction: Transaction,
    requestId: string,
  ): Promise<Finished> {
    if (!this.#sent.add(transaction.state)) throw new IssuerError('failed', 'the code was already sent')
    const issuer = await this.#openIssuer()
    const claims = await issuer.exchange({ code: code![0]!, iss: iss?.[0] ?? null }, transaction)
    const identity = await identityFrom(claims, this.#settings)
    const { answer: signedIn, revision } = await this.#commit(identity, transaction, {
      userAgent,
      requestId,
      endSessionUrl: issuer.endSessionUrl(),
    })
    if (signedIn.outcome === 'ok') {
      const location = `${this.#base}/console#/signed-in?revision=${encodeURIComponent(formatRevision(revision))}`
      return {
        result: 'ok',
        location,
        cookie: this.#cookies.session({ secret: signedIn.secret, begun: revision }),
      }
    }
    if (signedIn.outcome === 'not_a_member') {
      const { issuer: from, subject } = identity
      this.#parts.log.info({ issuer: from, subject, requestId }, 'a person without a grant tried to sign in')
    }
    return { result: signedIn.outcome, location: this.#errorPage(signedIn.outcome), cookie: null }
  }

  #commit(
    identity: Identity,
    { invite, sessionId }: Transaction,
    {
      requestId,
      ...browser
    }: {
      readonly userAgent: string | null
      readonly requestId: string
      readonly endSessionUrl: string | null
    },
  ) {
    const { owners, sessionIdleMs, sessionMaxMs } = this.#settings
    const call: AuditedCall & { session?: SessionCaller } = {
      operation: 'finishSignIn',
      keyId: null,
      requestId,
      claim: null,
      input: {},
    }
    const command = function* (context: OrganizationWriteContext): Resumable<SignInResult> {
      const result = yield* signInMember(context, {
        identity,
        invitationCode: invite,
        formerSessionId: sessionId,
        ...browser,
        owners,
        sessionIdleMs,
        sessionMaxMs,
      })
      if (result.outcome === 'ok') {
        const { id: memberId, name } = result.member
        const { issuer, subject } = identity
        call.session = { sessionId: result.sessionId, memberId, issuer, subject, name }
      }
      return result
    }
    return this.#parts.organization.commit(this.#asService(), command, call)
  }

  async #logOut({ logoutToken }: ReceiveLogout): Promise<null> {
    if (logoutToken === null || logoutToken.length > LOGOUT_TOKEN_BYTES_MAX) {
      throw this.#rejectedLogout('it is absent or longer than 16 KiB')
    }
    if (this.#loggedOut.has(logoutToken)) return null
    const { issuer, skewSeconds } = this.#settings
    try {
      const now = this.#parts.now()
      const verified = await this.#quota.run('logouts', async () =>
        (await this.#openIssuer()).verifyLogoutToken(logoutToken, now),
      )
      const { subject, issuerSessionId, before } = logoutIn(verified, now, skewSeconds)
      await this.#parts.organization.commit(this.#asService(), context => {
        // With both, all sessions of the person end: an issuer can name one of several sessions that it ends.
        const ended =
          subject === null
            ? endSessionsOfIssuerSession(context, { issuer, issuerSessionId: issuerSessionId!, before })
            : endSessionsOfSubject(context, { issuer, subject, before })
        if (ended > 0) addServiceEntry(context, 'receiveLogout', { issuer, subject, sessions: ended })
      })
    } catch (error) {
      const isInvalid = error instanceof IssuerError && error.result === 'failed'
      throw isInvalid ? this.#rejectedLogout(error.reason) : this.#asUnavailable(error)
    }
    this.#loggedOut.add(logoutToken)
    return null
  }

  /** `reason`: the check that failed, without parts of the token. */
  #rejectedLogout(reason: string): AuthzError {
    this.#parts.log.warn({ reason }, 'a logout token is not valid')
    return new AuthzError('INVALID_INPUT', `the logout token is not valid: ${reason}`)
  }

  /** Converts an error of the issuer to the error for a request that can be repeated. */
  #asUnavailable(error: unknown): unknown {
    if (!(error instanceof IssuerError)) return error
    this.#parts.log.warn({ reason: error.reason }, 'the issuer of sign-ins cannot be used')
    return new AuthzError('OVERLOADED', 'sign-in is not available at the moment; try again shortly')
  }

  async #openIssuer(): Promise<Issuer> {
    const { Issuer } = await import('./issuer.ts')
    const redirectUri = new URL(this.#base + CALLBACK).href
    this.#issuer ??= new Issuer({ ...this.#settings, redirectUri }, this.#parts.elapsedMs)
    return this.#issuer
  }

  #errorPage(result: SignInOutcome): string {
    return `${this.#base}/console#/sign-in?error=${result}`
  }

  /** The service itself, which no key identifies. */
  #asService(): Principal {
    return { kind: 'organization', organizationId: this.#parts.organizationId, keyId: null, level: 'admin' }
  }
}

interface Finished {
  readonly result: SignInOutcome
  readonly location: string
  /** Cookie of the new session; null if there is none. */
  readonly cookie: string | null
}

function refusedBy(error: string): IssuerError {
  if (error === 'access_denied') return new IssuerError('denied', 'access_denied')
  return TEMPORARY.includes(error)
    ? new IssuerError('unavailable', error)
    : new IssuerError('failed', 'the issuer reports an error')
}
