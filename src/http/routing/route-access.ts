/**
 * Checks whether a client can use a route: the kind and the level of its key (administration.md K4). After
 * the route for the path was found, this is the first check of a request (native.md D-38).
 * `threads/channel/api-key-authentication.ts` implements `Authenticate`, which maps API keys to principals.
 *
 * The response to missing, malformed and unknown credentials is always the same 401, so that clients cannot
 * find out which keys exist. If the path names another project or environment than that of the key, the
 * request is also rejected here, before other errors in it are reported. Whether the entities in the path
 * exist is checked later. Error messages never contain tokens.
 */
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import { closedToDelegates, levelTooLow } from '#model/members/member-reach.ts'
import { type AccessLevel, type Principal, reaches } from '#model/principal.ts'

/**
 * Clients that can call a route:
 * - `public`: all clients. Credentials are not read.
 * - `optional-key`: all clients. If a client sends credentials, they must be valid (native.md 0.14).
 * - `any-key`: clients with any valid key.
 * - `organization`: clients with an organization key. Others get 403.
 * - `project`: clients with an organization key or a project key (native.md B.13). Others get 403.
 * - `manager`: like `project`, but a session needs no particular grant (administration.md M5).
 * - `environment`: clients with an environment key. An organization key is rejected with 403 (native.md D-31,
 *   D-44).
 * - `session`: members in a session. Keys get 403.
 * - `cookie`: members in a session, without the token that other requests with the cookie need
 *   (administration.md C3). Keys get 403.
 *
 * Where keys are accepted, sessions with a grant of this reach are also accepted (administration.md C11).
 */
export type RouteAccess =
  | 'public'
  | 'optional-key'
  | 'any-key'
  | 'organization'
  | 'project'
  | 'manager'
  | 'environment'
  | 'session'
  | 'cookie'

/**
 * Use of a route by clients whose grant is limited to tenants (administration.md D2). `read`: returns what
 * they can see. `write`: changes what they can change.
 */
export type DelegatedUse = 'read' | 'write'

/** Requirements of a route on its client. */
export interface RouteNeeds {
  readonly access: RouteAccess
  /** Lowest level of a key; null if the route needs no key. */
  readonly level: AccessLevel | null
  /** Null: the route rejects clients whose grant is limited to tenants. */
  readonly delegated: DelegatedUse | null
}

/**
 * Returns the principal for an `Authorization` header, or null if the header or its key is not valid. Called
 * when the head of a request has arrived, and again after the request waited for a revision.
 * `bearer-token.ts` parses the header.
 */
export type Authenticate = (authorization: string) => Principal | null

/** Returns the principal, or null if the route needs no key. Throws `UNAUTHENTICATED` or `FORBIDDEN`. */
export function identifyCaller(
  needs: RouteNeeds,
  authorization: string | undefined,
  authenticate: Authenticate,
): Principal | null {
  const { access } = needs
  if (access === 'public') return null
  if (access === 'optional-key' && authorization === undefined) return null
  const principal = authorization === undefined ? null : authenticate(authorization)
  if (principal === null) throw unauthenticated()
  requireAdmission(needs, principal)
  return principal
}

/** Error for credentials that are missing or not valid. It is the same for keys and sessions. */
export function unauthenticated(): AuthzError {
  return new AuthzError('UNAUTHENTICATED', 'this request needs a valid API key: Authorization: Bearer <key>')
}

/** Throws `FORBIDDEN` if the kind, the level or the limits of the principal do not fit the route. */
export function requireAdmission({ access, level, delegated }: RouteNeeds, principal: Principal): void {
  requireKind(access, principal)
  if (level === null) return
  const { session, delegations } = principal
  const holder = session === undefined ? 'key' : 'session'
  if (!reaches(principal.level, level)) throw levelTooLow(level, principal.level, holder)
  if (delegations !== undefined && delegated === null) throw closedToDelegates(holder)
}

/** Whether the client of a response that has begun could still call the route. */
export function isStillAdmitted(
  needs: RouteNeeds,
  authorization: string,
  authenticate: Authenticate,
): boolean {
  try {
    return identifyCaller(needs, authorization, authenticate) !== null
  } catch (error) {
    if (error instanceof AuthzError) return false
    throw error
  }
}

function requireKind(access: RouteAccess, { kind, session }: Principal): void {
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
  if (access === 'manager' && kind === 'environment' && session === undefined) {
    throw new AuthzError(
      'FORBIDDEN',
      'this request needs an API key of a project or of the organization: services hold keys of environments, and must not let persons in',
    )
  }
  if ((access === 'session' || access === 'cookie') && session === undefined) {
    throw new AuthzError('FORBIDDEN', 'this request needs a session: sign in to the console')
  }
}

/** Environment of the client. Must only be called for routes that require environment keys. */
export function environmentOf(principal: Principal | null): string {
  assert(principal?.kind === 'environment', 'only keys of environments make decisions')
  return principal.environmentId
}

/**
 * Project and environment in a path, each given as a key or ID. A value is null if the path does not contain
 * it, and `undefined` if it cannot be decoded.
 */
export interface PathScope {
  readonly project: string | null | undefined
  readonly environment: string | null | undefined
}

/** Throws `FORBIDDEN` if the path contains another project or environment than that of the key. */
export function requireOwn(principal: Principal, path: PathScope): void {
  if (principal.kind === 'organization' || principal.kind === 'places') return
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
