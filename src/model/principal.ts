/**
 * Who is calling, as far as a key tells: all of an organization, one project of it, or one environment
 * (native.md B.1, B.13, D-44). A project or an environment goes by its key or its id in paths; neither ever
 * changes.
 */
export type Principal = Caller & {
  /** The id of the key, to be told from others; null: the one in `ADMIN_API_KEY`. */
  readonly keyId: string | null
}

type Caller =
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

/** Whose part of what several share a caller uses: that of all keys of the same reach. */
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
