/** Settings of the operator that concern members. */

/** Members of the organization that the settings make owners. */
export interface OwnerSettings {
  /** Subjects at the issuer (`OIDC_OWNERS`). */
  readonly owners: ReadonlySet<string>
  /** Groups at the issuer (`OIDC_OWNER_GROUPS`). */
  readonly ownerGroups: ReadonlySet<string>
}

export interface MemberSettings {
  /** The issuer at which members sign in (`OIDC_ISSUER`). */
  readonly issuer: string
  /** Address of the service for browsers (`PUBLIC_URL`). */
  readonly publicUrl: string
  readonly owners: OwnerSettings
}
