/** Effective access changes of a commit: users who gained or lost a permission. */
import type { Permission } from './change.ts'

/** A user and an instance of the permission's type. */
export interface AccessPair {
  readonly user: string
  readonly resource: string
}

/**
 * Scope that a client must list again: everything about that user, instance or tenant; everything if none is
 * named.
 */
export interface AccessScope {
  readonly user?: string
  readonly resource?: string
  readonly tenant?: string
}

/** Changes of one permission. */
export interface AccessChange {
  readonly permission: Permission
  readonly gained: readonly AccessPair[]
  readonly lost: readonly AccessPair[]
  /** Scopes with too many changes to list them pair by pair. */
  readonly many: readonly AccessScope[]
}
