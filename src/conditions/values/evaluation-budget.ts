/**
 * Limits the cost of the conditions of one query. When the limit is reached, the remaining tests are unknown,
 * which grants no access (conditions.md 11). The rules of an environment can thus occupy a thread only for a
 * limited time.
 */
import { LOOKUP_STEPS, PARSED_BYTE_STEPS } from './step-costs.ts'

/** Maximum number of lookups of instances by `fk_resource_type`. */
export const LOOKUPS_MAX = 1_000
/**
 * Maximum number of steps per query, counted as in `step-costs.ts`. They take at most about 20 milliseconds.
 */
export const STEPS_MAX = 2_000_000
/**
 * Part of the steps of an evaluation that may be used to parse conditions which the thread has not parsed
 * before.
 */
const READING_SHARE = 0.25

export class EvaluationBudget {
  readonly #stepsMax: number
  #steps: number
  #lookups: number
  #isExceeded = false
  #reading = 0
  #isUnread = false

  constructor(stepsMax = STEPS_MAX, lookupsMax = LOOKUPS_MAX) {
    this.#stepsMax = stepsMax
    this.#steps = stepsMax
    this.#lookups = lookupsMax
  }

  /** Returns whether an operation was refused because of the limits. */
  get isExceeded(): boolean {
    return this.#isExceeded
  }

  /** Number of steps used so far. */
  get spent(): number {
    return this.#stepsMax - this.#steps
  }

  /** Charges an operation to the budget. If it returns false, the operation must not be performed. */
  spend(steps: number): boolean {
    this.#steps -= steps
    return this.#within(this.#steps)
  }

  spendLookup(): boolean {
    this.#lookups--
    return this.#within(this.#lookups) && this.spend(LOOKUP_STEPS)
  }

  /**
   * Charges the parsing of stored attributes to the budget. Call it before parsing. If it returns false, the
   * attributes must not be parsed.
   */
  spendParsing(bytes: number): boolean {
    return this.spend(bytes * PARSED_BYTE_STEPS)
  }

  /** Makes all further tests unknown. */
  refuse(): void {
    this.#steps = Math.min(this.#steps, -1)
    this.#isExceeded = true
  }

  /**
   * Charges the parsing of conditions, which the thread then caches. These steps do not reduce the steps of
   * the query. They have a separate limit, which bounds the time until the next pause. If the method returns
   * false, the conditions must wait for the next evaluation. The first conditions of an evaluation are always
   * parsed, so that each evaluation makes progress.
   */
  spendReading(steps: number): boolean {
    const isFirst = this.#reading === 0
    this.#reading += steps
    if (isFirst || this.#reading <= this.#stepsMax * READING_SHARE) return true
    this.#isUnread = true
    return false
  }

  /** Returns whether some conditions were not parsed. The query must then be evaluated again. */
  get isUnread(): boolean {
    return this.#isUnread
  }

  #within(left: number): boolean {
    if (left >= 0) return true
    this.#isExceeded = true
    return false
  }
}
