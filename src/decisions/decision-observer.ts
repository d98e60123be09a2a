/** Interfaces for observers of decisions and plans: counters and the decision log. */
import type { PlanKind } from '#filter/tree.ts'
import { InvariantError } from '#model/assert.ts'
import type { AskingClient } from '#model/caller.ts'
import type { Query } from '#model/decision.ts'
import type { Question, Verdicts } from '#model/question.ts'

/** The members of a `Question` that observers read. */
export interface DecidedQuestion {
  readonly isSingle: boolean
  readonly nonUserCount: number
  query(index: number): Query
}

/**
 * Observes every decision, synchronously and on the thread that made the decision. Its method must not throw.
 */
export interface DecisionObserver {
  /**
   * Whether `decided` calls `query`. If not, the checks of a question that is decided later need not be
   * copied.
   */
  readonly readsChecks: boolean
  /** Called once with all decisions that a response contains, or with those of one part of a response. */
  decided(verdicts: Verdicts, asked: DecidedQuestion, environmentId: string, client: AskingClient): void
}

/** A plan that was made, or refused because it has no exact filter. */
export interface PlanOutcome {
  readonly kind: PlanKind | 'refused'
  /** Number of elements in all lists of the filter. */
  readonly ids: number
  readonly seconds: number
  readonly question: {
    readonly user: string
    readonly action: string
    readonly type: string
    readonly tenant: string | null
  }
}

/** Observes every plan on the thread that received the request. Its method must not throw. */
export interface PlanObserver {
  planned(outcome: PlanOutcome, environmentId: string, client: AskingClient): void
}

/** Returns the rest of a question whose checks are not read. */
export function countsOf({ isSingle, nonUserCount }: Question): DecidedQuestion {
  return { isSingle, nonUserCount, query: unread }
}

export function unread(): never {
  throw new InvariantError('the checks of this question were not kept')
}
