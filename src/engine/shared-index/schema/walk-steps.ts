/** How far walks over the graph go, and what is said where that is not far enough. */
import { AuthzError } from '#model/errors.ts'
import type { Resumable } from '#model/resumable.ts'

/**
 * Most steps of one search or list: from a user, and back from an instance, where more is kept of each. Some tenths of a second
 * of a thread. A user who holds a thousand roles on each of a hundred thousand instances would cost gigabytes otherwise, in the
 * lists and sets that walks keep.
 */
export const FORWARD_STEPS_MAX = 8_388_608
export const BACKWARD_STEPS_MAX = 4_194_304
/** Steps after which a walk that is cut into stages lets others have their turn: about a tenth of a millisecond. */
export const STAGE_STEPS = 1_024

/** A walk that goes on for so many steps at a time. */
export interface StagedWalk {
  /** True when there is nothing left. */
  advance(steps: number): boolean
  /** Of the steps of the last stage, those that were not made; less than 0 if it made more. */
  readonly stepsLeft: number
}

/** Steps that may still be made. */
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

  /** Goes on with a walk in stages, as far as the budget goes. False if there was more of it. */
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

/** Walks to the end, in stages. Throws `LIMIT_EXCEEDED` where that is farther than so many steps. */
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
