/**
 * A thread's view of the compiled schema, arranged for fast access. The thread owns a copy of the head, and
 * copies the units of types when it first needs them. A view is immutable: a new schema gets a new view.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import {
  packArrays,
  packTexts,
  unpackArrays,
  unpackTexts,
  type UnitSource,
} from '#engine/shared-index/memory/packed-arrays.ts'
import { MappingView } from '#engine/shared-index/mapping/mapping-view.ts'
import { RulesView } from '#engine/shared-index/rules/rules-view.ts'
import { HEAD, HEAD_ARRAYS, PAGE_COLUMNS, PAGE_COLUMNS_LOG2, UNIT, UNIT_ARRAYS } from './compiled-schema.ts'
import { RoleIndexSet } from './role-masks.ts'

const COLUMN_MASK = PAGE_COLUMNS - 1
/** Number of role indexes of a type; each index is smaller than this. */
const ROLE_INDEXES_MAX = L.BANKS_MAX * L.BANK_ROLES
const NO_DERIVATIONS: readonly number[] = []

export interface ActionView {
  readonly key: string
  /**
   * Start target of the search for a sufficient resource role; 0 if no role of the type allows the action.
   */
  readonly start: number
  /**
   * Tenant roles that allow the action, as pairs [bank, mask]: roles that are stored under the tenant's own
   * line, and roles that are stored in overflow lines.
   */
  readonly tenantMasks: Int32Array
  readonly overflowMasks: Int32Array
  /**
   * Indexes of the roles that allow the action, including roles that extend others: resource roles of the
   * type, and tenant roles.
   */
  readonly roleIndexes: RoleIndexSet
  readonly tenantRoleIndexes: RoleIndexSet
}

export class SchemaView {
  readonly types = new Map<string, TypeView>()
  readonly typesById: (TypeView | undefined)[] = []
  /** Tenant roles, represented as a type. */
  readonly tenant: TypeView
  /** The largest state id plus 1. */
  readonly width: number
  readonly lists: Int32Array
  readonly stateType: Int32Array
  readonly stateOrdinal: Int32Array
  readonly stateEpoch: Int32Array
  /**
   * For each type and ordinal, the state whose closure head is in the containers of the type; 0 if there is
   * none.
   */
  readonly statesInPlace: Int32Array
  /** For each state, 1 if some of its transitions are guarded. */
  readonly stateHasGuard: Uint8Array
  /** The masks of state s are the pairs [bank, mask] in `masks` from `masksFrom[s]` to `masksFrom[s + 1]`. */
  readonly masksFrom: Int32Array
  readonly masks: Int32Array
  readonly stateIds: Int32Array
  /**
   * Derivations over edge class c: triples [source role index, derived role index, guarded], starting at
   * `derivationsFrom[c]`.
   */
  readonly derivationsFrom: Int32Array
  readonly derivations: Int32Array
  /** The three tables of targets. Read them with `targetIn`. */
  readonly open: Int32Array
  readonly full: Int32Array
  readonly guarded: Int32Array
  readonly #columns: Int32Array
  readonly #rows: Int32Array
  readonly #pages: Int32Array
  /** Whether any rule exists. */
  readonly hasRules: boolean
  readonly #copyRules: (known: RulesView | null) => RulesView | null
  #rules: RulesView | null = null
  /** Rules that a view of an earlier state has read. Used until the rules of this state have been read. */
  #knownRules: RulesView | null = null
  /** Whether any mapping rule exists. */
  readonly hasMapping: boolean
  readonly #copyMapping: (known: MappingView | null) => MappingView | null
  /** Index for the method `derivationsTo`; null until the first call. */
  #derivationsTo: ReadonlyMap<number, readonly number[]> | null = null

  /** Creates a view. `head` must be a copy that only the view uses. */
  constructor(head: Int32Array, source: UnitSource) {
    const arrays = unpackArrays(head, HEAD_ARRAYS)
    const keys = unpackTexts(arrays[HEAD.typeKeys]!)
    const types = Array.from(arrays[HEAD.typeIds]!, (id, index) => {
      const part = (all: number, from: number): Int32Array =>
        arrays[all]!.subarray(arrays[from]![index]!, arrays[from]![index + 1]!)
      const [unitFrom, unitTo] = arrays[HEAD.unitsFrom]!.subarray(index, index + 2)
      return new TypeView(keys[index]!, id, {
        liveMasks: part(HEAD.live, HEAD.liveFrom),
        edgeClasses: part(HEAD.classes, HEAD.classesFrom),
        starts: part(HEAD.starts, HEAD.startsFrom),
        unit: () => source(unitFrom!, unitTo!),
      })
    })
    const [rulesFrom, rulesTo, mappingTo] = arrays[HEAD.unitsFrom]!.subarray(types.length)
    this.hasRules = rulesTo! > rulesFrom!
    this.hasMapping = mappingTo! > rulesTo!
    this.#copyRules = known =>
      RulesView.of((from, to) => source(rulesFrom! + from, rulesFrom! + to), rulesTo! - rulesFrom!, known)
    this.#copyMapping = known =>
      MappingView.of((from, to) => source(rulesTo! + from, rulesTo! + to), mappingTo! - rulesTo!, known)
    this.tenant = types[0]!
    for (const type of types) {
      this.typesById[type.id] = type
      if (type !== this.tenant) this.types.set(type.key, type)
    }
    this.stateIds = arrays[HEAD.stateIds]!
    this.stateType = arrays[HEAD.stateType]!
    this.stateOrdinal = arrays[HEAD.stateOrdinal]!
    this.stateEpoch = arrays[HEAD.stateEpoch]!
    this.width = this.stateType.length
    this.stateHasGuard = Uint8Array.from(arrays[HEAD.stateHasGuard]!)
    this.statesInPlace = new Int32Array(this.typesById.length * L.C_HEADS_IN_PLACE)
    for (const id of this.stateIds) {
      const ordinal = this.stateOrdinal[id]!
      if (ordinal >= L.C_HEADS_IN_PLACE) continue
      this.statesInPlace[this.stateType[id]! * L.C_HEADS_IN_PLACE + ordinal] = id
    }
    this.masks = arrays[HEAD.masks]!
    this.masksFrom = arrays[HEAD.masksFrom]!
    this.derivations = arrays[HEAD.derivations]!
    this.derivationsFrom = arrays[HEAD.derivationsFrom]!
    this.open = arrays[HEAD.open]!
    this.full = arrays[HEAD.full]!
    this.guarded = arrays[HEAD.guarded]!
    this.lists = arrays[HEAD.lists]!
    this.#columns = arrays[HEAD.stateColumn]!
    this.#rows = arrays[HEAD.rows]!
    this.#pages = arrays[HEAD.pages]!
  }

  /**
   * Returns the target to which an edge of this class leads from a state, in one of the three tables. Returns
   * 0 if the schema no longer has the class, and undefined if the class is torn.
   */
  targetIn(table: Int32Array, edgeClass: number, state: number): number {
    const column = this.#columns[state]!
    return table[
      this.#pages[this.#rows[edgeClass]! + (column >>> PAGE_COLUMNS_LOG2)]! + (column & COLUMN_MASK)
    ]!
  }

  /** Returns the rules, or `null` if there are none or another schema is being published. */
  get rules(): RulesView | null {
    if (this.#rules || !this.hasRules) return this.#rules
    this.#rules = this.#copyRules(this.#knownRules)
    if (this.#rules !== null) this.#knownRules = null
    return this.#rules
  }

  /** Reuses the rules that the view of an earlier state has read. */
  follow(earlier: SchemaView): void {
    this.#knownRules = earlier.#rules ?? earlier.#knownRules
  }

  /**
   * Returns the mapping rules, or `null` if there are none or another schema is being published. `known` is
   * the view of an earlier state.
   */
  mapping(known: MappingView | null): MappingView | null {
    return this.hasMapping ? this.#copyMapping(known) : null
  }

  /**
   * Returns the relation to which an edge class belongs, or the empty text if no relation has it. The first
   * call takes O(types).
   */
  relationKey(edgeClass: number): string {
    for (const type of this.types.values()) {
      if (type.edgeClasses.includes(edgeClass)) return type.relationKey(edgeClass)
    }
    return ''
  }

  /**
   * Returns the derivations over an edge class that give this role, as pairs [source role index, guarded].
   * Expected O(1); the first call takes O(derivations). The derivations are indexed, because a class can have
   * a thousand of them. If a search scanned them at each edge, it would take roles × edges.
   */
  derivationsTo(edgeClass: number, roleIndex: number): readonly number[] {
    this.#derivationsTo ??= this.#indexDerivations()
    return this.#derivationsTo.get(edgeClass * ROLE_INDEXES_MAX + roleIndex) ?? NO_DERIVATIONS
  }

  #indexDerivations(): Map<number, number[]> {
    const index = new Map<number, number[]>()
    const { derivations, derivationsFrom } = this
    for (let edgeClass = 0; edgeClass + 1 < derivationsFrom.length; edgeClass++) {
      for (let d = derivationsFrom[edgeClass]!; d < derivationsFrom[edgeClass + 1]!; d += 3) {
        const name = edgeClass * ROLE_INDEXES_MAX + derivations[d + 1]!
        const known = index.get(name)
        if (known) known.push(derivations[d]!, derivations[d + 2]!)
        else index.set(name, [derivations[d]!, derivations[d + 2]!])
      }
    }
    return index
  }
}

interface TypeParts {
  /** For each bank, the bits of the existing roles. Stored masks can still contain bits of removed roles. */
  readonly liveMasks: Int32Array
  /** Edge classes of tuples whose objects are of this type. */
  readonly edgeClasses: Int32Array
  /** Start targets, by the position of the action. */
  readonly starts: Int32Array
  readonly unit: () => Int32Array | null
}

export class TypeView {
  readonly key: string
  readonly id: number
  readonly liveMasks: Int32Array
  readonly edgeClasses: Int32Array
  /** Start targets of actions, in no particular order. */
  readonly starts: Int32Array
  readonly #copyUnit: () => Int32Array | null
  #unit: readonly Int32Array[] | null = null
  #actions: ActionViews | null = null
  #roleKeys: readonly (string | undefined)[] | null = null

  constructor(key: string, id: number, { liveMasks, edgeClasses, starts, unit }: TypeParts) {
    this.key = key
    this.id = id
    this.liveMasks = liveMasks
    this.edgeClasses = edgeClasses
    this.starts = starts
    this.#copyUnit = unit
  }

  /**
   * Actions of the type by key. While another schema is being published, the result is empty; the read then
   * fails validation and is repeated.
   */
  get actions(): ActionViews {
    if (this.#actions) return this.#actions
    const unit = this.#arrays()
    if (!unit) return NO_ACTIONS
    this.#actions = new ActionViews(unit, this.starts)
    return this.#actions
  }

  /** Role keys by role index. While another schema is being published, the result is empty. */
  get roleKeys(): readonly (string | undefined)[] {
    if (this.#roleKeys) return this.#roleKeys
    const unit = this.#arrays()
    if (!unit) return []
    const keys: (string | undefined)[] = []
    const texts = unpackTexts(unit[UNIT.roleKeys]!)
    for (const [index, roleIndex] of unit[UNIT.roleIndexes]!.entries()) keys[roleIndex] = texts[index]!
    this.#roleKeys = keys
    return keys
  }

  /**
   * Returns these roles and all roles that extend one of them, directly or indirectly. O(extensions of the
   * type).
   */
  extending(roleIndexes: Iterable<number>): Set<number> {
    const pairs = this.#arrays()?.[UNIT.extensions] ?? []
    const extending = new Map<number, number[]>()
    for (let at = 0; at < pairs.length; at += 2) {
      const known = extending.get(pairs[at + 1]!)
      if (known) known.push(pairs[at]!)
      else extending.set(pairs[at + 1]!, [pairs[at]!])
    }
    const reached = new Set(roleIndexes)
    // The set is its own work list: it iterates over elements that are added during the iteration.
    for (const next of reached) for (const role of extending.get(next) ?? []) reached.add(role)
    return reached
  }

  /** Returns the subject type of the relation with this edge class, or 0 if no relation has the class. */
  relationEnd(edgeClass: number): number {
    const unit = this.#arrays()
    return unit?.[UNIT.relationEnds]![unit[UNIT.relationClasses]!.indexOf(edgeClass)] ?? 0
  }

  relationKey(edgeClass: number): string {
    const unit = this.#arrays()
    if (!unit) return ''
    const index = unit[UNIT.relationClasses]!.indexOf(edgeClass)
    return unpackTexts(unit[UNIT.relationKeys]!)[index] ?? ''
  }

  #arrays(): readonly Int32Array[] | null {
    if (this.#unit) return this.#unit
    const unit = this.#copyUnit()
    if (unit) this.#unit = unpackArrays(unit, UNIT_ARRAYS)
    return this.#unit
  }
}

/** The actions of a type by key. The view of an action is created when it is first needed. */
export class ActionViews {
  readonly #unit: readonly Int32Array[]
  readonly #starts: Int32Array
  readonly #indexes: ReadonlyMap<string, number>
  readonly #known = new Map<string, ActionView>()

  constructor(unit: readonly Int32Array[], starts: Int32Array) {
    this.#unit = unit
    this.#starts = starts
    this.#indexes = new Map(unpackTexts(unit[UNIT.actionKeys]!).map((key, index) => [key, index]))
  }

  get(key: string): ActionView | undefined {
    return this.#known.get(key) ?? this.#make(key)
  }

  keys(): Iterable<string> {
    return this.#indexes.keys()
  }

  *values(): Iterable<ActionView> {
    for (const key of this.#indexes.keys()) yield this.get(key)!
  }

  #make(key: string): ActionView | undefined {
    const index = this.#indexes.get(key)
    if (index === undefined) return undefined
    const allTenantMasks = this.#setOf(UNIT.tenantSets, index)
    let overflowFrom = allTenantMasks.length
    while (overflowFrom > 0 && allTenantMasks[overflowFrom - 2]! >= L.BANKS_MAX) overflowFrom -= 2
    const action = {
      key,
      start: this.#starts[index]!,
      tenantMasks: allTenantMasks.subarray(0, overflowFrom),
      overflowMasks: allTenantMasks.subarray(overflowFrom),
      roleIndexes: new RoleIndexSet(this.#setOf(UNIT.resourceSets, index)),
      tenantRoleIndexes: new RoleIndexSet(allTenantMasks),
    }
    this.#known.set(key, action)
    return action
  }

  #setOf(sets: number, action: number): Int32Array {
    const from = this.#unit[UNIT.setsFrom]!
    const set = this.#unit[sets]![action]!
    return this.#unit[UNIT.sets]!.subarray(from[set]!, from[set + 1]!)
  }
}

const NO_UNIT = Array.from({ length: UNIT_ARRAYS }, () => packTexts([]))
const NO_ACTIONS = new ActionViews(NO_UNIT, new Int32Array(0))

/** Returns the view that is used before any schema has been published. */
export function emptySchema(): SchemaView {
  const arrays: Int32Array[] = Array.from({ length: HEAD_ARRAYS }, () => new Int32Array(1))
  arrays[HEAD.typeKeys] = packTexts([''])
  for (const from of [HEAD.liveFrom, HEAD.classesFrom, HEAD.startsFrom]) arrays[from] = new Int32Array(2)
  arrays[HEAD.unitsFrom] = new Int32Array(4)
  arrays[HEAD.stateIds] = new Int32Array(0)
  arrays[HEAD.derivationsFrom] = new Int32Array(2)
  return new SchemaView(packArrays(arrays), () => null)
}
