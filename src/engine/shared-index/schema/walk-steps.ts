/** Limits of walks over the graph, and the error for a walk beyond them. */
import { AuthzError } from '#model/errors.ts'
import type { Resumable } from '#model/resumable.ts'

/**
 * The most steps of one search or list: forward from a user, and backward from an instance, where each step
 * keeps more. They take some tenths of a second. Without a limit, a user with a thousand roles on each of a
 * hundred thousand instances would cost gigabytes in the lists and sets of walks.
 */
export const FORWARD_STEPS_MAX = 8_388_608
export const BACKWARD_STEPS_MAX = 4_194_304
/** Steps between two pauses of a staged walk: about a tenth of a millisecond. */
export const STAGE_STEPS = 1_024

/** A walk that advances by a number of steps at a time. */
export interface StagedWalk {
  /** True when there is nothing left. */
  advance(steps: number): boolean
  /** Unused steps of the last stage; negative if it made more. */
  readonly stepsLeft: number
}

/** Counts the steps that are left. */
export class StepBudget {
  readonly #max: number
  #left: number

  constructor(stepsMax: number) {
    this.#max = stepsMax
    this.#left = stepsMax
  }

  get spent(): number {
    return this.#max - this.#left
  }

  /** Advances a walk in stages, as far as the budget reaches. False if the walk is not finished. */
  *walk(walk: StagedWalk): Resumable<boolean> {
    while (this.#left > 0) {
      const steps = Math.min(STAGE_STEPS, this.#left)
      const isDone = walk.advance(steps)
      this.#left -= steps - walk.stepsLeft
      if (isDone) return true
      yield
    }
    return false
  }
}

/** Walks to the end in stages. Throws `LIMIT_EXCEEDED` if that takes more than `stepsMax` steps. */
export function* walkWhole(walk: StagedWalk, stepsMax: number): Resumable<void> {
  if (!(yield* new StepBudget(stepsMax).walk(walk))) throw tooMuchToWalk(stepsMax)
}

export function tooMuchToWalk(stepsMax: number): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    `more than ${stepsMax} roles and relationships would have to be looked at; ask about single resources`,
    { limit: 'list' },
  )
}
