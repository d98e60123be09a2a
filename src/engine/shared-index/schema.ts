/**
 * The schema as the writer keeps it: types with their actions, roles and relations, and the tenant roles. It is small
 * and lives in the writer's heap; `schema-compiler.ts` turns it into what readers use.
 *
 * Invariant: a role mentions only what exists. A mention of something unknown is dropped when the role is put, a
 * mention of something removed goes with it (contract C.7); neither revives when the name is declared later.
 *
 * Every type, role and relation has a number that facts are stored with. The number of a removed one is *retired*:
 * nothing new gets it until every fact that carries it has been collected (`sweep.ts`), and no compiled schema knows
 * it. So a removal takes effect at once, whatever hangs on it, and a thing made again starts with nothing.
 */
import type { Derivation, Permission, RelationPut, RolePut, TypePut } from '#model/change.ts'
import * as L from './layout.ts'
import { NumberPool } from './number-pool.ts'

export interface ResourceType {
  readonly key: string
  readonly id: number
  readonly actions: Set<string>
  readonly roles: Map<string, Role>
  /** The relations whose objects are of this type. */
  readonly relations: Map<string, Relation>
  /** The relations, of whatever type, whose subjects are of this type. */
  readonly relationsAsSubject: Set<Relation>
  /** Places for roles: bank × 32 + bit. */
  readonly places: NumberPool
}

export interface Role {
  /** `null` for a tenant role. */
  readonly type: ResourceType | null
  readonly key: string
  /** Never used again, so that what was compiled for a removed role is never taken for a new one. */
  readonly id: number
  readonly place: number
  /** Own permissions, on declared actions. */
  readonly permissions: Map<ResourceType, Set<string>>
  readonly extends: Set<Role>
  derivations: readonly RoleDerivation[]
}

export interface RoleDerivation {
  readonly source: Role
  readonly relation: Relation
  readonly guarded: boolean
}

export interface Relation {
  readonly key: string
  /** The edge class its tuples are stored with. */
  readonly edgeClass: number
  readonly objectType: ResourceType
  readonly subjectType: ResourceType
}

/** Numbers whose facts are still about; free again once a whole sweep that began later has ended. */
export interface Retired {
  readonly types: ResourceType[]
  readonly roles: Role[]
  readonly relations: Relation[]
}

/** A schema with all its numbers, and nothing retired. */
export interface StandingSchema {
  readonly types: Map<string, ResourceType>
  readonly tenantRoles: Map<string, Role>
  readonly lastRoleId: number
}

const EDGE_CLASSES_MAX = 1 << 16
export const ROLES_MAX_PER_TYPE = L.BANKS_MAX * L.BANK_ROLES
const TENANT_ROLES_MAX = L.TENANT_BANKS_MAX * L.BANK_ROLES

export class Schema {
  readonly types: Map<string, ResourceType>
  readonly tenantRoles: Map<string, Role>
  readonly tenantPlaces: NumberPool
  readonly typeIds: NumberPool
  readonly edgeClasses: NumberPool
  /** To be compiled before anyone reads. */
  isChanged: boolean
  #retired: Retired = { types: [], roles: [], relations: [] }
  #lastRoleId = 0

  /** Goes on with what stands, under the numbers it has. `firstTenantPlace`: for tests, which get to annexes sooner. */
  constructor(standing?: StandingSchema, firstTenantPlace = 0) {
    this.types = standing?.types ?? new Map()
    this.tenantRoles = standing?.tenantRoles ?? new Map()
    const places = Array.from(this.tenantRoles.values(), ({ place }) => place)
    this.tenantPlaces = new NumberPool(firstTenantPlace, TENANT_ROLES_MAX, places)
    const types = [...this.types.values()]
    const typeIds = types.map(({ id }) => id)
    this.typeIds = new NumberPool(L.TENANT_TYPE + 1, L.USER_TYPE, typeIds)
    const edgeClasses = types.flatMap(type => [...type.relations.values()].map(({ edgeClass }) => edgeClass))
    this.edgeClasses = new NumberPool(1, EDGE_CLASSES_MAX, edgeClasses)
    this.#lastRoleId = standing?.lastRoleId ?? 0
    this.isChanged = standing === undefined
  }

  /** Ids up to it have been given to roles. */
  get lastRoleId(): number {
    return this.#lastRoleId
  }

  role(typeKey: string | null, key: string): Role | undefined {
    if (typeKey === null) return this.tenantRoles.get(key)
    return this.types.get(typeKey)?.roles.get(key)
  }

  *allRoles(): Iterable<Role> {
    yield* this.tenantRoles.values()
    for (const type of this.types.values()) yield* type.roles.values()
  }

  hasRetired(): boolean {
    const { types, roles, relations } = this.#retired
    return types.length + roles.length + relations.length > 0
  }

  /** What has been retired so far, for a sweep that begins now. */
  takeRetired(): Retired {
    const retired = this.#retired
    this.#retired = { types: [], roles: [], relations: [] }
    return retired
  }

  /** No fact carries these numbers any more. */
  freeRetired({ types, roles, relations }: Retired): void {
    for (const { type, place } of roles) (type?.places ?? this.tenantPlaces).give(place)
    for (const { edgeClass } of relations) this.edgeClasses.give(edgeClass)
    for (const { id } of types) this.typeIds.give(id)
  }

  putType(change: TypePut): void {
    let type = this.types.get(change.type)
    if (!type) {
      type = {
        key: change.type,
        id: this.typeIds.take(),
        actions: new Set(),
        roles: new Map(),
        relations: new Map(),
        relationsAsSubject: new Set(),
        places: new NumberPool(0, ROLES_MAX_PER_TYPE),
      }
      this.types.set(type.key, type)
    }
    const declared = new Set(change.actions)
    for (const action of type.actions) {
      if (!declared.has(action)) this.#removeAction(type, action)
    }
    for (const action of declared) type.actions.add(action)
    this.isChanged = true
  }

  /** Takes along the type's roles and relations, and what refers to either. Its instances become unreachable. */
  removeType(key: string): void {
    const type = this.types.get(key)
    if (!type) return
    for (const relation of type.relationsAsSubject) this.#removeRelation(relation)
    for (const relation of type.relations.values()) this.#removeRelation(relation)
    for (const role of this.tenantRoles.values()) role.permissions.delete(type)
    this.types.delete(key)
    this.#retired.types.push(type)
    this.isChanged = true
  }

  /** Replaces what the role says; assignments of it and mentions of it in other roles stay. */
  putRole(change: RolePut): void {
    const type = change.type === null ? null : this.types.get(change.type)
    if (type === undefined) return
    const siblings = type ? type.roles : this.tenantRoles
    const role = siblings.get(change.role) ?? this.#newRole(type, change.role)
    // Before its mentions are resolved, for a role may derive from itself (a folder's editor from its parent's).
    siblings.set(role.key, role)
    this.#setPermissions(role, change.permissions)
    role.extends.clear()
    for (const key of change.extends) {
      const extended = siblings.get(key)
      if (extended) role.extends.add(extended)
    }
    role.derivations = type ? change.derivations.flatMap(entry => this.#resolve(type, entry)) : []
    this.isChanged = true
  }

  removeRole(typeKey: string | null, key: string): void {
    const role = this.role(typeKey, key)
    if (!role) return
    const siblings = role.type ? role.type.roles : this.tenantRoles
    siblings.delete(role.key)
    for (const sibling of siblings.values()) sibling.extends.delete(role)
    for (const relation of role.type?.relationsAsSubject ?? []) {
      dropDerivations(relation, derivation => derivation.source === role)
    }
    this.#retired.roles.push(role)
    this.isChanged = true
  }

  /** A relation put again with another subject type is another relation: the old one goes, tuples and all. */
  putRelation(change: RelationPut): void {
    const objectType = this.types.get(change.type)
    const subjectType = this.types.get(change.subjectType)
    if (!objectType || !subjectType) return
    const old = objectType.relations.get(change.relation)
    if (old?.subjectType === subjectType) return
    if (old) this.#removeRelation(old)
    const relation = { key: change.relation, edgeClass: this.edgeClasses.take(), objectType, subjectType }
    objectType.relations.set(relation.key, relation)
    subjectType.relationsAsSubject.add(relation)
    this.isChanged = true
  }

  removeRelation(typeKey: string, key: string): void {
    const relation = this.types.get(typeKey)?.relations.get(key)
    if (relation) this.#removeRelation(relation)
  }

  #removeRelation(relation: Relation): void {
    relation.objectType.relations.delete(relation.key)
    relation.subjectType.relationsAsSubject.delete(relation)
    dropDerivations(relation, derivation => derivation.relation === relation)
    this.#retired.relations.push(relation)
    this.isChanged = true
  }

  #newRole(type: ResourceType | null, key: string): Role {
    const place = (type?.places ?? this.tenantPlaces).take()
    this.#lastRoleId += 1
    const id = this.#lastRoleId
    return { type, key, id, place, permissions: new Map(), extends: new Set(), derivations: [] }
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

  /** The entry with its names resolved; nothing if one of them is unknown or the relation links another type. */
  #resolve(objectType: ResourceType, entry: Derivation): RoleDerivation[] {
    const relation = objectType.relations.get(entry.relation)
    if (relation?.subjectType.key !== entry.onType) return []
    const source = relation.subjectType.roles.get(entry.role)
    return source ? [{ source, relation, guarded: entry.guarded }] : []
  }
}

/** The scope a role is stored under on an instance, or on the line of a tenant that has its bank: the bank's low bits count. */
export function scopeOf(role: Role, line: number): number {
  return line | ((role.place >>> 5) << L.BANK_SHIFT)
}

/** The role's bit in that scope's mask. */
export function maskOf(role: Role): number {
  return 1 << (role.place & 31)
}

/** The role and all it extends, transitively. The set is its own worklist: a `Set` iterates over late additions. */
export function withExtended(role: Role): Set<Role> {
  const reached = new Set([role])
  for (const next of reached) {
    for (const extended of next.extends) reached.add(extended)
  }
  return reached
}

/** A derivation over a relation stands on a role of the relation's object type, and nowhere else. */
function dropDerivations(relation: Relation, isDropped: (derivation: RoleDerivation) => boolean): void {
  for (const role of relation.objectType.roles.values()) {
    if (role.derivations.some(isDropped)) {
      role.derivations = role.derivations.filter(derivation => !isDropped(derivation))
    }
  }
}
