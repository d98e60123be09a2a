/**
 * Costs that the conditions of one question may have. Beyond it leaves are unknown, which grants no access (conditions.md 11):
 * no environment's rules occupy a thread for longer, whatever they are.
 */
import { LOOKUP_STEPS, PARSED_BYTE_STEPS } from './step-costs.ts'

/** Lookups of instances by `fk_resource_type`. */
export const LOOKUPS_MAX = 1_000
/** Steps as `step-costs.ts` counts them: at most about twenty milliseconds. */
export const STEPS_MAX = 2_000_000
/** Share of the steps of one evaluation that a thread may take for reading conditions which it has not read before. */
const READING_SHARE = 0.25

export class EvaluationBudget {
  readonly #stepsMax: number
  #steps: number
  #lookups = LOOKUPS_MAX
  #isExceeded = false
  #reading = 0
  #isUnread = false

  constructor(stepsMax = STEPS_MAX) {
    this.#stepsMax = stepsMax
    this.#steps = stepsMax
  }

  /** Whether something was refused. */
  get isExceeded(): boolean {
    return this.#isExceeded
  }

  /** Steps so far. */
  get spent(): number {
    return this.#stepsMax - this.#steps
  }

  /** False: not to be done any more. */
  spend(steps: number): boolean {
    this.#steps -= steps
    return this.#within(this.#steps)
  }

  spendLookup(): boolean {
    this.#lookups--
    return this.#within(this.#lookups) && this.spend(LOOKUP_STEPS)
  }

  /** To be asked before stored attributes are parsed. */
  spendParsing(bytes: number): boolean {
    return this.spend(bytes * PARSED_BYTE_STEPS)
  }

  /** Has everything that is not known yet left unknown. */
  refuse(): void {
    this.#steps = Math.min(this.#steps, -1)
    this.#isExceeded = true
  }

  /**
   * For conditions that the thread keeps once it has read them: they count only towards the time until the next pause, not towards what
   * the question costs. False: not before the next evaluation. The first is always read, so that each evaluation makes progress.
   */
  spendReading(steps: number): boolean {
    const isFirst = this.#reading === 0
    this.#reading += steps
    if (isFirst || this.#reading <= this.#stepsMax * READING_SHARE) return true
    this.#isUnread = true
    return false
  }

  /** Whether conditions were left unread, so that the question has to be evaluated again. */
  get isUnread(): boolean {
    return this.#isUnread
  }

  #within(left: number): boolean {
    if (left >= 0) return true
    this.#isExceeded = true
    return false
  }
}
