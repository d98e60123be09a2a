/**
 * The nodes of the plain-Map engine: one interned object for each named thing, pointing at the others.
 *
 * Invariant: nothing points at a removed node. Facts are kept on the node that gives them meaning (assignments
 * on the role, tuples on the relation) and are removed with it. A thing made again under an old key is a new
 * node without facts. Keys are looked up one level at a time and never joined, because they may contain any
 * delimiter.
 *
 * It holds no rules: `schema.ts` and `facts.ts` change nodes, `evaluate.ts` reads them.
 */
import type { Attributes } from '#model/change.ts'
import { PairSet } from './pair-set.ts'

export interface ResourceType {
  readonly key: string
  readonly actions: Set<string>
  readonly roles: Map<string, Role>
  /** The relations defined on this type, i.e. those whose objects are its instances. */
  readonly relations: Map<string, Relation>
  /** The relations, of whatever type, whose subjects are instances of this type. */
  readonly relationsAsSubject: Set<Relation>
  readonly instances: Map<string, Instance>
}

export interface Role {
  /** `null` for a tenant role. */
  readonly type: ResourceType | null
  readonly key: string
  /** Own permissions, without those of extended roles. Only declared actions. */
  readonly permissions: Map<ResourceType, Set<string>>
  readonly extends: Set<Role>
  /** The ways to come to hold this role on an instance without a direct assignment. */
  derivations: readonly RoleDerivation[]
  /** The direct assignments of this role: who holds it, where. */
  readonly holders: PairSet<User, Tenant | Instance>
}

/** A user who holds `source` on a subject of `relation` holds this role on the object. */
export interface RoleDerivation {
  readonly source: Role
  readonly relation: Relation
  /** Void for a user with any direct role on the object. */
  readonly guarded: boolean
}

export interface Relation {
  readonly key: string
  readonly objectType: ResourceType
  readonly subjectType: ResourceType
  /** Pairs (subject, object). */
  readonly tuples: PairSet<Instance, Instance>
}

export interface Tenant {
  readonly key: string
  attributes: Attributes | null
  readonly instances: Set<Instance>
}

export interface User {
  readonly key: string
  attributes: Attributes | null
}

export interface Instance {
  readonly type: ResourceType
  readonly key: string
  readonly tenant: Tenant
  attributes: Attributes | null
}

export function newResourceType(key: string): ResourceType {
  return {
    key,
    actions: new Set(),
    roles: new Map(),
    relations: new Map(),
    relationsAsSubject: new Set(),
    instances: new Map(),
  }
}

export function newRole(type: ResourceType | null, key: string): Role {
  return { type, key, permissions: new Map(), extends: new Set(), derivations: [], holders: new PairSet() }
}
