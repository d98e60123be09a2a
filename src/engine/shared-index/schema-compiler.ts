/**
 * Compiles the schema into the need-state automaton (`compiled-schema.ts`) by closing the start states, one for
 * each (type, action), over the derivations.
 *
 * `extends` widens permissions only: it decides which roles a start state has, and is not followed afterwards.
 *
 * Transitions exist in three versions. *open*: unguarded derivations only; *full*: all of them, where the user holds
 * nothing directly on the object; *guarded*: what full has beyond open, for a closure that stops at a guard and
 * goes on once the user is known.
 *
 * Subset construction can blow up, so the number of states with several roles is capped; beyond the cap a set
 * becomes a list of single-role states: more steps, the same answers.
 *
 * Numbers are stable: a state that meant the same in the last compilation keeps id, ordinal and epoch, and with
 * them its closures. All others get a new epoch, so only what depends on a change is built anew.
 */
import type { ActionImage, RelationImage, SchemaImage, StateImage, TypeImage } from './compiled-schema.ts'
import * as L from './layout.ts'
import { withExtended } from './schema.ts'
import type { Relation, ResourceType, Role, Schema } from './schema.ts'
import { type SavedStates, StateRegistry } from './state-registry.ts'

export const STATES_MAX = 4_096

interface State {
  readonly type: ResourceType
  readonly roles: readonly Role[]
  readonly signature: string
}

interface Transition {
  readonly edgeClass: number
  readonly from: State
  readonly open: readonly State[]
  readonly full: readonly State[]
  readonly guarded: readonly State[]
}

export class SchemaCompiler {
  readonly #registry: StateRegistry
  readonly #statesMax: number

  /** `saved`: the numbers of states that there were before. */
  constructor(statesMax: number = STATES_MAX, saved?: SavedStates) {
    this.#statesMax = statesMax
    this.#registry = new StateRegistry(saved)
  }

  /** The numbers that states have. */
  savedStates(): SavedStates {
    return this.#registry.save()
  }

  compile(schema: Schema): SchemaImage {
    const run = new Compilation(this.#statesMax)
    const starts = new Map<ResourceType, Map<string, readonly State[]>>()
    const granting = grantingRoles(schema)
    for (const type of schema.types.values()) {
      const ofType = new Map<string, readonly State[]>()
      for (const action of type.actions) {
        ofType.set(action, run.targets(type, granting.get(type)?.get(action)?.resource ?? []))
      }
      starts.set(type, ofType)
    }
    run.close()

    const numbers = this.#registry.number(
      run.states.map(state => ({
        signature: state.signature,
        typeId: state.type.id,
        content: run.transitionsOf(state).map(contentOf).join(';'),
        targets: run
          .transitionsOf(state)
          .flatMap(t => [...t.open, ...t.full, ...t.guarded].map(s => s.signature)),
      })),
    )
    const lists: number[] = [0]
    const targetOf = (states: readonly State[]): number => {
      if (states.length <= 1) return states.length === 0 ? 0 : numbers.get(states[0]!.signature)!.id
      lists.push(states.length, ...states.map(s => numbers.get(s.signature)!.id))
      return -(lists.length - states.length - 1)
    }
    return {
      types: [...schema.types.values()].map(type =>
        typeImage(type, action => ({
          key: action,
          start: targetOf(starts.get(type)!.get(action)!),
          rolePlaces: places(granting.get(type)?.get(action)?.resource),
          tenantPlaces: places(granting.get(type)?.get(action)?.tenant),
        })),
      ),
      roles: [...schema.allRoles()].map(r => [r.type?.id ?? L.TENANT_TYPE, r.place, r.key] as const),
      states: run.states.map(state => ({
        ...numbers.get(state.signature)!,
        typeId: state.type.id,
        masks: masksOf(state.roles),
      })) satisfies StateImage[],
      transitions: run.transitions.map(
        ({ edgeClass, from, open, full, guarded }) =>
          [
            edgeClass,
            numbers.get(from.signature)!.id,
            targetOf(open),
            targetOf(full),
            targetOf(guarded),
          ] as const,
      ),
      lists,
      derivations: [...schema.allRoles()].flatMap(role =>
        role.derivations.map(
          ({ source, relation, guarded }) =>
            [relation.edgeClass, source.place, role.place, guarded ? 1 : 0] as const,
        ),
      ),
      relations: [...schema.types.values()].flatMap(type => [...type.relations.values()].map(relationImage)),
      tenantBanks: banksOf(schema.tenantRoles.values()),
    }
  }
}

/** One compilation: the states found so far, and what leads from each to which. */
class Compilation {
  readonly states: State[] = []
  readonly transitions: Transition[] = []
  readonly #bySignature = new Map<string, State>()
  readonly #byFrom = new Map<State, Transition[]>()
  readonly #statesMax: number

  constructor(statesMax: number) {
    this.#statesMax = statesMax
  }

  transitionsOf(state: State): readonly Transition[] {
    return this.#byFrom.get(state) ?? []
  }

  /** The states that stand for "any of these roles": one, or one a role beyond the cap, or none for none. */
  targets(type: ResourceType, roles: Iterable<Role>): readonly State[] {
    const sorted = [...new Set(roles)].toSorted((a, b) => a.id - b.id)
    if (sorted.length === 0) return []
    const known = this.#bySignature.get(signatureOf(type, sorted))
    if (known) return [known]
    if (sorted.length === 1 || this.states.length < this.#statesMax) return [this.#state(type, sorted)]
    return sorted.map(role => this.#state(type, [role]))
  }

  /** Follows every derivation from every state; `states` grows while it is walked. */
  close(): void {
    for (const state of this.states) {
      for (const [relation, { open, guarded }] of sourcesOf(state)) {
        const transition = {
          edgeClass: relation.edgeClass,
          from: state,
          open: this.targets(relation.subjectType, open),
          full: this.targets(relation.subjectType, [...open, ...guarded]),
          guarded: this.targets(relation.subjectType, guarded),
        }
        this.transitions.push(transition)
        const known = this.#byFrom.get(state)
        if (known) known.push(transition)
        else this.#byFrom.set(state, [transition])
      }
    }
  }

  #state(type: ResourceType, roles: readonly Role[]): State {
    const signature = signatureOf(type, roles)
    const known = this.#bySignature.get(signature)
    if (known) return known
    const state = { type, roles, signature }
    this.#bySignature.set(signature, state)
    this.states.push(state)
    return state
  }
}

function signatureOf(type: ResourceType, roles: readonly Role[]): string {
  return `${type.id}/${roles.map(role => role.id).join(',')}`
}

function contentOf(t: Transition): string {
  return [t.edgeClass, signaturesOf(t.open), signaturesOf(t.full), signaturesOf(t.guarded)].join('>')
}

function signaturesOf(states: readonly State[]): string {
  return states.map(state => state.signature).join('|')
}

/** For each relation over which the state's roles derive: the source roles, by guard. */
function sourcesOf(state: State): Map<Relation, { open: Set<Role>; guarded: Set<Role> }> {
  const sources = new Map<Relation, { open: Set<Role>; guarded: Set<Role> }>()
  for (const role of state.roles) {
    for (const { source, relation, guarded } of role.derivations) {
      let both = sources.get(relation)
      if (!both) {
        both = { open: new Set(), guarded: new Set() }
        sources.set(relation, both)
      }
      if (guarded) both.guarded.add(source)
      else both.open.add(source)
    }
  }
  // What is derived without a guard needs no way around one.
  for (const { open, guarded } of sources.values()) {
    for (const source of open) guarded.delete(source)
  }
  return sources
}

interface Granting {
  readonly resource: Set<Role>
  readonly tenant: Set<Role>
}

/** The roles that allow each declared action, by own permission or by one they extend. O(roles × permissions). */
function grantingRoles(schema: Schema): Map<ResourceType, Map<string, Granting>> {
  const granting = new Map<ResourceType, Map<string, Granting>>()
  for (const role of schema.allRoles()) {
    for (const reached of withExtended(role)) {
      for (const [type, actions] of reached.permissions) {
        let ofType = granting.get(type)
        if (!ofType) granting.set(type, (ofType = new Map()))
        for (const action of actions) {
          let roles = ofType.get(action)
          if (!roles) ofType.set(action, (roles = { resource: new Set(), tenant: new Set() }))
          if (role.type) roles.resource.add(role)
          else roles.tenant.add(role)
        }
      }
    }
  }
  return granting
}

function typeImage(type: ResourceType, actionImage: (action: string) => ActionImage): TypeImage {
  const actions = [...type.actions].map(actionImage)
  return { key: type.key, id: type.id, banks: banksOf(type.roles.values()), actions }
}

function relationImage(relation: Relation): RelationImage {
  const { key, edgeClass, objectType, subjectType } = relation
  return { objectType: objectType.id, key, edgeClass, subjectType: subjectType.id }
}

function banksOf(roles: Iterable<Role>): number {
  let banks = 1
  for (const { place } of roles) banks = Math.max(banks, (place >>> 5) + 1)
  return banks
}

function places(roles: Iterable<Role> = []): number[] {
  return [...roles].map(role => role.place)
}

function masksOf(roles: readonly Role[]): number[] {
  const byBank = new Map<number, number>()
  for (const { place } of roles) {
    const bank = place >>> 5
    byBank.set(bank, (byBank.get(bank) ?? 0) | (1 << (place & 31)))
  }
  return [...byBank].flat()
}
