/**
 * Stores the schema for the writer, in its heap: types with their actions, roles and relations, and the
 * tenant roles. `schema-compiler.ts` compiles it for readers.
 *
 * Invariant: a role refers only to existing entities. A reference to an unknown entity is dropped when the
 * role is put, and a reference to a removed entity is also removed (native.md C.7). Neither is restored
 * later.
 *
 * Facts are stored with the numbers of types, roles and relations. The number of a removed entity is
 * *retired*: it is not reused until every fact that contains it has been collected (`sweep.ts`) and no
 * compiled schema contains it. A removal thus takes effect immediately, and a re-created entity starts
 * without facts.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberPool } from '#engine/shared-index/memory/number-pool.ts'
import { MappingBook } from '#engine/shared-index/mapping/mapping-book.ts'
import { RuleBook, type RuleFollower, type SavedRules } from '#engine/shared-index/rules/rule-book.ts'
import type { RuleJournal, CurrentRule } from '#engine/shared-index/rules/rule-journal.ts'
import type {
  ConditionSetPut,
  Derivation,
  MappingPut,
  Permission,
  RelationPut,
  RolePut,
  RuleChange,
  TypePut,
} from '#model/change.ts'

export interface ResourceType {
  readonly key: string
  readonly id: number
  readonly actions: Set<string>
  readonly roles: Map<string, Role>
  /** The relations whose objects are of this type. */
  readonly relations: Map<string, SchemaRelation>
  /** The relations of any type whose subjects are of this type. */
  readonly relationsAsSubject: Set<SchemaRelation>
  /** Role indexes: bank × 32 + bit. */
  readonly roleIndexes: NumberPool
}

export interface Role {
  /** `null` for a tenant role. */
  readonly type: ResourceType | null
  readonly key: string
  /** Never reused, so that data compiled for a removed role is never used for a new one. */
  readonly id: number
  readonly roleIndex: number
  /** Its own permissions, on declared actions. */
  permissions: Map<ResourceType, Set<string>>
  extends: Set<Role>
  /** The roles that have this role in `extends`. */
  readonly extendedBy: Set<Role>
  derivations: readonly RoleDerivation[]
  /** Roles with the permissions of this role, itself included: pairs [bank, mask]; null: not computed. */
  reachedBy: Int32Array | null
}

export interface RoleDerivation {
  readonly source: Role
  readonly relation: SchemaRelation
  readonly guarded: boolean
}

export interface SchemaRelation {
  readonly key: string
  /** The edge class with which its tuples are stored. */
  readonly edgeClass: number
  readonly objectType: ResourceType
  readonly subjectType: ResourceType
  /** The roles of the object type that are derived over this relation. */
  readonly derivedBy: Set<Role>
}

/** Retired numbers. They become free when a sweep that began later has ended. */
export interface Retired {
  readonly types: ResourceType[]
  readonly roles: Role[]
  readonly relations: SchemaRelation[]
}

/** The state of a schema with all its numbers, and nothing retired. */
export interface SchemaState {
  readonly types: Map<string, ResourceType>
  readonly tenantRoles: Map<string, Role>
  readonly lastRoleId: number
  readonly rules: SavedRules
  readonly mapping: readonly MappingPut[]
}

const EDGE_CLASSES_MAX = 1 << 16
export const ROLES_MAX_PER_TYPE = L.BANKS_MAX * L.BANK_ROLES
const TENANT_ROLES_MAX = L.TENANT_BANKS_MAX * L.BANK_ROLES

export class Schema {
  readonly types: Map<string, ResourceType>
  readonly tenantRoles: Map<string, Role>
  readonly tenantRoleIndexes: NumberPool
  readonly typeIds: NumberPool
  readonly edgeClasses: NumberPool
  /** Types whose meaning changed. They must be compiled before readers can see them. */
  #changed = new Set<ResourceType>()
  #isChanged: boolean
  readonly #rules = new RuleBook({
    hasType: type => this.types.has(type),
    hasAction: (type, action) => this.types.get(type)?.actions.has(action) ?? false,
    hasTenantRole: role => this.tenantRoles.has(role),
  })
  readonly #mapping = new MappingBook()
  #isMappingChanged: boolean
  #retired: Retired = { types: [], roles: [], relations: [] }
  #lastRoleId = 0

  /**
   * Empty, or a restored state with its numbers. `firstTenantRoleIndex`: lets tests reach overflow lines
   * sooner.
   */
  constructor(existing?: SchemaState, firstTenantRoleIndex = 0) {
    this.types = existing?.types ?? new Map()
    this.tenantRoles = existing?.tenantRoles ?? new Map()
    const roleIndexes = Array.from(this.tenantRoles.values(), ({ roleIndex }) => roleIndex)
    this.tenantRoleIndexes = new NumberPool(firstTenantRoleIndex, TENANT_ROLES_MAX, roleIndexes)
    const types = [...this.types.values()]
    const typeIds = types.map(({ id }) => id)
    this.typeIds = new NumberPool(L.TENANT_TYPE + 1, L.USER_TYPE, typeIds)
    const edgeClasses = types.flatMap(type => [...type.relations.values()].map(({ edgeClass }) => edgeClass))
    this.edgeClasses = new NumberPool(1, EDGE_CLASSES_MAX, edgeClasses)
    this.#lastRoleId = existing?.lastRoleId ?? 0
    if (existing) {
      this.#rules.restore(existing.rules)
      this.#mapping.restore(existing.mapping)
    }
    this.#isChanged = this.#isMappingChanged = existing === undefined
  }

  get isChanged(): boolean {
    return this.#isChanged
  }

  /** Returns the changed types and clears them. */
  takeChanged(): ReadonlySet<ResourceType> {
    const changed = this.#changed
    this.#changed = new Set()
    this.#isChanged = false
    return changed
  }

  get hasRules(): boolean {
    return this.#rules.hasRules
  }

  /** Condition sets and rules. */
  get rules(): SavedRules {
    return this.#rules.save()
  }

  /**
   * Returns whether condition sets or rules have changed since the follower's last call of `takeRuleChanges`.
   */
  areRulesChangedFor(follower: RuleFollower): boolean {
    return this.#rules.isChangedFor(follower)
  }

  /** Returns the changes of sets and rules since the last call; on the first call, all of them. */
  takeRuleChanges(follower: RuleFollower): RuleJournal {
    return this.#rules.take(follower)
  }

  /** Returns the rules that name the set or a set below it. */
  rulesBelow(set: string): Iterable<CurrentRule> {
    return this.#rules.rulesBelow(set)
  }

  /** Completes a removal of rules in steps. Otherwise, the next operation completes it in one step. */
  settleRules(): Generator<void> {
    return this.#rules.settle()
  }

  putConditionSet(change: ConditionSetPut): void {
    this.#noteRules(this.#rules.putSet(change))
  }

  removeConditionSet(key: string): void {
    this.#noteRules(this.#rules.removeSet(key))
  }

  putRule(change: RuleChange): void {
    this.#noteRules(this.#rules.putRule(change))
  }

  removeRule(change: RuleChange): void {
    this.#noteRules(this.#rules.removeRule(change))
  }

  /** Mapping rules, by their proxy config. */
  get mapping(): readonly MappingPut[] {
    return this.#mapping.save()
  }

  /** Returns whether mapping rules must be recompiled, and resets this flag. */
  takeMappingChanged(): boolean {
    const isChanged = this.#isMappingChanged
    this.#isMappingChanged = false
    return isChanged
  }

  putMapping(change: MappingPut): void {
    this.#noteMapping(this.#mapping.put(change))
  }

  removeMapping(config: string): void {
    this.#noteMapping(this.#mapping.remove(config))
  }

  #noteMapping(isChanged: boolean): void {
    if (!isChanged) return
    this.#isChanged = true
    this.#isMappingChanged = true
  }

  #noteRules(areChanged: boolean): void {
    if (!areChanged) return
    this.#isChanged = true
  }

  /** The largest id that was assigned to a role. */
  get lastRoleId(): number {
    return this.#lastRoleId
  }

  role(typeKey: string | null, key: string): Role | undefined {
    if (typeKey === null) return this.tenantRoles.get(key)
    return this.types.get(typeKey)?.roles.get(key)
  }

  hasRetired(): boolean {
    const { types, roles, relations } = this.#retired
    return types.length + roles.length + relations.length > 0
  }

  /** Returns all numbers retired so far, for a sweep that begins now. */
  takeRetired(): Retired {
    const retired = this.#retired
    this.#retired = { types: [], roles: [], relations: [] }
    return retired
  }

  /** Frees numbers that no fact contains any more. */
  freeRetired({ types, roles, relations }: Retired): void {
    for (const { type, roleIndex } of roles) (type?.roleIndexes ?? this.tenantRoleIndexes).give(roleIndex)
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
        roleIndexes: new NumberPool(0, ROLES_MAX_PER_TYPE),
      }
      this.types.set(type.key, type)
      this.#change(type)
    }
    const declared = new Set(change.actions)
    const gone = new Set([...type.actions].filter(action => !declared.has(action)))
    if (gone.size > 0) this.#removeActions(type, gone)
    const before = type.actions.size
    for (const action of declared) type.actions.add(action)
    if (type.actions.size !== before) this.#change(type)
  }

  /**
   * Removes the type with its roles and relations, and all references to them. Its instances become
   * unreachable.
   */
  removeType(key: string): void {
    const type = this.types.get(key)
    if (!type) return
    for (const relation of type.relationsAsSubject) this.#removeRelation(relation)
    for (const relation of type.relations.values()) this.#removeRelation(relation)
    for (const role of this.tenantRoles.values()) role.permissions.delete(type)
    this.types.delete(key)
    this.#changed.delete(type)
    this.#retired.types.push(type)
    this.#isChanged = true
    this.#noteRules(this.#rules.removeType(key, type.actions))
  }

  /** Replaces the content of the role. Its assignments, and references to it in other roles, are kept. */
  putRole(change: RolePut): void {
    const type = change.type === null ? null : this.types.get(change.type)
    if (type === undefined) return
    const siblings = type ? type.roles : this.tenantRoles
    let role = siblings.get(change.role)
    if (!role) {
      role = this.#newRole(type, change.role)
      // Added before its references are resolved, because a role can derive from itself (a folder's editor
      // from its parent's).
      siblings.set(role.key, role)
      this.#changeNames(type)
    }
    this.#setPermissions(role, change.permissions)
    this.#setExtends(role, new Set(change.extends.flatMap(key => siblings.get(key) ?? [])))
    this.#setDerivations(role, type ? change.derivations.flatMap(entry => this.#resolve(type, entry)) : [])
  }

  removeRole(typeKey: string | null, key: string): void {
    const role = this.role(typeKey, key)
    if (!role) return
    this.#setExtends(role, new Set())
    for (const other of role.extendedBy) {
      const left = new Set(other.extends)
      left.delete(role)
      this.#setExtends(other, left)
    }
    this.#setPermissions(role, [])
    this.#setDerivations(role, [])
    for (const relation of role.type?.relationsAsSubject ?? []) {
      this.#dropDerivations(relation, derivation => derivation.source === role)
    }
    const siblings = role.type ? role.type.roles : this.tenantRoles
    siblings.delete(role.key)
    this.#changeNames(role.type)
    this.#retired.roles.push(role)
    if (role.type === null) this.#noteRules(this.#rules.removeTenantRole(key))
  }

  /**
   * If a relation is put again with another subject type, it is a different relation: the old one is removed
   * with its tuples.
   */
  putRelation(change: RelationPut): void {
    const objectType = this.types.get(change.type)
    const subjectType = this.types.get(change.subjectType)
    if (!objectType || !subjectType) return
    const old = objectType.relations.get(change.relation)
    if (old?.subjectType === subjectType) return
    if (old) this.#removeRelation(old)
    const edgeClass = this.edgeClasses.take()
    const relation = { key: change.relation, edgeClass, objectType, subjectType, derivedBy: new Set<Role>() }
    objectType.relations.set(relation.key, relation)
    subjectType.relationsAsSubject.add(relation)
    this.#change(objectType)
  }

  removeRelation(typeKey: string, key: string): void {
    const relation = this.types.get(typeKey)?.relations.get(key)
    if (relation) this.#removeRelation(relation)
  }

  #removeRelation(relation: SchemaRelation): void {
    relation.objectType.relations.delete(relation.key)
    relation.subjectType.relationsAsSubject.delete(relation)
    this.#dropDerivations(relation, derivation => derivation.relation === relation)
    this.#retired.relations.push(relation)
    this.#change(relation.objectType)
  }

  #newRole(type: ResourceType | null, key: string): Role {
    const roleIndex = (type?.roleIndexes ?? this.tenantRoleIndexes).take()
    this.#lastRoleId += 1
    const id = this.#lastRoleId
    return bareRole({ type, key, id, roleIndex, permissions: new Map() })
  }

  #removeActions(type: ResourceType, gone: ReadonlySet<string>): void {
    for (const action of gone) type.actions.delete(action)
    for (const roles of [type.roles, this.tenantRoles]) {
      for (const role of roles.values()) {
        const actions = role.permissions.get(type)
        // Iterates over the permissions, because the total number of permissions of all roles is limited.
        for (const action of actions ?? []) if (gone.has(action)) actions!.delete(action)
        if (actions?.size === 0) role.permissions.delete(type)
      }
    }
    this.#change(type)
    this.#noteRules(this.#rules.removeActions(type.key, gone))
  }

  #setPermissions(role: Role, permissions: readonly Permission[]): void {
    const wanted = new Map<ResourceType, Set<string>>()
    for (const { type: typeKey, action } of permissions) {
      const type = this.types.get(typeKey)
      if (!type?.actions.has(action)) continue
      if (role.type && role.type !== type) continue
      const actions = wanted.get(type)
      if (actions) actions.add(action)
      else wanted.set(type, new Set([action]))
    }
    const before = role.permissions
    role.permissions = wanted
    for (const [type, actions] of wanted) if (!isSameSet(actions, before.get(type))) this.#change(type)
    for (const type of before.keys()) if (!wanted.has(type)) this.#change(type)
  }

  /** Sets the extended roles. Roles that have their permissions, even indirectly, are then recomputed. */
  #setExtends(role: Role, wanted: Set<Role>): void {
    if (isSameSet(wanted, role.extends)) return
    const reached = withExtended(role)
    for (const other of role.extends) if (!wanted.has(other)) other.extendedBy.delete(role)
    for (const other of wanted) other.extendedBy.add(role)
    role.extends = wanted
    // The unit of the type lists the extensions of its roles, whether or not they give a permission.
    if (role.type) this.#change(role.type)
    for (const other of withExtended(role)) reached.add(other)
    // The change does not affect which roles reach this role itself, even in a cycle.
    reached.delete(role)
    for (const other of reached) {
      other.reachedBy = null
      for (const type of other.permissions.keys()) this.#change(type)
    }
  }

  #setDerivations(role: Role, wanted: readonly RoleDerivation[]): void {
    if (role.type === null || isSameDerivations(wanted, role.derivations)) return
    for (const { relation } of role.derivations) relation.derivedBy.delete(role)
    for (const { relation } of wanted) relation.derivedBy.add(role)
    role.derivations = wanted
    this.#change(role.type)
  }

  #dropDerivations(relation: SchemaRelation, isDropped: (derivation: RoleDerivation) => boolean): void {
    for (const role of relation.derivedBy) {
      if (!role.derivations.some(isDropped)) continue
      this.#setDerivations(
        role,
        role.derivations.filter(derivation => !isDropped(derivation)),
      )
    }
  }

  #change(type: ResourceType): void {
    // A type that the same commit removed is not compiled.
    if (this.types.get(type.key) === type) this.#changed.add(type)
    this.#isChanged = true
  }

  /** Records that role names of a type or (null) of tenant roles changed. */
  #changeNames(type: ResourceType | null): void {
    if (type) this.#change(type)
    this.#isChanged = true
  }

  /**
   * Returns the derivation with resolved names; empty if a name is unknown or the relation links another
   * type.
   */
  #resolve(objectType: ResourceType, entry: Derivation): RoleDerivation[] {
    const relation = objectType.relations.get(entry.relation)
    if (relation?.subjectType.key !== entry.onType) return []
    const source = relation.subjectType.roles.get(entry.role)
    return source ? [{ source, relation, guarded: entry.guarded }] : []
  }
}

/**
 * Returns the role and all roles that it extends, transitively. The set is its own work list: a `Set`
 * iterates over elements that are added during the iteration.
 */
export function withExtended(role: Role): Set<Role> {
  const reached = new Set([role])
  for (const next of reached) {
    for (const extended of next.extends) reached.add(extended)
  }
  return reached
}

/** Returns a role that does not refer to other roles yet. */
export function bareRole(role: Pick<Role, 'type' | 'key' | 'id' | 'roleIndex' | 'permissions'>): Role {
  return { ...role, extends: new Set(), extendedBy: new Set(), derivations: [], reachedBy: null }
}

function isSameSet<Item>(left: ReadonlySet<Item>, right: ReadonlySet<Item> | undefined): boolean {
  if (left.size !== (right?.size ?? 0)) return false
  for (const item of left) if (!right!.has(item)) return false
  return true
}

function isSameDerivations(left: readonly RoleDerivation[], right: readonly RoleDerivation[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ source, relation, guarded }, index) => {
      const other = right[index]!
      return other.source === source && other.relation === relation && other.guarded === guarded
    })
  )
}
