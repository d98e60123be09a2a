/**
 * Gives the automaton's states their numbers, and the same ones again in the next compilation to those that still
 * mean the same: id, ordinal among the states of their type, and epoch, which is part of the version of closures.
 *
 * Invariant: an ordinal's epochs only grow, whichever state has it. So a closure built for an earlier state of that
 * ordinal, or for an earlier meaning, can never look valid.
 */
import { NumberPool } from './number-pool.ts'

export interface StateMeaning {
  readonly signature: string
  readonly typeId: number
  /** Its own transitions, in terms of signatures. */
  readonly content: string
  /** Signatures of the states they lead to. */
  readonly targets: readonly string[]
}

export interface StateNumbers {
  readonly id: number
  readonly ordinal: number
  readonly epoch: number
}

interface Known extends StateNumbers {
  readonly meaning: StateMeaning
}

/** What a registry knows, as it can be kept. */
export interface SavedStates {
  readonly known: readonly Known[]
  readonly lastEpoch: number
}

const NUMBERS_MAX = 2 ** 30

export class StateRegistry {
  #known = new Map<string, Known>()
  readonly #ids: NumberPool
  readonly #ordinals = new Map<number, NumberPool>()
  #lastEpoch: number

  constructor({ known, lastEpoch }: SavedStates = { known: [], lastEpoch: 0 }) {
    const ordinals = new Map<number, number[]>()
    for (const state of known) {
      const { typeId, signature } = state.meaning
      this.#known.set(signature, state)
      ordinals.set(typeId, [...(ordinals.get(typeId) ?? []), state.ordinal])
    }
    this.#ids = new NumberPool(
      1,
      NUMBERS_MAX,
      known.map(({ id }) => id),
    )
    for (const [typeId, taken] of ordinals) this.#ordinals.set(typeId, new NumberPool(0, NUMBERS_MAX, taken))
    this.#lastEpoch = lastEpoch
  }

  save(): SavedStates {
    return { known: [...this.#known.values()], lastEpoch: this.#lastEpoch }
  }

  number(states: readonly StateMeaning[]): ReadonlyMap<string, StateNumbers> {
    const wanted = new Set(states.map(state => state.signature))
    for (const [signature, { id, ordinal, meaning }] of this.#known) {
      if (wanted.has(signature)) continue
      this.#ids.give(id)
      this.#ordinalsOf(meaning.typeId).give(ordinal)
      this.#known.delete(signature)
    }
    const changed = this.#changedAmong(states)
    const next = new Map<string, Known>()
    for (const meaning of states) {
      const old = this.#known.get(meaning.signature)
      next.set(meaning.signature, {
        id: old?.id ?? this.#ids.take(),
        ordinal: old?.ordinal ?? this.#ordinalsOf(meaning.typeId).take(),
        epoch: old && !changed.has(meaning.signature) ? old.epoch : this.#nextEpoch(),
        meaning,
      })
    }
    this.#known = next
    return next
  }

  /** States that are new, have other transitions, or lead, however far, to one that does. */
  #changedAmong(states: readonly StateMeaning[]): Set<string> {
    const comingFrom = new Map<string, string[]>()
    const changed = new Set<string>()
    for (const { signature, content, targets } of states) {
      if (this.#known.get(signature)?.meaning.content !== content) changed.add(signature)
      for (const target of targets) {
        const sources = comingFrom.get(target)
        if (sources) sources.push(signature)
        else comingFrom.set(target, [signature])
      }
    }
    // The set is its own worklist: a `Set` iterates over late additions.
    for (const signature of changed) {
      for (const source of comingFrom.get(signature) ?? []) changed.add(source)
    }
    return changed
  }

  #ordinalsOf(typeId: number): NumberPool {
    let pool = this.#ordinals.get(typeId)
    if (!pool) this.#ordinals.set(typeId, (pool = new NumberPool(0, NUMBERS_MAX)))
    return pool
  }

  #nextEpoch(): number {
    this.#lastEpoch += 1
    return this.#lastEpoch
  }
}
