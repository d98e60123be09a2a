/**
 * Limits the cost of the conditions of one query. When the limit is reached, remaining tests are unknown,
 * which grants no access (conditions.md 11). The limit bounds how long the rules of an environment occupy a
 * thread.
 */
import { LOOKUP_STEPS, PARSED_BYTE_STEPS } from './step-costs.ts'

/** Maximum number of lookups of instances by `fk_resource_type`. */
export const LOOKUPS_MAX = 1_000
/** Maximum number of steps, counted as in `step-costs.ts`: at most about 20 milliseconds. */
export const STEPS_MAX = 2_000_000
/**
 * Share of the steps of one evaluation that a thread can use to parse conditions that it has not parsed
 * before.
 */
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

  /** Returns whether an operation was refused. */
  get isExceeded(): boolean {
    return this.#isExceeded
  }

  /** Number of steps used so far. */
  get spent(): number {
    return this.#stepsMax - this.#steps
  }

  /** Charges an operation. Returns false if it must not be performed. */
  spend(steps: number): boolean {
    this.#steps -= steps
    return this.#within(this.#steps)
  }

  spendLookup(): boolean {
    this.#lookups--
    return this.#within(this.#lookups) && this.spend(LOOKUP_STEPS)
  }

  /** Charges the parsing of stored attributes. Call it before parsing. */
  spendParsing(bytes: number): boolean {
    return this.spend(bytes * PARSED_BYTE_STEPS)
  }

  /** Makes all further tests unknown. */
  refuse(): void {
    this.#steps = Math.min(this.#steps, -1)
    this.#isExceeded = true
  }

  /**
   * Charges the parsing of conditions, which the thread then caches. The steps count toward the time until
   * the next pause, not toward the cost of the query. Returns false if the conditions must wait for the next
   * evaluation. The first ones are always parsed, so that each evaluation makes progress.
   */
  spendReading(steps: number): boolean {
    const isFirst = this.#reading === 0
    this.#reading += steps
    if (isFirst || this.#reading <= this.#stepsMax * READING_SHARE) return true
    this.#isUnread = true
    return false
  }

  /** Returns whether conditions were not parsed, so that the query has to be evaluated again. */
  get isUnread(): boolean {
    return this.#isUnread
  }

  #within(left: number): boolean {
    if (left >= 0) return true
    this.#isExceeded = true
    return false
  }
}
