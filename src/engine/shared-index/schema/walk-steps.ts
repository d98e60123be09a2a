/**
 * Limits the steps of searches in the graph ("walks"), and defines the error for a walk that exceeds its
 * limit.
 */
import { AuthzError } from '#model/errors.ts'
import type { Resumable } from '#scheduling/resumable.ts'

/**
 * Maximum number of steps of one walk: forward from a user, and backward from an instance, where each step
 * needs more memory. A walk of this length takes some tenths of a second. Without a limit, walks from a user
 * with a thousand roles on each of a hundred thousand instances would need gigabytes.
 */
export const FORWARD_STEPS_MAX = 8_388_608
export const BACKWARD_STEPS_MAX = 4_194_304
/** Number of steps that a staged walk takes before it pauses. Together, they take about 0.1 ms. */
export const STAGE_STEPS = 1_024

/** A walk that can be advanced in stages, by a given number of steps. */
export interface StagedWalk {
  /** Advances the walk. Returns true when it is complete. */
  advance(steps: number): boolean
  /**
   * Number of steps of the last stage that were not used. Negative if the stage took more steps than given.
   */
  readonly stepsLeft: number
}

/** Counts the steps that remain for one or several walks. */
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

  /**
   * Advances a walk in stages, until it is complete or the budget is used up. Returns whether the walk is
   * complete.
   */
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

/** Completes a walk in stages. Throws `LIMIT_EXCEEDED` if it needs more than `stepsMax` steps. */
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
