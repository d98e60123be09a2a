/** Who is calling, as far as a key tells: all of an organization, or one environment of it (contract B.1, D-44). */
export type Principal =
  | { readonly kind: 'organization'; readonly organizationId: string }
  | {
      readonly kind: 'environment'
      readonly organizationId: string
      readonly projectId: string
      readonly environmentId: string
    }
