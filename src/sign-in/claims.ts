/**
 * Reads the identity and the groups of a person from the claims of the issuer (administration.md S10, S12).
 */
import type { IDToken, UserInfoResponse } from 'openid-client'
import type { Identity } from '#management/members/identity.ts'
import { ISSUER_GROUP_BYTES_MAX, ISSUER_GROUPS_MAX } from '#model/limits.ts'
import type { Claims } from './issuer.ts'
import { IssuerError } from './issuer-error.ts'

interface Groups {
  /** Null if the claim is absent or has another form. */
  readonly names: readonly string[] | null
  /** Whether the person can have more groups. */
  readonly areCut: boolean
}

/** Code of the library for a response about another person. */
const OTHER_SUBJECT = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'
const NO_GROUPS: Groups = { names: [], areCut: false }

/**
 * Returns the identity. The UserInfo endpoint is used if the ID token lacks the groups or, as with many
 * issuers, the address or the name. `groupsClaim`: name of a claim, JSON Pointer, or null. Throws
 * `IssuerError`.
 */
export async function identityFrom(
  { idToken, userInfo }: Claims,
  { groupsClaim, scopes }: { readonly groupsClaim: string | null; readonly scopes: string },
): Promise<Identity> {
  const { iss: issuer, sub: subject, sid } = idToken
  if (!/^\p{ASCII}{1,255}$/u.test(subject)) throw new IssuerError('failed', 'the subject is not valid')
  const ofToken = groupsClaim === null ? NO_GROUPS : groupsIn(idToken, groupsClaim)
  const requested = scopes.split(' ')
  const lacksPerson =
    (requested.includes('email') && idToken.email === undefined) ||
    (requested.includes('profile') && idToken.name === undefined)
  const info = ofToken.names === null || lacksPerson ? await infoOf(userInfo, ofToken.names === null) : null
  const ofInfo = groupsClaim === null || info === null ? null : groupsIn(info, groupsClaim)
  const groups = ofToken.names === null && ofInfo !== null ? ofInfo : ofToken
  // The address and the mark that it is verified must have the same source.
  const mail = idToken.email === undefined && info !== null ? info : idToken
  const email = textOf(mail.email)
  return {
    issuer,
    subject,
    email,
    isEmailVerified: email !== null && mail.email_verified === true,
    name: textOf(idToken.name ?? info?.name),
    givenName: textOf(idToken.given_name ?? info?.given_name),
    familyName: textOf(idToken.family_name ?? info?.family_name),
    groups: groups.names ?? [],
    areGroupsCut: groups.names === null ? ofToken.areCut || groups.areCut : groups.areCut,
    issuerSessionId: textOf(sid),
  }
}

/** The claims of the UserInfo endpoint. A sign-in that needs only an address or a name continues without. */
async function infoOf(userInfo: Claims['userInfo'], isRequired: boolean): Promise<UserInfoResponse | null> {
  try {
    return await userInfo()
  } catch (error) {
    const isOfAnother = error instanceof IssuerError && error.reason.includes(OTHER_SUBJECT)
    if (isRequired || isOfAnother) throw error
    return null
  }
}

function groupsIn(claims: IDToken | UserInfoResponse, groupsClaim: string): Groups {
  const path = pathOf(groupsClaim)
  let value: unknown = claims
  for (const part of path) value = memberOf(value, part)
  // An issuer with too many groups for a token sends the address of the list in this claim.
  if (value === undefined)
    return { names: null, areCut: memberOf(claims['_claim_names'], path[0]!) !== undefined }
  const sent: unknown = typeof value === 'string' ? [value] : value
  if (!Array.isArray(sent) || !sent.every(name => typeof name === 'string'))
    return { names: null, areCut: true }
  const first = sent.slice(0, ISSUER_GROUPS_MAX)
  const names = first.filter(name => Buffer.byteLength(name) <= ISSUER_GROUP_BYTES_MAX)
  return { names, areCut: names.length < sent.length }
}

/** The steps of a JSON Pointer (RFC 6901), or the name of a claim as the only step. */
function pathOf(groupsClaim: string): string[] {
  if (!groupsClaim.startsWith('/')) return [groupsClaim]
  const parts = groupsClaim.slice(1).split('/')
  return parts.map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function memberOf(value: unknown, name: string): unknown {
  const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return isThere ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}

function textOf(claim: unknown): string | null {
  return typeof claim === 'string' && claim !== '' ? claim : null
}
