/**
 * Claims of a logout token (OpenID Connect Back-Channel Logout 1.0, administration.md S14), whose signature,
 * issuer and audience have been verified.
 */
import type { JWTVerifyResult } from 'jose'
import { LOGOUT_TOKEN_SECONDS_MAX } from '#model/limits.ts'
import { IssuerError, issuerErrorOf } from './issuer-error.ts'

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
  if (type !== undefined && !TYPES.includes(type))
    throw rejected('the header typ is not that of a logout token')
  // An ID token has a nonce. Without this check, it could be used as a logout token.
  if (nonce !== undefined) throw invalid('nonce')
  if (typeof iat !== 'number' || !(Math.abs(now / 1_000 - iat) <= LOGOUT_TOKEN_SECONDS_MAX + skewSeconds)) {
    throw invalid('iat')
  }
  if (!isObject(events) || !isObject(events[LOGOUT_EVENT])) throw invalid('events')
  const subject = named(sub, 'sub')
  const issuerSessionId = named(sid, 'sid')
  if (subject === null && issuerSessionId === null) throw rejected('it has neither sub nor sid')
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

export const NOT_SIGNED = 'it is not a signed JWT'

/** Checks of the library, by the codes of its errors. */
const CHECKS: Readonly<Record<string, string>> = {
  ERR_JOSE_ALG_NOT_ALLOWED: 'its algorithm is not accepted',
  ERR_JWKS_NO_MATCHING_KEY: 'the issuer publishes no key for it',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'the signature does not fit',
  ERR_JWS_INVALID: NOT_SIGNED,
  ERR_JWT_INVALID: NOT_SIGNED,
}

/** Converts an error of the library that verifies tokens. The result names the check that failed. */
export function logoutErrorOf(error: unknown): IssuerError {
  const { code, claim } = error as Readonly<Partial<Record<string, unknown>>>
  const isOfClaim = code === 'ERR_JWT_CLAIM_VALIDATION_FAILED' || code === 'ERR_JWT_EXPIRED'
  if (isOfClaim && typeof claim === 'string') return invalid(claim)
  const check = typeof code === 'string' ? CHECKS[code] : undefined
  return check === undefined ? issuerErrorOf(error) : rejected(check)
}

function invalid(claim: string): IssuerError {
  return rejected(`the claim ${claim} is not valid`)
}

function rejected(reason: string): IssuerError {
  return new IssuerError('failed', reason)
}
