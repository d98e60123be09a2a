/**
 * Checks whether a client can use a route. This is the first check after the path (native.md D-38).
 * `threads/channel/api-key-authentication.ts` maps keys to principals, through `Authenticate`.
 *
 * Missing, malformed and unknown credentials cause the same response, 401, so clients cannot find out which
 * keys exist. A path with another project or environment than that of the key is also rejected here, before
 * other errors in the request. Whether the entities in the path exist is checked later. Tokens never appear
 * in messages.
 */
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import type { Principal } from '#model/principal.ts'

/**
 * Clients that can call a route:
 * - `public`: all clients. Credentials are not read.
 * - `optional-key`: all clients, but credentials must be valid if they are sent (native.md 0.14).
 * - `any-key`: clients with any valid key.
 * - `organization`: clients with an organization key. Others get 403.
 * - `project`: clients with an organization key or a project key (native.md B.13). Others get 403.
 * - `environment`: clients with an environment key. An organization key is rejected with 403 (native.md D-31,
 *   D-44).
 */
export type RouteAccess = 'public' | 'optional-key' | 'any-key' | 'organization' | 'project' | 'environment'

/**
 * The principal of an `Authorization` header; null if it is not valid. Called once per request with this
 * header, and again after a wait for a revision. `bearer-token.ts` parses the header.
 */
export type Authenticate = (authorization: string) => Principal | null

/** The principal, if the route needs one. Throws `UNAUTHENTICATED` or `FORBIDDEN`. */
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
      'this request needs an API key of the organization: the one in ADMIN_API_KEY, or one created with it',
    )
  }
  if (access === 'project' && kind === 'environment') {
    throw new AuthzError('FORBIDDEN', 'this request needs an API key of the project or of the organization')
  }
}

/** Environment of the client, for routes that require environment keys. */
export function environmentOf(principal: Principal | null): string {
  assert(principal?.kind === 'environment', 'only keys of environments make decisions')
  return principal.environmentId
}

/**
 * Project and environment in a path, by key or ID. Null if the path does not contain it, `undefined` if it
 * cannot be decoded.
 */
export interface PathScope {
  readonly project: string | null | undefined
  readonly environment: string | null | undefined
}

/** Throws `FORBIDDEN` if the project or environment in the path does not match that of the key. */
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
