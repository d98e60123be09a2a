/**
 * May who is calling use this route at all? The first check after the path (native.md D-38). Which caller a
 * key stands for is found by `threads/channel/api-key-authentication.ts`, behind `Authenticate`.
 *
 * Missing, malformed and unknown credentials are one and the same answer, 401: a caller learns nothing about which
 * keys exist. A path that names another project or environment than the key's own is refused here, too, whatever else is
 * wrong with the request; whether what it names exists is found out where it is looked up. Tokens never enter a message.
 */
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import type { Principal } from '#model/principal.ts'

/**
 * Who may call a route:
 * - `public`: anybody; credentials are not even looked at.
 * - `optional-key`: anybody, but credentials that are sent must be valid (native.md 0.14).
 * - `any-key`: any valid key.
 * - `organization`: a key of the organization; `project`: one of those, or a project's key (native.md B.13).
 *   Others get 403.
 * - `environment`: an environment key; an organization key is refused with 403 (native.md D-31, D-44).
 */
export type RouteAccess = 'public' | 'optional-key' | 'any-key' | 'organization' | 'project' | 'environment'

/**
 * Whom an `Authorization` header names; `null` when it is nobody. Called once per request that brings one, and again after a
 * wait for a revision. `bearer-token.ts` reads the header.
 */
export type Authenticate = (authorization: string) => Principal | null

/** The caller, as far as the route needs one. Throws `UNAUTHENTICATED` or `FORBIDDEN`. */
export function identifyCaller(
  access: RouteAccess,
  authorization: string | undefined,
  authenticate: Authenticate,
): Principal | null {
  if (access === 'public') return null
  if (access === 'optional-key' && authorization === undefined) return null
  const principal = authorization === undefined ? null : authenticate(authorization)
  if (principal === null) {
    throw new AuthzError('UNAUTHENTICATED', 'this request needs a valid API key: Authorization: Bearer <key>')
  }
  requireKind(access, principal.kind)
  return principal
}

function requireKind(access: RouteAccess, kind: Principal['kind']): void {
  if (access === 'environment' && kind !== 'environment') {
    throw new AuthzError('FORBIDDEN', 'this request needs the API key of an environment')
  }
  if (access === 'organization' && kind !== 'organization') {
    throw new AuthzError(
      'FORBIDDEN',
      'this request needs a key of the organization: the one in ADMIN_API_KEY, or one that it made',
    )
  }
  if (access === 'project' && kind === 'environment') {
    throw new AuthzError('FORBIDDEN', 'this request needs a key of the project or of the organization')
  }
}

/** The environment of the caller of a route that takes environment keys only. */
export function environmentOf(principal: Principal | null): string {
  assert(principal?.kind === 'environment', 'only environment keys reach a decision')
  return principal.environmentId
}

/**
 * Project and environment of a path, by key or id; null where the path names none, `undefined` where the name cannot be
 * read.
 */
export interface PathScope {
  readonly project: string | null | undefined
  readonly environment: string | null | undefined
}

/** Throws `FORBIDDEN` when a path names what does not belong to the caller. */
export function requireOwn(principal: Principal, path: PathScope): void {
  if (principal.kind === 'organization') return
  if (!isNamed(path.project, principal.projectKey, principal.projectId)) {
    throw new AuthzError('FORBIDDEN', 'this key belongs to another project than the one in the path')
  }
  if (principal.kind === 'project') return
  if (!isNamed(path.environment, principal.environmentKey, principal.environmentId)) {
    throw new AuthzError('FORBIDDEN', 'this key belongs to another environment than the one in the path')
  }
}

function isNamed(reference: string | null | undefined, key: string, id: string): boolean {
  return reference === null || reference === key || (reference !== undefined && idFrom(reference) === id)
}
