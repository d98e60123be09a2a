/** Who gained and who lost a permission by a commit. */
import type { Permission } from './change.ts'

/** A user and an instance of the permission's type. */
export interface AccessPair {
  readonly user: string
  readonly resource: string
}

/** What is to be listed anew: all of it that is about that user, that instance or that tenant; about all, where none is named. */
export interface AccessScope {
  readonly user?: string
  readonly resource?: string
  readonly tenant?: string
}

/** What became of one permission. */
export interface AccessChange {
  readonly permission: Permission
  readonly gained: readonly AccessPair[]
  readonly lost: readonly AccessPair[]
  /** What was touched by more than could be told pair by pair. */
  readonly many: readonly AccessScope[]
}
