/**
 * Who is calling, and may they use this route at all? The first check after the path (contract D-38).
 *
 * Missing, malformed and unknown credentials are one and the same answer, 401: a caller learns nothing about which
 * keys exist. What a key may do beyond its kind (its project, its environment) is decided where the path's
 * project and environment are looked up, not here. Tokens never enter a message.
 */
import { AuthzError } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'

/**
 * Who may call a route:
 * - `public`: anybody; credentials are not even looked at.
 * - `optional-key`: anybody, but credentials that are sent must be valid (contract section 0, row 14).
 * - `any-key`: any valid key.
 * - `environment`: an environment key; an organization key is refused with 403 (contract D-31, D-44).
 */
export type RouteAccess = 'public' | 'optional-key' | 'any-key' | 'environment'

/** Looks a bearer token up; `null` when it is nobody's. Called once per request that brings one. */
export type Authenticate = (token: string) => Principal | null

const SCHEME = 'bearer'

/** The caller, as far as the route wants one. Throws `UNAUTHENTICATED` or `FORBIDDEN`. */
export function identifyCaller(
  access: RouteAccess,
  authorization: string | undefined,
  authenticate: Authenticate,
): Principal | null {
  if (access === 'public') return null
  if (access === 'optional-key' && authorization === undefined) return null
  const token = authorization === undefined ? null : bearerToken(authorization)
  const principal = token === null ? null : authenticate(token)
  if (principal === null) {
    throw new AuthzError('UNAUTHENTICATED', 'this request needs a valid API key: Authorization: Bearer <key>')
  }
  if (access === 'environment' && principal.kind !== 'environment') {
    throw new AuthzError('FORBIDDEN', 'this request needs the API key of an environment')
  }
  return principal
}

/** The token of a bearer header, `null` for any other header. The scheme's case does not matter. */
function bearerToken(authorization: string): string | null {
  if (authorization.charCodeAt(SCHEME.length) !== 0x20) return null
  if (authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return null
  const token = authorization.slice(SCHEME.length + 1).trim()
  return token === '' ? null : token
}
