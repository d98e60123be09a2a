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
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberPool } from '#engine/shared-index/memory/number-pool.ts'
import { RuleBook, type SavedRules } from '#engine/shared-index/rules/rule-book.ts'
import type {
  ConditionSetPut,
  Derivation,
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
  readonly relations: Map<string, Relation>
  /** The relations, of whatever type, whose subjects are of this type. */
  readonly relationsAsSubject: Set<Relation>
  /** Places for roles: bank × 32 + bit. */
  readonly roleIndexes: NumberPool
}

export interface Role {
  /** `null` for a tenant role. */
  readonly type: ResourceType | null
  readonly key: string
  /** Never used again, so that what was compiled for a removed role is never taken for a new one. */
  readonly id: number
  readonly roleIndex: number
  /** Own permissions, on declared actions. */
  permissions: Map<ResourceType, Set<string>>
  extends: Set<Role>
  /** The roles that have this one in `extends`. */
  readonly extendedBy: Set<Role>
  derivations: readonly RoleDerivation[]
  /** Those that have what this role permits, itself included, as pairs [bank, mask]; null: not known (`role-masks.ts`). */
  reachedBy: Int32Array | null
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
  /** The roles that derive over it, which are of its object type. */
  readonly derivedBy: Set<Role>
}

/** Numbers whose facts are still about; free again once a whole sweep that began later has ended. */
export interface Retired {
  readonly types: ResourceType[]
  readonly roles: Role[]
  readonly relations: Relation[]
}

/** A schema with all its numbers, and nothing retired. */
export interface SchemaState {
  readonly types: Map<string, ResourceType>
  readonly tenantRoles: Map<string, Role>
  readonly lastRoleId: number
  readonly rules: SavedRules
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
  /** What is to be compiled before anyone reads: types that mean something else than before. */
  #changed = new Set<ResourceType>()
  #isChanged: boolean
  readonly #rules = new RuleBook({
    hasType: type => this.types.has(type),
    hasAction: (type, action) => this.types.get(type)?.actions.has(action) ?? false,
    hasTenantRole: role => this.tenantRoles.has(role),
  })
  #areRulesChanged: boolean
  #retired: Retired = { types: [], roles: [], relations: [] }
  #lastRoleId = 0

  /** Goes on with what stands, under the numbers it has. `firstTenantPlace`: for tests, which get to annexes sooner. */
  constructor(standing?: SchemaState, firstTenantRoleIndex = 0) {
    this.types = standing?.types ?? new Map()
    this.tenantRoles = standing?.tenantRoles ?? new Map()
    const roleIndexes = Array.from(this.tenantRoles.values(), ({ roleIndex }) => roleIndex)
    this.tenantRoleIndexes = new NumberPool(firstTenantRoleIndex, TENANT_ROLES_MAX, roleIndexes)
    const types = [...this.types.values()]
    const typeIds = types.map(({ id }) => id)
    this.typeIds = new NumberPool(L.TENANT_TYPE + 1, L.USER_TYPE, typeIds)
    const edgeClasses = types.flatMap(type => [...type.relations.values()].map(({ edgeClass }) => edgeClass))
    this.edgeClasses = new NumberPool(1, EDGE_CLASSES_MAX, edgeClasses)
    this.#lastRoleId = standing?.lastRoleId ?? 0
    if (standing) this.#rules.restore(standing.rules)
    this.#isChanged = this.#areRulesChanged = standing === undefined
  }

  get isChanged(): boolean {
    return this.#isChanged
  }

  /** The types to be compiled anew, each time once. */
  takeChanged(): ReadonlySet<ResourceType> {
    const changed = this.#changed
    this.#changed = new Set()
    this.#isChanged = false
    return changed
  }

  /** Condition sets and rules. */
  get rules(): SavedRules {
    return this.#rules.save()
  }

  /** Whether condition sets and rules are to be compiled anew, each time once. */
  takeRulesChanged(): boolean {
    const areChanged = this.#areRulesChanged
    this.#areRulesChanged = false
    return areChanged
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

  #noteRules(areChanged: boolean): void {
    if (!areChanged) return
    this.#isChanged = true
    this.#areRulesChanged = true
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

  /** Takes along the type's roles and relations, and what refers to either. Its instances become unreachable. */
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
    this.#noteRules(this.#rules.dropAbsent())
  }

  /** Replaces what the role says; assignments of it and mentions of it in other roles stay. */
  putRole(change: RolePut): void {
    const type = change.type === null ? null : this.types.get(change.type)
    if (type === undefined) return
    const siblings = type ? type.roles : this.tenantRoles
    let role = siblings.get(change.role)
    if (!role) {
      role = this.#newRole(type, change.role)
      // Before its mentions are resolved, for a role may derive from itself (a folder's editor from its parent's).
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
    if (role.type === null) this.#noteRules(this.#rules.dropAbsent())
  }

  /** A relation put again with another subject type is another relation: the old one goes, tuples and all. */
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

  #removeRelation(relation: Relation): void {
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
        // Of the two, the permissions have a ceiling for all roles together.
        for (const action of actions ?? []) if (gone.has(action)) actions!.delete(action)
        if (actions?.size === 0) role.permissions.delete(type)
      }
    }
    this.#change(type)
    this.#noteRules(this.#rules.dropAbsent())
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

  /** What they extend, however far, is permitted to others than before, and by whom it was is not known any more. */
  #setExtends(role: Role, wanted: Set<Role>): void {
    if (isSameSet(wanted, role.extends)) return
    const reached = withExtended(role)
    for (const other of role.extends) if (!wanted.has(other)) other.extendedBy.delete(role)
    for (const other of wanted) other.extendedBy.add(role)
    role.extends = wanted
    for (const other of withExtended(role)) reached.add(other)
    // Who reaches the role itself does so without what it extends, circles or not.
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

  #dropDerivations(relation: Relation, isDropped: (derivation: RoleDerivation) => boolean): void {
    for (const role of relation.derivedBy) {
      if (!role.derivations.some(isDropped)) continue
      this.#setDerivations(
        role,
        role.derivations.filter(derivation => !isDropped(derivation)),
      )
    }
  }

  #change(type: ResourceType): void {
    // What is removed in the same breath is compiled no more.
    if (this.types.get(type.key) === type) this.#changed.add(type)
    this.#isChanged = true
  }

  /** The names of a type's roles, or the tenant roles, of which there is no type. */
  #changeNames(type: ResourceType | null): void {
    if (type) this.#change(type)
    this.#isChanged = true
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
  return line | ((role.roleIndex >>> 5) << L.BANK_SHIFT)
}

/** The role's bit in that scope's mask. */
export function maskOf(role: Role): number {
  return 1 << (role.roleIndex & 31)
}

/** The role and all it extends, transitively. The set is its own worklist: a `Set` iterates over late additions. */
export function withExtended(role: Role): Set<Role> {
  const reached = new Set([role])
  for (const next of reached) {
    for (const extended of next.extends) reached.add(extended)
  }
  return reached
}

/** A role that says nothing of others yet. */
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
