/**
 * Rights of callers over members and their grants (administration.md M1, M5, M6, M8). A caller changes only
 * grants on objects on which it holds `admin` itself, so that no caller can give more than it holds.
 */
import { AuthzError } from '#model/errors.ts'
import { coversEnvironment, coversProject, type Principal } from '#model/principal.ts'
import type { OrganizationContext } from '#management/scopes/organization-context.ts'
import type { MemberSettings } from '#management/scopes/member-settings.ts'
import type { GrantPlace } from '#management/scopes/named-objects.ts'

export const ON_ORGANIZATION: GrantPlace = { projectId: null, environmentId: null }

/** Throws `INVALID_INPUT` if members cannot sign in. */
export function requireMembers({ members }: OrganizationContext): MemberSettings {
  if (members !== null) return members
  throw new AuthzError('INVALID_INPUT', 'there are no members without sign-in: set OIDC_ISSUER and restart')
}

/** Whether the caller can change grants on an object: it holds `admin` there or above it. */
export function holdsAdminOn(principal: Principal, { projectId, environmentId }: GrantPlace): boolean {
  if (principal.level !== 'admin' || principal.delegations !== undefined) return false
  if (principal.kind === 'organization') return true
  if (projectId === null) return false
  if (environmentId === null) return coversProject(principal, projectId)
  return coversEnvironment(principal, { projectId, environmentId })
}

/** Throws `FORBIDDEN` unless the caller can change grants on each of the objects. */
export function requireAdminOn(principal: Principal, places: Iterable<GrantPlace>): void {
  for (const place of places) if (!holdsAdminOn(principal, place)) throw notHeld()
}

/**
 * Error for an object on which the caller does not hold `admin`. It is the same if the object does not exist,
 * so that the caller does not learn which objects exist.
 */
export function notHeld(): AuthzError {
  const message =
    'this request needs access_level "admin" on each object of these permissions, or above it: ask an administrator of these objects'
  return new AuthzError('FORBIDDEN', message)
}

/**
 * Throws `FORBIDDEN` for the key of an environment: services hold such keys, and must not let persons in. The
 * routes also reject such keys, before the body is read.
 */
export function requireManager({ kind, session }: Principal): void {
  if (kind !== 'environment' || session !== undefined) return
  throw new AuthzError('FORBIDDEN', 'the API key of an environment cannot change members or member groups')
}

/** Throws `FORBIDDEN` if a member would change its own grants. */
export function requireOther({ session }: Principal, memberId: string): void {
  if (session?.memberId !== memberId) return
  throw new AuthzError('FORBIDDEN', 'members cannot change their own permissions: ask another administrator')
}
