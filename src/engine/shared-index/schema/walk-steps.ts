/**
 * Limits the steps of searches in the graph ("walks"), and defines the error for a search that exceeds them.
 */
import { AuthzError } from '#model/errors.ts'
import type { Resumable } from '#model/resumable.ts'

/**
 * Maximum number of steps of one search or list: forward from a user, and backward from an instance, where
 * each step uses more memory. They take some tenths of a second. Without a limit, a user with a thousand
 * roles on each of a hundred thousand instances would need gigabytes for the lists and sets of walks.
 */
export const FORWARD_STEPS_MAX = 8_388_608
export const BACKWARD_STEPS_MAX = 4_194_304
/** Steps between two pauses of a staged walk: about a tenth of a millisecond. */
export const STAGE_STEPS = 1_024

/** A walk that advances by a given number of steps. */
export interface StagedWalk {
  /** Returns true when the walk is complete. */
  advance(steps: number): boolean
  /** Unused steps of the last stage; negative if it took more. */
  readonly stepsLeft: number
}

/** Counts the remaining steps. */
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

  /** Advances a walk in stages until the budget is used up. Returns false if the walk is not complete. */
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

/** Completes a walk in stages. Throws `LIMIT_EXCEEDED` if that takes more than `stepsMax` steps. */
export function* walkWhole(walk: StagedWalk, stepsMax: number): Resumable<void> {
  if (!(yield* new StepBudget(stepsMax).walk(walk))) throw tooMuchToWalk(stepsMax)
}

export function tooMuchToWalk(stepsMax: number): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    `the check would examine more than ${stepsMax} roles and relationships; check single resources`,
    { limit: 'list' },
  )
}
