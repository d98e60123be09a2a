/** Effective access changes of a commit: the users who gained or lost a permission. */
import type { Permission } from './change.ts'

/** A user, and an instance of the permission's resource type. */
export interface AccessPair {
  readonly user: string
  readonly resource: string
}

/**
 * A scope whose permissions a client must list again. It covers everything about the named user, instance or
 * tenant. If it names none of them, it covers everything.
 */
export interface AccessScope {
  readonly user?: string
  readonly resource?: string
  readonly tenant?: string
}

/** Access changes of one permission. */
export interface AccessChange {
  readonly permission: Permission
  readonly gained: readonly AccessPair[]
  readonly lost: readonly AccessPair[]
  /** Scopes that have too many changes to report them as pairs. */
  readonly many: readonly AccessScope[]
}
