/**
 * Claims of a logout token (OpenID Connect Back-Channel Logout 1.0, administration.md S14), whose signature,
 * issuer and audience have been verified.
 */
import type { JWTVerifyResult } from 'jose'
import { LOGOUT_TOKEN_SECONDS_MAX } from '#model/limits.ts'
import { IssuerError } from './issuer-error.ts'

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** Older issuers send `JWT`, or no type. */
const TYPES = ['logout+jwt', 'jwt']

export interface Logout {
  /** The person, or null. At least one of `subject` and `issuerSessionId` is set. */
  readonly subject: string | null
  readonly issuerSessionId: string | null
  /** Sessions that began before this time end, in milliseconds since 1970. */
  readonly before: number
}

/** `now`: milliseconds since 1970. Throws `IssuerError`. */
export function logoutIn(
  { protectedHeader: { typ }, payload }: Pick<JWTVerifyResult, 'protectedHeader' | 'payload'>,
  now: number,
  skewSeconds: number,
): Logout {
  const { sub, sid, iat, events, nonce } = payload
  const type = typ?.toLowerCase().replace(/^application\//, '')
  if (type !== undefined && !TYPES.includes(type)) throw invalid('typ')
  // An ID token has a nonce. Without this check, it could be used as a logout token.
  if (nonce !== undefined) throw invalid('nonce')
  if (typeof iat !== 'number' || !(Math.abs(now / 1_000 - iat) <= LOGOUT_TOKEN_SECONDS_MAX + skewSeconds)) {
    throw invalid('iat')
  }
  if (!isObject(events) || !isObject(events[LOGOUT_EVENT])) throw invalid('events')
  const subject = named(sub, 'sub')
  const issuerSessionId = named(sid, 'sid')
  if (subject === null && issuerSessionId === null) throw invalid('sub')
  // `iat` has a precision of one second: a session that began earlier within the same second also ends.
  return { subject, issuerSessionId, before: (Math.floor(iat) + 1) * 1_000 }
}

function named(claim: unknown, name: string): string | null {
  if (claim === undefined) return null
  if (typeof claim !== 'string' || claim === '') throw invalid(name)
  return claim
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(claim: string): IssuerError {
  return new IssuerError('failed', `the claim ${claim} of a logout token is not valid`)
}
