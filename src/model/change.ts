/**
 * Everything a commit can say to the engine: a closed union, in the callers' keys, that one reducer
 * (`engine.apply`) applies. Loading, the live feed, rebuilds and tests all go through it.
 *
 * Each change states a fact as it is from now on, so applying one twice equals applying it once. A removal takes
 * along everything that depends on the removed thing (contract C.7); the rows of those dependants may still be in
 * the store, being purged, and are never heard of again.
 *
 * Order: what a change names must have been put before it. A change that names something unknown is ignored: it
 * belongs to something already removed.
 */

/** A resource instance by its caller's key; `type` and `key` are never joined, keys may contain any delimiter. */
export interface InstanceKey {
  readonly type: string
  readonly key: string
}

/**
 * "Whoever holds `role` on an instance of `onType` that is linked by `relation` to an object holds the role
 * this stands on, there" (contract C.1). `guarded` derivations are void for a user with any direct role on the object.
 */
export interface Derivation {
  readonly role: string
  readonly onType: string
  readonly relation: string
  readonly guarded: boolean
}

export interface TypePut {
  readonly kind: 'type-put'
  readonly type: string
  readonly actions: readonly string[]
}

export interface RolePut {
  readonly kind: 'role-put'
  /** The resource type the role belongs to; `null` for a tenant role. */
  readonly type: string | null
  readonly role: string
  /** Permissions of a tenant role name type and action, those of a resource role are of its own type. */
  readonly permissions: readonly Permission[]
  readonly extends: readonly string[]
  readonly derivations: readonly Derivation[]
}

export interface Permission {
  readonly type: string
  readonly action: string
}

export interface RelationPut {
  readonly kind: 'relation-put'
  /** The object type, on which the relation is defined. */
  readonly type: string
  readonly relation: string
  readonly subjectType: string
}

/** Where a role is held: in a whole tenant, or on one instance. */
export type AssignmentScope = { readonly tenant: string } | { readonly instance: InstanceKey }

export interface AssignmentChange {
  readonly user: string
  readonly role: string
  readonly scope: AssignmentScope
}

export interface TupleChange {
  readonly subject: InstanceKey
  readonly relation: string
  readonly object: InstanceKey
}

/** Attributes travel as stored; decisions ignore them, listings return them. */
export type Attributes = Readonly<Record<string, unknown>>

export type Change =
  | TypePut
  | { readonly kind: 'type-removed'; readonly type: string }
  | RolePut
  | { readonly kind: 'role-removed'; readonly type: string | null; readonly role: string }
  | RelationPut
  | { readonly kind: 'relation-removed'; readonly type: string; readonly relation: string }
  | { readonly kind: 'tenant-put'; readonly tenant: string; readonly attributes: Attributes | null }
  | { readonly kind: 'tenant-removed'; readonly tenant: string }
  | { readonly kind: 'user-put'; readonly user: string }
  | { readonly kind: 'user-removed'; readonly user: string }
  | {
      readonly kind: 'instance-put'
      readonly instance: InstanceKey
      readonly tenant: string
      readonly attributes: Attributes | null
    }
  | { readonly kind: 'instance-removed'; readonly instance: InstanceKey }
  | ({ readonly kind: 'assignment-put' } & AssignmentChange)
  | ({ readonly kind: 'assignment-removed' } & AssignmentChange)
  | ({ readonly kind: 'tuple-put' } & TupleChange)
  | ({ readonly kind: 'tuple-removed' } & TupleChange)

/** Whether it is of the schema, and not a fact. */
export function isOfSchema({ kind }: Change): boolean {
  return kind.startsWith('type-') || kind.startsWith('role-') || kind.startsWith('relation-')
}
