/**
 * Builds the automaton of states (`compiled-schema.ts`): the start state of each (type, action), and all
 * states that derivations lead to.
 *
 * `extends` only adds permissions to roles. It determines the roles of a start state, but derivations do not
 * follow it.
 *
 * There are three versions of the transitions of a state. *open*: only unguarded derivations. *full*: all
 * derivations, for a user who holds no direct role on the object. *guarded*: the derivations that full has in
 * addition to open. A closure that stops at a guard continues with them once the user is known.
 *
 * Subset construction can grow exponentially. Therefore two numbers are limited: the number of states that
 * have several roles and at least one derivation, and the number of derivations of these states. Beyond the
 * limit, a set of roles becomes a list of single-role states. Checks then take more steps, but their results
 * are the same. A start set without derivations has no transitions and is always one state.
 *
 * Compilation is incremental. States of an unchanged type are not compiled again; it is only checked whether
 * they are still reachable. Numbers are stable: a state whose meaning has not changed keeps its id, its
 * ordinal and its epoch, and thus its closures. All other states get a new epoch, so only closures that
 * depend on a change are rebuilt.
 *
 * Invariant: the epochs of an ordinal only increase, even if the ordinal passes to another state. A closure
 * of an earlier state of that ordinal, or of an earlier meaning, therefore never appears valid.
 */
import { NumberPool } from '#engine/shared-index/memory/number-pool.ts'
import { assert } from '#model/assert.ts'
import { MaskSum, meets, RoleIndexSet, roleIndexesOf, type RoleMasks } from './role-masks.ts'
import type { SchemaRelation, ResourceType, Role } from './schema.ts'

export interface State {
  readonly type: ResourceType
  /** Roles of the type, any of which is sufficient. */
  readonly masks: RoleMasks
  /** Transitions in ascending order of their edge classes. */
  transitions: readonly Transition[]
  id: number
  ordinal: number
  epoch: number
  /** Whether the transitions are those of the current schema. */
  isCurrent: boolean
  /** Number of the last compilation that reached this state. */
  round: number
  /** Number of derivations of its roles, if the state counts toward the limit. */
  weight: number
}

export interface Transition {
  readonly edgeClass: number
  readonly open: readonly State[]
  readonly full: readonly State[]
  readonly guarded: readonly State[]
}

/** The automaton as stored in an index snapshot. States refer to each other by id. */
export interface SavedStates {
  readonly known: readonly {
    readonly typeId: number
    readonly masks: readonly number[]
    readonly id: number
    readonly ordinal: number
    readonly epoch: number
    readonly transitions: readonly (readonly [
      edgeClass: number,
      open: readonly number[],
      full: readonly number[],
      guarded: readonly number[],
    ])[]
  }[]
  readonly lastEpoch: number
}

interface Deriving {
  readonly masks: RoleMasks
  readonly roles: readonly { readonly roleIndex: number; readonly derivations: Role['derivations'] }[]
}

/**
 * Limits: number of states that have several roles and a derivation, and number of all their derivations
 * together.
 */
export const STATES_MAX = 4_096
export const STATE_DERIVATIONS_MAX = 100_000

const NUMBERS_MAX = 2 ** 30
const NONE: readonly never[] = []

export class Automaton {
  readonly #statesMax: number
  readonly #states = new Map<string, State>()
  readonly #ids: NumberPool
  readonly #ordinals = new Map<number, NumberPool>()
  #lastEpoch: number
  #round = 0
  #capped = 0
  #weight = 0
  /** For the types visited in this compilation, their roles that have derivations. */
  readonly #deriving = new Map<ResourceType, Deriving>()
  /** States that this compilation reached and whose transitions are new or changed. */
  #changed: State[] = []
  readonly #sum = new MaskSum()
  /** Number of states whose transitions were followed, for tests and statistics. */
  followed = 0

  constructor(statesMax: number, types: Iterable<ResourceType>, saved: SavedStates) {
    this.#statesMax = statesMax
    this.#lastEpoch = saved.lastEpoch
    const byId = new Map(Array.from(types, type => [type.id, type]))
    const ordinals = new Map<number, number[]>()
    const states = new Map<number, State>()
    for (const { typeId, masks, id, ordinal, epoch } of saved.known) {
      const type = byId.get(typeId)
      assert(type, 'each stored state belongs to a stored type')
      const state = newState(type, Int32Array.from(masks))
      Object.assign(state, { id, ordinal, epoch })
      states.set(id, state)
      this.#states.set(nameOf(type, state.masks), state)
      const taken = ordinals.get(typeId)
      if (taken) taken.push(ordinal)
      else ordinals.set(typeId, [ordinal])
    }
    const named = (ids: readonly number[]): State[] => ids.map(id => states.get(id)!)
    for (const { id, transitions } of saved.known) {
      states.get(id)!.transitions = transitions.map(([edgeClass, open, full, guarded]) => ({
        edgeClass,
        open: named(open),
        full: named(full),
        guarded: named(guarded),
      }))
    }
    this.#ids = new NumberPool(1, NUMBERS_MAX, states.keys())
    for (const [typeId, taken] of ordinals) this.#ordinals.set(typeId, new NumberPool(0, NUMBERS_MAX, taken))
  }

  save(): SavedStates {
    const ids = (states: readonly State[]): number[] => states.map(({ id }) => id)
    const known = Array.from(this.#states.values(), ({ type, masks, id, ordinal, epoch, transitions }) => ({
      typeId: type.id,
      masks: [...masks],
      id,
      ordinal,
      epoch,
      transitions: transitions.map(
        ({ edgeClass, open, full, guarded }) => [edgeClass, ids(open), ids(full), ids(guarded)] as const,
      ),
    }))
    return { known, lastEpoch: this.#lastEpoch }
  }

  /** Returns all existing states with their ids, ordinals and epochs. */
  states(): Iterable<State> {
    return this.#states.values()
  }

  /** Begins a compilation. `changed` contains exactly the types that have changed. */
  begin(types: ReadonlyMap<string, ResourceType>, changed: ReadonlySet<ResourceType>): void {
    this.#round += 1
    this.#changed = []
    this.#deriving.clear()
    for (const [name, state] of this.#states) {
      if (types.get(state.type.key) !== state.type) this.#free(name, state)
      else if (changed.has(state.type)) state.isCurrent = false
    }
  }

  /** Discards all states, so that the whole limit is available for new ones. */
  startOver(): void {
    for (const [name, state] of this.#states) this.#free(name, state)
  }

  /**
   * Returns the start states of an action that any of these roles allows: no state, one state or, beyond the
   * limit, one state per role.
   */
  starts(type: ResourceType, masks: RoleMasks): readonly State[] {
    return this.#targets(type, masks, true)
  }

  /**
   * Follows all transitions from the start states, and numbers the states that it reaches. Pauses after every
   * few states. Returns false if a changed set of roles would exceed the limit. The caller must then start
   * over.
   */
  *close(starts: Iterable<readonly State[]>): Generator<void, boolean> {
    const reached: State[] = []
    const reach = (states: readonly State[]): void => {
      for (const state of states) {
        if (state.round === this.#round) continue
        state.round = this.#round
        reached.push(state)
      }
    }
    for (const states of starts) reach(states)
    // The loop also visits states that are added to `reached` during the iteration.
    for (const state of reached) {
      if (!state.isCurrent) {
        this.#follow(state)
        yield
      }
      for (const { open, full, guarded } of state.transitions) {
        reach(open)
        reach(full)
        reach(guarded)
      }
    }
    for (const [name, state] of this.#states) if (state.round !== this.#round) this.#free(name, state)
    yield
    if (this.#capped > this.#statesMax || this.#weight > STATE_DERIVATIONS_MAX) return false
    if (this.#changed.length > 0) yield* this.#number(reached)
    return true
  }

  #targets(type: ResourceType, masks: RoleMasks, isStart: boolean): readonly State[] {
    if (masks.length === 0) return NONE
    const name = nameOf(type, masks)
    const known = this.#states.get(name)
    if (known) return [known]
    const weight = isSingle(masks) ? 0 : this.#weightOf(type, masks)
    const isFree = isSingle(masks) || (isStart && weight === 0)
    const isWithin = this.#capped < this.#statesMax && this.#weight + weight <= STATE_DERIVATIONS_MAX
    if (!isFree && !isWithin) {
      return Array.from(roleIndexesOf(masks), roleIndex => {
        this.#sum.addRoleIndex(roleIndex)
        return this.#targets(type, this.#sum.take(), false)[0]!
      })
    }
    const state = newState(type, masks)
    this.#states.set(name, state)
    if (!isFree) this.#weigh(state, weight)
    return [state]
  }

  /** Returns the number of derivations of these roles: 0 only if none of the roles has a derivation. */
  #weightOf(type: ResourceType, masks: RoleMasks): number {
    const deriving = this.#derivingOf(type)
    if (!meets(masks, deriving.masks)) return 0
    const roleIndexes = new RoleIndexSet(masks)
    let weight = 0
    for (const { roleIndex, derivations } of deriving.roles)
      if (roleIndexes.has(roleIndex)) weight += derivations.length
    return weight
  }

  /**
   * Counts a state toward the limit, with this number of derivations. A state without transitions only counts
   * toward the number of states.
   */
  #weigh(state: State, weight: number): void {
    if (state.weight < 0) this.#capped += 1
    this.#weight += weight - Math.max(state.weight, 0)
    state.weight = weight
  }

  #follow(state: State): void {
    this.followed += 1
    const { type, masks } = state
    const before = state.transitions
    const deriving = this.#derivingOf(type)
    state.transitions = meets(masks, deriving.masks) ? this.#transitionsOf(masks, deriving) : NONE
    state.isCurrent = true
    const counts = state.weight >= 0 || (state.transitions.length > 0 && !isSingle(masks))
    if (counts) this.#weigh(state, this.#weightOf(type, masks))
    if (state.id === 0 || !isSameContent(before, state.transitions)) this.#changed.push(state)
  }

  #transitionsOf(masks: RoleMasks, deriving: Deriving): Transition[] {
    const roleIndexes = new RoleIndexSet(masks)
    const sources = new Map<SchemaRelation, { open: Set<Role>; guarded: Set<Role> }>()
    for (const { roleIndex, derivations } of deriving.roles) {
      if (!roleIndexes.has(roleIndex)) continue
      for (const { source, relation, guarded } of derivations) {
        let both = sources.get(relation)
        if (!both) sources.set(relation, (both = { open: new Set(), guarded: new Set() }))
        if (guarded) both.guarded.add(source)
        else both.open.add(source)
      }
    }
    const transitions = Array.from(sources, ([relation, { open, guarded }]) => {
      // If a role is derived both without and with a guard, the guarded derivation is not needed.
      for (const source of open) guarded.delete(source)
      const { subjectType, edgeClass } = relation
      return {
        edgeClass,
        open: this.#targets(subjectType, this.#masksOf(open), false),
        full: this.#targets(subjectType, this.#masksOf(open, guarded), false),
        guarded: this.#targets(subjectType, this.#masksOf(guarded), false),
      }
    })
    return transitions.toSorted((a, b) => a.edgeClass - b.edgeClass)
  }

  #masksOf(...sets: readonly ReadonlySet<Role>[]): RoleMasks {
    for (const roles of sets) for (const { roleIndex } of roles) this.#sum.addRoleIndex(roleIndex)
    return this.#sum.take()
  }

  #derivingOf(type: ResourceType): Deriving {
    const known = this.#deriving.get(type)
    if (known) return known
    const roles = [...type.roles.values()].filter(({ derivations }) => derivations.length > 0)
    for (const { roleIndex } of roles) this.#sum.addRoleIndex(roleIndex)
    const deriving = { masks: this.#sum.take(), roles }
    this.#deriving.set(type, deriving)
    return deriving
  }

  /**
   * Assigns new epochs to three kinds of states: new states, states with changed transitions, and states from
   * which transitions lead to such a state.
   */
  *#number(reached: readonly State[]): Generator<void> {
    const comingFrom = new Map<State, State[]>()
    for (const state of reached) {
      for (const { open, full, guarded } of state.transitions) {
        for (const targets of [open, full, guarded]) {
          for (const target of targets) {
            const sources = comingFrom.get(target)
            if (!sources) comingFrom.set(target, [state])
            else if (sources.at(-1) !== state) sources.push(state)
          }
        }
      }
      if (state.transitions.length > 0) yield
    }
    // The set is its own work list: a `Set` iterates over elements that are added during the iteration.
    const changed = new Set(this.#changed)
    let steps = 0
    for (const state of changed) {
      if (state.id === 0) {
        state.id = this.#ids.take()
        state.ordinal = this.#ordinalsOf(state.type.id).take()
      }
      this.#lastEpoch += 1
      state.epoch = this.#lastEpoch
      for (const source of comingFrom.get(state) ?? []) changed.add(source)
      if (++steps % 64 === 0) yield
    }
  }

  #free(name: string, state: State): void {
    this.#states.delete(name)
    if (state.weight >= 0) {
      this.#capped -= 1
      this.#weight -= state.weight
    }
    if (state.id === 0) return
    this.#ids.give(state.id)
    this.#ordinalsOf(state.type.id).give(state.ordinal)
  }

  #ordinalsOf(typeId: number): NumberPool {
    let pool = this.#ordinals.get(typeId)
    if (!pool) this.#ordinals.set(typeId, (pool = new NumberPool(0, NUMBERS_MAX)))
    return pool
  }
}

/** Creates a state without numbers. Its weight of -1 means that it does not count toward the limit yet. */
function newState(type: ResourceType, masks: RoleMasks): State {
  const numbers = { id: 0, ordinal: 0, epoch: 0, round: 0, weight: -1 }
  return { type, masks, transitions: NONE, isCurrent: false, ...numbers }
}

function nameOf(type: ResourceType, masks: RoleMasks): string {
  return `${type.id}/${masks.join()}`
}

function isSingle(masks: RoleMasks): boolean {
  return masks.length === 2 && (masks[1]! & (masks[1]! - 1)) === 0
}

function isSameContent(left: readonly Transition[], right: readonly Transition[]): boolean {
  if (left.length !== right.length) return false
  return left.every((transition, index) => {
    const other = right[index]!
    return (
      transition.edgeClass === other.edgeClass &&
      isSameStates(transition.open, other.open) &&
      isSameStates(transition.full, other.full) &&
      isSameStates(transition.guarded, other.guarded)
    )
  })
}

function isSameStates(left: readonly State[], right: readonly State[]): boolean {
  return left.length === right.length && left.every((state, index) => state === right[index])
}
