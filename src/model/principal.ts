/**
 * The caller, as an API key identifies it: a whole organization, one of its projects, or one environment
 * (native.md B.1, B.13, D-44). In paths, a project or an environment is named by its key or by its id.
 * Neither of them ever changes.
 */
export type Principal = KeyScope & {
  /** Id of the key; null for the key in `ADMIN_API_KEY`. */
  readonly keyId: string | null
  readonly level: AccessLevel
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

type KeyScope =
  | { readonly kind: 'organization'; readonly organizationId: string }
  | {
      readonly kind: 'project'
      readonly organizationId: string
      readonly projectId: string
      readonly projectKey: string
    }
  | {
      readonly kind: 'environment'
      readonly organizationId: string
      readonly projectId: string
      readonly projectKey: string
      readonly environmentId: string
      readonly environmentKey: string
    }

/** Returns the name of the caller's quota share. All keys with the same scope have the same share. */
export function shareOf(principal: Principal | null): string {
  switch (principal?.kind) {
    case 'environment':
      return principal.environmentId
    case 'project':
      return principal.projectId
    case 'organization':
      return principal.organizationId
    case undefined:
      return ''
  }
}
