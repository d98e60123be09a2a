/** Serves plans (filter.md): computes them in slices, and passes them to the observer. */
import type { PlanKind } from '#filter/tree.ts'
import { assert } from '#model/assert.ts'
import type { AskingClient, CancelableClient } from '#model/caller.ts'
import { AuthzError, type ErrorCode } from '#model/errors.ts'
import type { PlanQuery } from '#model/wire/decisions/plan.ts'
import { plannedQuestionOf } from '#decisions/plan/plan-query.ts'
import type { PlanAnswer, PlannedQuestion } from '#decisions/plan/planned-question.ts'
import type { Progress, ProgressSource } from '#decisions/questions/min-revision.ts'
import { sendable } from '#decisions/questions/sendable-query.ts'
import type { PlanObserver, PlanOutcome } from './decision-observer.ts'
import type { DecisionService } from './decision-service.ts'

/** A plan, with the state and the time that it reflects. */
export interface MadePlan extends PlanAnswer {
  /** Revision that the plan includes. */
  readonly revision: string
  /** Time of the plan, in milliseconds since 1970. */
  readonly asOf: number
}

/** Errors of plans without an exact filter. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'UNKNOWN_RELATION',
  'FILTER_NOT_EXPRESSIBLE',
  'FILTER_TOO_LARGE',
  'FILTER_TOO_COSTLY',
])

export class PlanService {
  readonly #decisions: DecisionService
  readonly #progress: Pick<ProgressSource, 'progress'>
  readonly #observer: PlanObserver | null
  readonly #elapsedMs: () => number

  constructor(
    decisions: DecisionService,
    parts: {
      readonly progress: Pick<ProgressSource, 'progress'>
      readonly observer: PlanObserver | null
      /** Returns milliseconds of a clock that is never set back. */
      readonly elapsedMs: () => number
    },
  ) {
    this.#decisions = decisions
    this.#progress = parts.progress
    this.#observer = parts.observer
    this.#elapsedMs = parts.elapsedMs
  }

  /**
   * Computes a plan. Rejects with `LIMIT_EXCEEDED` or `INVALID_SHAPE` if the request is not valid, with the
   * errors of `plan-errors.ts` if no filter is exact, and with the errors of `DecisionService.read`.
   */
  async plan(
    environmentId: string,
    body: PlanQuery,
    client: CancelableClient & AskingClient,
  ): Promise<MadePlan> {
    const from = this.#elapsedMs()
    const asOf = this.#decisions.now()
    const question = plannedQuestionOf(body, asOf)
    const observe = (kind: PlanOutcome['kind'], ids: number): void => {
      const seconds = (this.#elapsedMs() - from) / 1_000
      this.#observer?.planned({ kind, ids, seconds, question }, environmentId, client)
    }
    try {
      const answer = await this.#answer(environmentId, question, client)
      observe(answer.kind satisfies PlanKind, answer.ids)
      return { ...answer, asOf }
    } catch (error) {
      if (error instanceof AuthzError && REFUSALS.has(error.code)) observe('refused', 0)
      throw error
    }
  }

  async #answer(
    environmentId: string,
    question: PlannedQuestion,
    client: CancelableClient,
  ): Promise<Omit<MadePlan, 'asOf'>> {
    const { epoch, revision } = this.#progressOf(environmentId)
    const job = { kind: 'plan', question: sendable(question) } as const
    const answer = await this.#decisions.read<'plan'>(environmentId, job, client)
    // The revision was read before the plan. So the plan includes it, and every later commit that the plan
    // does not include has a later revision.
    if (this.#progressOf(environmentId).epoch === epoch) return { ...answer, revision }
    throw new AuthzError('NOT_READY', 'this environment was replaced during the plan; try again shortly')
  }

  #progressOf(environmentId: string): Progress {
    this.#decisions.engine(environmentId)
    const progress = this.#progress.progress(environmentId)
    assert(progress !== null, 'an environment with an engine has a revision')
    return progress
  }
}
