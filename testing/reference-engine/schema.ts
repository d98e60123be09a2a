/**
 * The schema of the plain-Map engine: types with their actions, roles and relations, the tenant roles, and the
 * compiled result: the roles that grant an action.
 *
 * Invariant: a role mentions only what exists. A mention of something unknown is dropped when the role is put.
 * A mention of something removed is removed too (contract C.7). Neither comes back when the name is declared
 * later.
 *
 * It does not know users, tenants or instances; `facts.ts` cleans up after a removed type. Everything else is
 * removed with its node.
 */
import type { Derivation, Permission, RelationPut, RolePut, TypePut } from '#model/change.ts'
import { newResourceType, newRole } from './nodes.ts'
import type { Relation, ResourceType, Role, RoleDerivation } from './nodes.ts'
import { PairSet } from './pair-set.ts'

/** The roles any one of which allows an action, whether by own permission or by one they extend. */
export interface Grants {
  readonly tenantRoles: Set<Role>
  readonly resourceRoles: Set<Role>
}

export class Schema {
  readonly types = new Map<string, ResourceType>()
  readonly tenantRoles = new Map<string, Role>()
  /** `null` after a change, until the next question: loading a schema must not compile it once per change. */
  #grants: Map<ResourceType, Map<string, Grants>> | null = null

  /** The roles that grant `action` on `type`; `undefined` if the action is not declared. O(1) once compiled. */
  grants(type: ResourceType, action: string): Grants | undefined {
    this.#grants ??= this.#compile()
    return this.#grants.get(type)?.get(action)
  }

  /** The roles that live beside this one: those of a type, or the tenant roles. */
  rolesOf(type: ResourceType | null): Map<string, Role> {
    return type ? type.roles : this.tenantRoles
  }

  *allRoles(): Iterable<Role> {
    yield* this.tenantRoles.values()
    for (const type of this.types.values()) yield* type.roles.values()
  }

  /** The role of that name, where `typeKey` is `null` for tenant roles. */
  role(typeKey: string | null, key: string): Role | undefined {
    if (typeKey === null) return this.tenantRoles.get(key)
    return this.types.get(typeKey)?.roles.get(key)
  }

  putType(change: TypePut): void {
    const type = this.types.get(change.type) ?? newResourceType(change.type)
    this.types.set(type.key, type)
    const declared = new Set(change.actions)
    for (const action of type.actions) {
      if (!declared.has(action)) this.#removeAction(type, action)
    }
    for (const action of declared) type.actions.add(action)
    this.#grants = null
  }

  /** Removes the type with its roles and relations, and what refers to either. O(schema). */
  removeType(type: ResourceType): void {
    for (const relation of type.relationsAsSubject) this.removeRelation(relation)
    // Its own relations are removed with it, but their subject types still point at them.
    for (const relation of type.relations.values()) relation.subjectType.relationsAsSubject.delete(relation)
    for (const role of this.tenantRoles.values()) role.permissions.delete(type)
    this.types.delete(type.key)
    this.#grants = null
  }

  /** Replaces the content of the role. Its assignments, and mentions of it in other roles, stay. */
  putRole(change: RolePut): void {
    const type = change.type === null ? null : this.types.get(change.type)
    if (type === undefined) return
    const siblings = this.rolesOf(type)
    const role = siblings.get(change.role) ?? newRole(type, change.role)
    // Added before its mentions are resolved, because a role may derive from itself (a folder's editor from its
    // parent's).
    siblings.set(role.key, role)
    this.#setPermissions(role, change.permissions)
    role.extends.clear()
    for (const key of change.extends) {
      const extended = siblings.get(key)
      if (extended) role.extends.add(extended)
    }
    role.derivations = type ? change.derivations.flatMap(entry => this.#resolve(type, entry)) : []
    this.#grants = null
  }

  removeRole(role: Role): void {
    const siblings = this.rolesOf(role.type)
    siblings.delete(role.key)
    for (const sibling of siblings.values()) sibling.extends.delete(role)
    for (const relation of role.type?.relationsAsSubject ?? []) {
      dropDerivations(relation, derivation => derivation.source === role)
    }
    this.#grants = null
  }

  /**
   * A relation put again with another subject type is another relation: the old one is removed with its tuples.
   */
  putRelation(change: RelationPut): void {
    const objectType = this.types.get(change.type)
    const subjectType = this.types.get(change.subjectType)
    if (!objectType || !subjectType) return
    const old = objectType.relations.get(change.relation)
    if (old?.subjectType === subjectType) return
    if (old) this.removeRelation(old)
    const relation = { key: change.relation, objectType, subjectType, tuples: new PairSet<never, never>() }
    objectType.relations.set(relation.key, relation)
    subjectType.relationsAsSubject.add(relation)
  }

  /** Its tuples go with the node. O(derivations of the object type). */
  removeRelation(relation: Relation): void {
    relation.objectType.relations.delete(relation.key)
    relation.subjectType.relationsAsSubject.delete(relation)
    dropDerivations(relation, derivation => derivation.relation === relation)
  }

  #removeAction(type: ResourceType, action: string): void {
    type.actions.delete(action)
    for (const role of type.roles.values()) role.permissions.get(type)?.delete(action)
    for (const role of this.tenantRoles.values()) role.permissions.get(type)?.delete(action)
  }

  #setPermissions(role: Role, permissions: readonly Permission[]): void {
    role.permissions.clear()
    for (const { type: typeKey, action } of permissions) {
      const type = this.types.get(typeKey)
      if (!type?.actions.has(action)) continue
      if (role.type && role.type !== type) continue
      const actions = role.permissions.get(type)
      if (actions) actions.add(action)
      else role.permissions.set(type, new Set([action]))
    }
  }

  /**
   * The derivation with its names resolved; empty if one of them is unknown or the relation links another type.
   */
  #resolve(objectType: ResourceType, entry: Derivation): RoleDerivation[] {
    const relation = objectType.relations.get(entry.relation)
    if (relation?.subjectType.key !== entry.onType) return []
    const source = relation.subjectType.roles.get(entry.role)
    return source ? [{ source, relation, guarded: entry.guarded }] : []
  }

  /** O(roles × permissions they reach). */
  #compile(): Map<ResourceType, Map<string, Grants>> {
    const compiled = new Map<ResourceType, Map<string, Grants>>()
    for (const type of this.types.values()) {
      const byAction = new Map<string, Grants>()
      for (const action of type.actions) {
        byAction.set(action, { tenantRoles: new Set(), resourceRoles: new Set() })
      }
      compiled.set(type, byAction)
    }
    for (const role of this.allRoles()) {
      for (const granting of withExtended(role)) {
        for (const [type, actions] of granting.permissions) {
          for (const action of actions) {
            const grants = compiled.get(type)!.get(action)!
            if (role.type) grants.resourceRoles.add(role)
            else grants.tenantRoles.add(role)
          }
        }
      }
    }
    return compiled
  }
}

/** The role and all it extends, transitively. The set is its own worklist: a `Set` iterates over late additions. */
export function withExtended(role: Role): Set<Role> {
  const reached = new Set([role])
  for (const next of reached) {
    for (const extended of next.extends) reached.add(extended)
  }
  return reached
}

/** Drops derivations. A derivation over a relation belongs to a role of the relation's object type. */
function dropDerivations(relation: Relation, isDropped: (derivation: RoleDerivation) => boolean): void {
  for (const role of relation.objectType.roles.values()) {
    role.derivations = role.derivations.filter(derivation => !isDropped(derivation))
  }
}
