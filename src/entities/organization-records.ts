/**
 * Records of the organization, which are stored separately from those of the environments: projects,
 * environments, API keys, members and sessions.
 */
import type { Attributes } from '#model/change.ts'
import type { AccessGrant, AccessLevel, Delegation } from '#model/principal.ts'
import type { Dated, Instant } from './instant.ts'

/** Kind of the owner of an API key. Stored for clients; it has no effect. */
export type ApiKeyOwnerType = 'pdp_config' | 'member' | 'elements'

export interface OrganizationRecord {
  readonly kind: 'organization'
  readonly id: string
  /**
   * Secret with which page tokens are signed, so that they are valid after restarts and on every node: 32
   * bytes in lower-case hex.
   */
  readonly tokenSecret: string
  /**
   * Whether the first start has been completed. If so, defaults that an operator has removed are not created
   * again.
   */
  readonly isSetUp: boolean
}

export interface ProjectRecord extends Dated {
  readonly kind: 'project'
  readonly id: string
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly urnNamespace: string | null
  readonly settings: Attributes | null
  readonly activePolicyRepoId: string | null
}

export interface EnvironmentRecord extends Dated {
  readonly kind: 'environment'
  readonly id: string
  readonly projectId: string
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly customBranchName: string | null
  readonly jwks: Attributes | null
  readonly settings: Attributes | null
  /**
   * True if the environment is a copy that is not complete yet. It has its key and its data, but only the
   * copying code uses it.
   */
  readonly isBeingCopied: boolean
  /**
   * True if the environment is a copy whose store is still being filled and must not be opened. Rows of older
   * releases do not have this field.
   */
  readonly isBeingLoaded: boolean | null
  /**
   * Whether the environment has commits. If so and its store is empty, the store has lost its data. Rows of
   * older releases do not have this field.
   */
  readonly isBegun: boolean | null
}

/**
 * A removed environment whose data must still be deleted. The id is that of the environment and is never
 * reused.
 */
export interface RemovedEnvironmentRecord {
  readonly kind: 'removed-environment'
  readonly id: string
}

/** The secret that a key had before its rotation, and the expiration time of this secret. */
export interface FormerSecret {
  readonly hash: string
  readonly validUntil: Instant
}

/** The creator of a key: a member, or the API key with which it was created, with the name at that time. */
export interface KeyMaker {
  /** Id of the API key; null for the key in `ADMIN_API_KEY`, and for a member. */
  readonly keyId: string | null
  readonly name: string | null
  /** Absent if the creator is an API key. */
  readonly member?: { readonly id: string; readonly name: string | null }
}

export interface ApiKeyRecord {
  readonly kind: 'api-key'
  readonly id: string
  /** Id of the environment to which the key is scoped; null for a key of a project or of the organization. */
  readonly environmentId: string | null
  /**
   * Id of the project to which the key is scoped; otherwise null. It is also null for a key of an
   * environment, because the environment determines the project.
   */
  readonly projectId: string | null
  /** SHA-256 of the secret, as lower-case hex (native.md D-35). */
  readonly secretHash: string
  /**
   * Secret of an environment's key, encrypted with the organization's key. Null for other keys, or if there
   * is no organization's key.
   */
  readonly sealedSecret: Uint8Array | null
  readonly former: FormerSecret | null
  /**
   * Origin of the key: the operator configured it in `API_KEY`, the service generated it at the first start,
   * or a caller created it.
   */
  readonly source: 'configured' | 'generated' | 'created'
  readonly name: string | null
  readonly ownerType: ApiKeyOwnerType | null
  /** Rows of older releases do not have this field: `admin`. */
  readonly accessLevel: AccessLevel
  readonly createdAt: Instant
  /** Null if the service created the key. Rows of older releases do not have this field. */
  readonly createdBy: KeyMaker | null
  /** Time of the last use, with a precision of `KEY_USE_GRAIN_MS`. Null if no use has been recorded. */
  readonly lastUsedAt: Instant | null
  /** Limits of a delegated key. Rows of older releases do not have this field. */
  readonly delegation: Delegation | null
}

/**
 * A person who can sign in. A person who was invited and has not accepted yet
 * has an e-mail address and no subject.
 */
export interface MemberRecord extends Dated {
  readonly kind: 'member'
  readonly id: string
  /** Issuer and subject identify the person. Both are null until an invitation is accepted. */
  readonly issuer: string | null
  readonly subject: string | null
  readonly email: string | null
  readonly isEmailVerified: boolean
  readonly name: string | null
  readonly givenName: string | null
  readonly familyName: string | null
  readonly lastSignInAt: Instant | null
  readonly signInCount: number
  readonly settings: Attributes | null
  /** The member's own grants, at most one per object. */
  readonly grants: readonly AccessGrant[]
  /** The invitation that has not been accepted; null if there is none. */
  readonly invitation: Invitation | null
}

export interface Invitation {
  readonly id: string
  /** SHA-256 of the code in the link, as lower-case hex. */
  readonly codeHash: string
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

/** Grants for all members whom the issuer puts into a group. */
export interface MemberGroupRecord extends Dated {
  readonly kind: 'member-group'
  readonly id: string
  /** Name of the group at the issuer. */
  readonly group: string
  readonly grants: readonly AccessGrant[]
}

/** A session of a member. */
export interface SessionRecord {
  readonly kind: 'session'
  readonly id: string
  readonly memberId: string
  /** SHA-256 of the secret in the cookie, as lower-case hex. */
  readonly secretHash: string
  readonly signedInAt: Instant
  /** Time of the last use that was recorded. */
  readonly lastUsedAt: Instant
  readonly expiresAt: Instant
  /** Groups of the member at sign-in that gave a grant then. */
  readonly groups: readonly string[]
  readonly areGroupsCut: boolean
  /** Id of the session at the issuer (`sid`); null if the issuer named none. */
  readonly issuerSessionId: string | null
  readonly userAgent: string | null
  /** Address at which the issuer ends its own session; null if it offers none. */
  readonly endSessionUrl: string | null
}
