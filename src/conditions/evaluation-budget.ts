/**
 * What the conditions of one question may cost. Beyond it leaves are unknown, which opens no door (conditions, section 11): no
 * environment's rules hold a thread for longer, whatever they are.
 */

/** Lookups of instances by `fk_resource_type`. */
export const LOOKUPS_MAX = 1_000
/** Nodes of conditions, elements compared, characters times states of globs: some ten milliseconds. */
export const STEPS_MAX = 2_000_000

export class EvaluationBudget {
  #lookups = LOOKUPS_MAX
  #steps = STEPS_MAX
  #isExceeded = false

  /** Whether something was refused. */
  get isExceeded(): boolean {
    return this.#isExceeded
  }

  /** Steps so far. */
  get spent(): number {
    return STEPS_MAX - this.#steps
  }

  /** False: not to be done any more. */
  spend(steps: number): boolean {
    this.#steps -= steps
    return this.#within(this.#steps)
  }

  spendLookup(): boolean {
    this.#lookups--
    return this.#within(this.#lookups)
  }

  #within(left: number): boolean {
    if (left >= 0) return true
    this.#isExceeded = true
    return false
  }
}
