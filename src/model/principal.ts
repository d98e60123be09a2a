/**
 * The caller, as identified by an API key: a whole organization, one of its projects, or one environment
 * (native.md B.1, B.13, D-44). In paths, a project or an environment is named by its key or its id; neither
 * ever changes.
 */
export type Principal = KeyScope & {
  /** The id of the key; null for the one in `ADMIN_API_KEY`. */
  readonly keyId: string | null
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

/** Name of the quota share of a caller: all keys with the same scope use the same share. */
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
