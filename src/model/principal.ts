/**
 * The caller, as an API key or a session identifies it: a whole organization, one of its projects, or one
 * environment (native.md B.1, B.13, D-44). In paths, a project or an environment is named by its key or by
 * its id. Neither of them ever changes. The principal of a session has the scope and the level of the grant
 * that applies to the place of the request (`member-reach.ts`).
 */
export type Principal = KeyScope & {
  /** Id of the key; null for the key in `ADMIN_API_KEY`, and for sessions. */
  readonly keyId: string | null
  readonly level: AccessLevel
  /** The session with which the request came; absent for API keys. */
  readonly session?: SessionCaller
  /**
   * Limits of delegated grants on an environment; absent if the grant is not limited. A key has one such
   * grant. A member can have several, which permit together what each of them permits.
   */
  readonly delegations?: readonly Delegation[]
}

/** The member of a session, as audit entries name it. */
export interface SessionCaller {
  readonly sessionId: string
  readonly memberId: string
  readonly issuer: string
  readonly subject: string
  readonly name: string | null
}

/** Limits of a delegated grant. */
export interface Delegation {
  /** Ids of the tenants. */
  readonly tenants: readonly string[]
  /** Roles that the holder can give and take, as `role` or `resource#role`. Empty for level `read`. */
  readonly roles: readonly string[]
}

/** A level on an object: the organization, a project or an environment. */
export interface AccessGrant {
  /** Null: the whole organization. */
  readonly projectId: string | null
  /** Null: the whole organization, or the whole project. */
  readonly environmentId: string | null
  /** Members have any level except that of services that only decide. */
  readonly accessLevel: Exclude<AccessLevel, 'decide'>
  /** Limits of a grant on an environment; null if it is not delegated. */
  readonly delegation: Delegation | null
}

/** Levels of keys, from the lowest. Each includes all before it (administration.md K1). */
export const ACCESS_LEVELS = ['no_access', 'decide', 'read', 'write_facts', 'write', 'admin'] as const
export type AccessLevel = (typeof ACCESS_LEVELS)[number]

const RANKS = Object.fromEntries(ACCESS_LEVELS.map((level, rank) => [level, rank])) as Readonly<
  Record<AccessLevel, number>
>

/** Whether a key of level `held` can do what requires the level `needed`. */
export function reaches(held: AccessLevel, needed: AccessLevel): boolean {
  return RANKS[held] >= RANKS[needed]
}

/** A project, with the names that paths can use for it. */
export interface ProjectPlace {
  readonly projectId: string
  readonly projectKey: string
}

/** An environment, with the names that paths can use for it. */
export interface EnvironmentPlace extends ProjectPlace {
  readonly environmentId: string
  readonly environmentKey: string
}

type KeyScope =
  | { readonly kind: 'organization'; readonly organizationId: string }
  | ({ readonly kind: 'project'; readonly organizationId: string } & ProjectPlace)
  | ({ readonly kind: 'environment'; readonly organizationId: string } & EnvironmentPlace)
  | {
      /**
       * Only for sessions whose request names no place: all projects and environments in which a grant has
       * the level that the request needs. Environments of these projects are included and not listed.
       */
      readonly kind: 'places'
      readonly organizationId: string
      readonly projects: readonly ProjectPlace[]
      readonly environments: readonly EnvironmentPlace[]
    }

/** Whether the principal can see a project with all its environments. */
export function coversProject(principal: Principal, projectId: string): boolean {
  switch (principal.kind) {
    case 'organization':
      return true
    case 'project':
      return principal.projectId === projectId
    case 'environment':
      return false
    case 'places':
      return principal.projects.some(project => project.projectId === projectId)
  }
}

/** Whether the principal can see an environment. */
export function coversEnvironment(
  principal: Principal,
  place: Pick<EnvironmentPlace, 'projectId' | 'environmentId'>,
): boolean {
  if (coversProject(principal, place.projectId)) return true
  if (principal.kind === 'environment') return principal.environmentId === place.environmentId
  if (principal.kind !== 'places') return false
  return principal.environments.some(({ environmentId }) => environmentId === place.environmentId)
}

/** The credential that quotas count: an API key, or all sessions of a member together. */
export function quotaIdOf({ keyId, session }: Principal): string | null {
  return session === undefined ? keyId : session.memberId
}

/** Returns the name of the caller's quota share. All keys with the same scope have the same share. */
export function shareOf(principal: Principal | null): string {
  switch (principal?.kind) {
    case 'environment':
      return principal.environmentId
    case 'project':
      return principal.projectId
    case 'organization':
    case 'places':
      return principal.organizationId
    case undefined:
      return ''
  }
}
