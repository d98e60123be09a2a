/** Requests of a sign-in that an HTTP thread forwards to the main thread, and their results. */

/** Results of a sign-in, as the console and the metric name them (administration.md S9). */
export const SIGN_IN_RESULTS = [
  'ok',
  'denied',
  'expired',
  'failed',
  'unavailable',
  'not_a_member',
  'invite',
] as const
export type SignInOutcome = (typeof SIGN_IN_RESULTS)[number]

/** Cookies of unfinished sign-ins that the browser sent. */
export type SignInCookies = readonly (readonly [name: string, value: string])[]

export interface BeginSignIn {
  readonly operation: 'beginSignIn'
  /** Code of the invitation with which the person signs in; null if there is none. */
  readonly invite: string | null
  /** Id of the session that the browser has; null if it has none. */
  readonly sessionId: string | null
  readonly cookies: SignInCookies
}

export interface FinishSignIn {
  readonly operation: 'finishSignIn'
  /** Parameters of the issuer, each with all its values. */
  readonly parameters: Readonly<Partial<Record<'state' | 'code' | 'error' | 'iss', readonly string[]>>>
  readonly cookies: SignInCookies
  readonly userAgent: string | null
}

export interface ReceiveLogout {
  readonly operation: 'receiveLogout'
  /** Null if the request contains no token. */
  readonly logoutToken: string | null
}

export type SignInCall = BeginSignIn | FinishSignIn | ReceiveLogout

/** Address to which the browser goes, and the cookies that it gets. */
export interface SignInStep {
  readonly location: string
  readonly cookies: readonly string[]
}
