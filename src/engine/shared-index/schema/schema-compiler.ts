/**
 * Compiles the schema into words (`compiled-schema.ts`), in steps. For each changed type, computes the
 * permissions and the start states of actions. Then computes the automaton over all types (`automaton.ts`).
 * The units of unchanged types are copied.
 *
 * Following `extends` for each pair of role and action would be too slow. Instead, for each role with its own
 * permissions, the compiler computes the set of roles that have these permissions (`role-masks.ts`), 32 roles
 * at a time.
 */
import { compileMapping } from '#engine/shared-index/mapping/mapping-compiler.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { lengthsOf, packArrays, packedWords, packTexts } from '#engine/shared-index/memory/packed-arrays.ts'
import type { Regions, SchemaLocation } from '#engine/shared-index/memory/index-buffers.ts'
import { RuleCompiler } from '#engine/shared-index/rules/rule-compiler.ts'
import { Automaton, type SavedStates, type State, STATES_MAX } from './automaton.ts'
import { HEAD, PAGE_COLUMNS, PAGE_COLUMNS_LOG2, UNIT, UNIT_ARRAYS } from './compiled-schema.ts'
import { MaskSets, MaskSum, NO_ROLES, reachedBy, type RoleMasks } from './role-masks.ts'
import type { ResourceType, Role, Schema } from './schema.ts'

/** Number of actions that are processed between two steps. For each action, sets of roles are united. */
const ACTIONS_A_STEP = 16
/** Number of roles or states that are processed between two steps. Each of them takes little time. */
const ROLES_A_STEP = 256
const STATES_A_STEP = 1_024
/** Number of words that are copied between two steps, which takes a quarter of a millisecond. */
const WORDS_A_STEP = 1 << 17

interface CompiledType {
  readonly unit: Int32Array
  /** For each action, in the order of the unit: the roles of the type that allow it. */
  readonly masks: readonly RoleMasks[]
}

/** Owner of a unit: a type, the tenant roles (null), the rules or the mapping rules. */
type UnitOwner = ResourceType | null | 'rules' | 'mapping'
/** A unit as pieces, which are stored one after another. */
type Unit = readonly Int32Array[]
/** Position of each unit in the buffer that readers use. */
type Units = Map<UnitOwner, { readonly from: number; readonly words: number }>

export class SchemaCompiler {
  readonly #automaton: Automaton
  readonly #rules = new RuleCompiler()
  /** True until the first compilation, in which all parts are new. */
  #isFirst = true
  readonly #starts = new Map<ResourceType, readonly (readonly State[])[]>()
  /** Types that changed since the last publication. */
  readonly #changed = new Set<ResourceType>()
  /** Whether condition sets or rules changed since the last publication. */
  #areRulesChanged = true
  /** Whether mapping rules changed since the last publication. */
  #isMappingChanged = true
  #published: Units = new Map()
  #compiled: Units = new Map()
  /** All edge classes that were used so far are smaller than this number. */
  #classes = 1
  #typesCompiled = 0

  /** `types` are the types of a restored schema, and `saved` contains their states. */
  constructor(
    types: Iterable<ResourceType> = [],
    statesMax: number = STATES_MAX,
    saved: SavedStates = { known: [], lastEpoch: 0 },
  ) {
    this.#automaton = new Automaton(statesMax, types, saved)
  }

  /**
   * Returns numbers for tests and statistics: types compiled, states whose transitions were computed,
   * condition sets parsed, and rules planned so far.
   */
  figures() {
    const { setsRead, rulesPlanned } = this.#rules
    return {
      typesCompiled: this.#typesCompiled,
      statesFollowed: this.#automaton.followed,
      setsRead,
      rulesPlanned,
    }
  }

  /** Returns the states with their numbers, for an index snapshot. */
  savedStates(): SavedStates {
    return this.#automaton.save()
  }

  /**
   * Writes the current schema into the buffer that is not in use. Each step takes some tenths of a
   * millisecond. The schema must not change until the last step.
   */
  *compile(schema: Schema, regions: Regions): Generator<void, SchemaLocation> {
    for (const type of schema.takeChanged()) this.#changed.add(type)
    if (this.#isFirst) for (const type of schema.types.values()) this.#changed.add(type)
    for (const type of this.#starts.keys()) {
      if (schema.types.get(type.key) !== type) this.#starts.delete(type)
    }
    for (const type of this.#changed) if (schema.types.get(type.key) !== type) this.#changed.delete(type)
    this.#isFirst = false
    const units: (readonly [UnitOwner, Unit])[] = []
    const compiled = yield* this.#allowing(schema)
    while (!(yield* this.#states(schema, compiled))) {
      this.#automaton.startOver()
      for (const type of schema.types.values()) this.#changed.add(type)
      for (const [type, parts] of yield* this.#allowing(schema)) compiled.set(type, parts)
    }
    for (const [type, { unit }] of compiled) units.push([type, [unit]])
    this.#typesCompiled += units.length
    units.push([null, [tenantUnit(schema)]])
    yield
    // The stamp is the schema version that will be published, so that two published units never have the same
    // stamp.
    const stamp = (regions.header[L.H_SCHEMA_VERSION]! + 1) | 0
    yield* schema.settleRules()
    if (schema.areRulesChangedFor('compiler')) this.#areRulesChanged = true
    if (this.#areRulesChanged) units.push(['rules', yield* this.#rulesOf(schema, stamp)])
    if (schema.takeMappingChanged()) this.#isMappingChanged = true
    if (this.#isMappingChanged) units.push(['mapping', [yield* compileMapping(schema.mapping, stamp)]])
    yield
    return yield* this.#write(schema, regions, new Map(units))
  }

  /** Call it when the last compiled schema has been published. */
  published(): void {
    this.#published = this.#compiled
    this.#changed.clear()
    this.#areRulesChanged = false
    this.#isMappingChanged = false
  }

  #rulesOf(schema: Schema, stamp: number): Generator<void, Unit> {
    return this.#rules.compile(schema.takeRuleChanges('compiler'), {
      roleIndexOf: role => schema.tenantRoles.get(role)!.roleIndex,
      rulesBelow: set => schema.rulesBelow(set),
      stamp,
    })
  }

  /** Computes the permissions on the changed types. O(permissions on them × banks of roles). */
  *#allowing(schema: Schema): Generator<void, Map<ResourceType, CompiledType>> {
    const changed = this.#changed
    const owning = new Map<ResourceType, Role[]>(Array.from(changed, type => [type, []]))
    let seen = 0
    for (const role of schema.tenantRoles.values()) {
      for (const type of role.permissions.keys()) owning.get(type)?.push(role)
      if (++seen % ROLES_A_STEP === 0) yield
    }
    const compiled = new Map<ResourceType, CompiledType>()
    for (const [type, tenantRoles] of owning) {
      const sets = new MaskSets()
      const resource = yield* allowedBy(type, type.roles.values(), sets)
      const tenant = yield* allowedBy(type, tenantRoles, sets)
      const unit = typeUnit(type, { sets, resource, tenant })
      const masks = Array.from(resource, number => sets.sets[number]!)
      compiled.set(type, { unit, masks })
      yield
    }
    return compiled
  }

  /** Computes the automaton over all types. Returns false if the automaton has to start over. */
  *#states(schema: Schema, compiled: ReadonlyMap<ResourceType, CompiledType>): Generator<void, boolean> {
    const automaton = this.#automaton
    automaton.begin(schema.types, this.#changed)
    for (const [type, { masks }] of compiled) {
      const known = new Map<RoleMasks, readonly State[]>()
      const starts: (readonly State[])[] = []
      for (const roles of masks) {
        let states = known.get(roles)
        if (!states) {
          known.set(roles, (states = automaton.starts(type, roles)))
          yield
        }
        starts.push(states)
      }
      this.#starts.set(type, starts)
    }
    return yield* automaton.close([...this.#starts.values()].flat())
  }

  *#write(
    schema: Schema,
    regions: Regions,
    fresh: ReadonlyMap<UnitOwner, Unit>,
  ): Generator<void, SchemaLocation> {
    const owners: UnitOwner[] = [null, ...schema.types.values(), 'rules', 'mapping']
    const wordsOf = (owner: UnitOwner): number =>
      fresh.get(owner)?.reduce((words, piece) => words + piece.length, 0) ?? this.#published.get(owner)!.words
    const unitsFrom = [0]
    for (const owner of owners) unitsFrom.push(unitsFrom.at(-1)! + wordsOf(owner))
    const head = yield* this.#head(schema, unitsFrom)
    const start = unitsFrom.at(-1)!
    const end = start + packedWords(head)
    const target = regions.spareSchema(end)
    const source = regions.currentSchema()
    this.#compiled = new Map()
    for (const [index, owner] of owners.entries()) {
      const from = unitsFrom[index]!
      const words = wordsOf(owner)
      this.#compiled.set(owner, { from, words })
      const unit = fresh.get(owner) ?? [source.subarray(this.#published.get(owner)!.from).subarray(0, words)]
      let to = from
      for (const piece of unit) {
        yield* copy(piece, target, to)
        to += piece.length
      }
    }
    let at = start
    for (const array of [lengthsOf(head), ...head]) {
      yield* copy(array, target, at)
      at += array.length
    }
    return { head: start, words: end }
  }

  *#head(schema: Schema, unitsFrom: readonly number[]): Generator<void, Int32Array[]> {
    const arrays: Int32Array[] = []
    const types = [...schema.types.values()]
    arrays[HEAD.typeIds] = Int32Array.from([L.TENANT_TYPE, ...types.map(({ id }) => id)])
    arrays[HEAD.typeKeys] = packTexts(['', ...types.map(({ key }) => key)])
    arrays[HEAD.unitsFrom] = Int32Array.from(unitsFrom)
    const live = [
      liveBanks(schema.tenantRoles.values()),
      ...types.map(type => liveBanks(type.roles.values())),
    ]
    putRows(arrays, HEAD.live, HEAD.liveFrom, live)
    yield
    const classes = types.map(type => Array.from(type.relations.values(), ({ edgeClass }) => edgeClass))
    putRows(arrays, HEAD.classes, HEAD.classesFrom, [[], ...classes])
    for (const ofType of classes) for (const one of ofType) this.#classes = Math.max(this.#classes, one + 1)
    yield
    yield* this.#derivations(arrays, types)
    const lists = new Lists()
    yield* this.#targets(arrays, lists)
    const starts: Int32Array[] = [new Int32Array(0)]
    for (const type of types) {
      starts.push(Int32Array.from(this.#starts.get(type)!, states => lists.targetOf(states)))
      yield
    }
    putRows(arrays, HEAD.starts, HEAD.startsFrom, starts)
    arrays[HEAD.lists] = Int32Array.from(lists.words)
    return arrays
  }

  *#derivations(arrays: Int32Array[], types: readonly ResourceType[]): Generator<void> {
    const byClass: number[][] = Array.from({ length: this.#classes }, () => [])
    for (const type of types) {
      for (const role of type.roles.values()) {
        for (const { source, relation, guarded } of role.derivations) {
          byClass[relation.edgeClass]!.push(source.roleIndex, role.roleIndex, guarded ? 1 : 0)
        }
      }
      yield
    }
    putRows(arrays, HEAD.derivations, HEAD.derivationsFrom, byClass)
  }

  /** Writes the states and their transitions. */
  *#targets(arrays: Int32Array[], lists: Lists): Generator<void> {
    const states = [...this.#automaton.states()].toSorted((a, b) => a.id - b.id)
    const width = (states.at(-1)?.id ?? 0) + 1
    const masks = Array.from({ length: width }, () => NO_ROLES)
    for (const array of [HEAD.stateType, HEAD.stateOrdinal, HEAD.stateEpoch, HEAD.stateHasGuard]) {
      arrays[array] = new Int32Array(width)
    }
    arrays[HEAD.stateIds] = Int32Array.from(states, ({ id }) => id)
    const columns = (arrays[HEAD.stateColumn] = new Int32Array(width))
    const columnsOf = new Map<ResourceType, number>()
    let columnsMax = 1
    for (const [index, state] of states.entries()) {
      const { id, type, ordinal, epoch, transitions } = state
      arrays[HEAD.stateType]![id] = type.id
      arrays[HEAD.stateOrdinal]![id] = ordinal
      arrays[HEAD.stateEpoch]![id] = epoch
      arrays[HEAD.stateHasGuard]![id] = transitions.some(({ guarded }) => guarded.length > 0) ? 1 : 0
      masks[id] = state.masks
      if (transitions.length > 0) {
        columns[id] = columnsOf.get(type) ?? 1
        columnsOf.set(type, columns[id]! + 1)
        columnsMax = Math.max(columnsMax, columns[id]! + 1)
      }
      if (index % STATES_A_STEP === 0) yield
    }
    putRows(arrays, HEAD.masks, HEAD.masksFrom, masks)
    yield
    const rows = (arrays[HEAD.rows] = new Int32Array(this.#classes))
    // All classes without derivations share one row, which has no targets.
    const pages = Array.from({ length: pageOf(columnsMax - 1) + 1 }, () => 0)
    const tables = { open: zeros(), full: zeros(), guarded: zeros() }
    let steps = 0
    for (const { id, type, transitions } of states) {
      for (const { edgeClass, open, full, guarded } of transitions) {
        if (rows[edgeClass] === 0) {
          rows[edgeClass] = pages.length
          for (let page = pageOf(columnsOf.get(type)! - 1); page >= 0; page--) pages.push(0)
        }
        const entry = rows[edgeClass]! + pageOf(columns[id]!)
        if (pages[entry] === 0) {
          pages[entry] = tables.full.length
          for (const table of [tables.open, tables.full, tables.guarded]) table.push(...zeros())
        }
        const at = pages[entry]! + (columns[id]! & (PAGE_COLUMNS - 1))
        tables.open[at] = lists.targetOf(open)
        tables.full[at] = lists.targetOf(full)
        tables.guarded[at] = lists.targetOf(guarded)
      }
      if (transitions.length > 0 && ++steps % 16 === 0) yield
    }
    arrays[HEAD.pages] = Int32Array.from(pages)
    yield
    arrays[HEAD.open] = Int32Array.from(tables.open)
    arrays[HEAD.full] = Int32Array.from(tables.full)
    arrays[HEAD.guarded] = Int32Array.from(tables.guarded)
    yield
  }
}

/** Lists of states, for targets that consist of several states. Equal lists are stored once. */
class Lists {
  /** The first word is not used, because target 0 means no state. */
  readonly words: number[] = [0]
  readonly #known = new Map<string, number>()

  targetOf(states: readonly State[]): number {
    if (states.length === 0) return 0
    if (states.length === 1) return states[0]!.id
    const ids = states.map(({ id }) => id)
    const name = ids.join()
    let target = this.#known.get(name)
    if (target === undefined) {
      target = -this.words.length
      this.#known.set(name, target)
      this.words.push(ids.length)
      for (const id of ids) this.words.push(id)
    }
    return target
  }
}

/** For each action in the order of the unit, returns the number of the set of these roles that allow it. */
function* allowedBy(type: ResourceType, roles: Iterable<Role>, sets: MaskSets): Generator<void, Int32Array> {
  const byAction = new Map<string, Role[]>(Array.from(type.actions, action => [action, []]))
  let seen = 0
  for (const role of roles) {
    for (const action of role.permissions.get(type) ?? []) byAction.get(action)?.push(role)
    if (++seen % ROLES_A_STEP === 0) yield
  }
  const sum = new MaskSum()
  const scratch = new MaskSum()
  const numbers = new Int32Array(byAction.size)
  let index = 0
  for (const owners of byAction.values()) {
    for (const role of owners) sum.add(reachedBy(role, scratch))
    numbers[index++] = sets.numberOf(sum.take())
    if (index % ACTIONS_A_STEP === 0) yield
  }
  return numbers
}

function typeUnit(
  type: ResourceType,
  allowing: { readonly sets: MaskSets; readonly resource: Int32Array; readonly tenant: Int32Array },
): Int32Array {
  const arrays = unitOf(type.roles.values())
  arrays[UNIT.actionKeys] = packTexts([...type.actions])
  putRows(arrays, UNIT.sets, UNIT.setsFrom, allowing.sets.sets)
  arrays[UNIT.resourceSets] = allowing.resource
  arrays[UNIT.tenantSets] = allowing.tenant
  const relations = [...type.relations.values()]
  arrays[UNIT.relationClasses] = Int32Array.from(relations, ({ edgeClass }) => edgeClass)
  arrays[UNIT.relationKeys] = packTexts(relations.map(({ key }) => key))
  arrays[UNIT.relationEnds] = Int32Array.from(relations, ({ subjectType }) => subjectType.id)
  arrays[UNIT.extensions] = Int32Array.from(
    Array.from(type.roles.values(), role =>
      Array.from(role.extends, extended => [role.roleIndex, extended.roleIndex]),
    ).flat(2),
  )
  return packArrays(arrays)
}

function tenantUnit(schema: Schema): Int32Array {
  return packArrays(unitOf(schema.tenantRoles.values()))
}

/** Creates a unit that so far contains only its roles. */
function unitOf(roles: Iterable<Role>): Int32Array[] {
  const all = [...roles]
  const arrays: Int32Array[] = Array.from({ length: UNIT_ARRAYS }, () => new Int32Array(0))
  arrays[UNIT.roleIndexes] = Int32Array.from(all, ({ roleIndex }) => roleIndex)
  arrays[UNIT.roleKeys] = packTexts(all.map(({ key }) => key))
  arrays[UNIT.actionKeys] = arrays[UNIT.relationKeys] = packTexts([])
  return arrays
}

function liveBanks(roles: Iterable<Role>): Int32Array {
  const banks: number[] = [0]
  for (const { roleIndex } of roles) {
    while (banks.length <= roleIndex >>> 5) banks.push(0)
    banks[roleIndex >>> 5]! |= 1 << (roleIndex & 31)
  }
  return Int32Array.from(banks)
}

/**
 * Concatenates arrays of numbers into one. Another array contains the start of each, and the end of the last
 * one.
 */
function putRows(arrays: Int32Array[], all: number, from: number, parts: readonly ArrayLike<number>[]): void {
  const starts = new Int32Array(parts.length + 1)
  for (const [index, part] of parts.entries()) starts[index + 1] = starts[index]! + part.length
  const words = new Int32Array(starts[parts.length]!)
  for (const [index, part] of parts.entries()) words.set(part, starts[index]!)
  arrays[all] = words
  arrays[from] = starts
}

function* copy(source: Int32Array, target: Int32Array, at: number): Generator<void> {
  for (let from = 0; from < source.length; from += WORDS_A_STEP) {
    target.set(source.subarray(from, from + WORDS_A_STEP), at + from)
    yield
  }
}

function pageOf(column: number): number {
  return column >>> PAGE_COLUMNS_LOG2
}

function zeros(): number[] {
  return Array.from({ length: PAGE_COLUMNS }, () => 0)
}
