/**
 * Serves AuthZEN evaluations (authzen.md 3 and 4): single evaluations, and batches with defaults, which items
 * can replace, and the three evaluation semantics. A denial is a normal result. An invalid item also gets a
 * result at its position in the batch; the context of that result contains the reason.
 */
import type { Query } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import { FailsafeQueryContext } from '#model/failsafe-query-context.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import type {
  Decision,
  EvaluationRequest,
  EvaluationSemantic,
  EvaluationsRequest,
} from '#model/wire/decisions/access.ts'
import { attributesOf, type Defaults, defaultsOf, withDefaults } from '#decisions/dialects/access-defaults.ts'
import { queryOf } from '#decisions/dialects/access-mapping.ts'
import type { WaitingClient } from '#model/caller.ts'
import type { DecisionService } from './decision-service.ts'
import { AccessQueryContext } from '#decisions/questions/request-attributes.ts'

export interface AccessOptions {
  /** Resource types whose ids are user keys (native.md D-17). */
  readonly subjectTypes: ReadonlySet<string>
  /** Parses an evaluation. Throws `INVALID_SHAPE` with a description of the problem. */
  readonly readEvaluation: (value: unknown) => EvaluationRequest
}

/**
 * Number of items that are evaluated together if the semantic can end the batch early. It is large enough for
 * an efficient evaluation, and small enough that little work is wasted.
 */
const STAGE_ITEMS = 64

interface Evaluations {
  readonly evaluations: Decision[]
}

/** Outcome of reading an item: a decision that needs no evaluation, or the index of the query to evaluate. */
type Outcome = Decision | { readonly query: number; readonly queryContext: FailsafeQueryContext | null }

/**
 * Data needed to read the items: the defaults that they inherit and, if conditions can read it, the time of
 * the request.
 */
interface Reading {
  readonly batch: EvaluationsRequest
  readonly defaults: Defaults
  readonly readAt: number | null
}

interface ReadItems {
  readonly queries: readonly Query[]
  readonly outcomes: readonly Outcome[]
}

export class AccessService {
  readonly #decisions: DecisionService
  readonly #options: AccessOptions

  constructor(decisions: DecisionService, options: AccessOptions) {
    this.#decisions = decisions
    this.#options = options
  }

  /** Evaluates a single check. Returns a promise in the same cases as `DecisionService.evaluate`. */
  evaluate(
    environmentId: string,
    evaluation: EvaluationRequest,
    waiting: WaitingClient,
  ): Decision | Promise<Decision> {
    if (!this.isUserType(evaluation.subject.type)) return { decision: false }
    const readAt = this.#decisions.readAt(environmentId)
    const queryContext = readAt === null ? null : new AccessQueryContext(evaluation, readAt)
    const decided = this.#decisions.evaluate(environmentId, queryOf(evaluation, queryContext), waiting)
    return decided instanceof Promise ? decided.then(decision => ({ decision })) : { decision: decided }
  }

  /** Returns the time of the request for conditions, see `DecisionService.readAt`. */
  readAt(environmentId: string): number | null {
    return this.#decisions.readAt(environmentId)
  }

  /**
   * Like `evaluate`, for the first query of several packed queries. The type of its subject must be a user
   * type.
   */
  evaluateFirst(
    environmentId: string,
    packed: PackedQueries,
    waiting: WaitingClient,
  ): boolean | Promise<boolean> {
    return this.#decisions.evaluateFirst(environmentId, packed, waiting)
  }

  /** Returns whether subjects of this type are users. The model does not know subjects of other types. */
  isUserType(type: string): boolean {
    return this.#options.subjectTypes.has(type)
  }

  /**
   * Evaluates a batch. A batch without items is a single evaluation of its defaults (authzen.md 4.1). Returns
   * a promise if the pool evaluates the batch.
   */
  evaluateBatch(
    environmentId: string,
    batch: EvaluationsRequest,
    waiting: WaitingClient,
  ): Decision | Evaluations | Promise<Decision | Evaluations> {
    const items = batch.evaluations ?? []
    if (items.length === 0) return this.evaluate(environmentId, this.#options.readEvaluation(batch), waiting)
    this.#decisions.requireBulkSize(items.length)
    const semantic = batch.options?.evaluations_semantic ?? 'execute_all'
    const reading = { batch, defaults: defaultsOf(batch), readAt: this.#decisions.readAt(environmentId) }
    if (semantic === 'execute_all') return this.#answerAll(environmentId, this.#read(items, reading), waiting)
    return this.#answerUntilStop(environmentId, items, { reading, semantic, waiting })
  }

  async #answerUntilStop(
    environmentId: string,
    items: readonly unknown[],
    {
      reading,
      semantic,
      waiting,
    }: { reading: Reading; semantic: EvaluationSemantic; waiting: WaitingClient },
  ): Promise<Evaluations> {
    const evaluations: Decision[] = []
    const onDecided = this.#decisions.answered()
    for (let start = 0; start < items.length; start += STAGE_ITEMS) {
      const stage = this.#read(items.slice(start, start + STAGE_ITEMS), reading)
      const answered = await this.#answerStage(environmentId, stage, { semantic, waiting, onDecided })
      for (const decision of answered) evaluations.push(decision)
      if (stops(semantic, answered.at(-1)!)) break
    }
    return { evaluations }
  }

  /** Evaluates a packed batch. All its items are valid, and all of them need a result. */
  evaluatePacked(
    environmentId: string,
    packed: PackedQueries,
    waiting: WaitingClient,
  ): ReturnType<DecisionService['evaluatePacked']> {
    return this.#decisions.evaluatePacked(environmentId, packed, waiting)
  }

  #read(items: readonly unknown[], { batch, defaults, readAt }: Reading): ReadItems {
    const queries: Query[] = []
    const outcomes = items.map((item): Outcome => {
      try {
        const evaluation = this.#options.readEvaluation(withDefaults(item, defaults))
        if (!this.isUserType(evaluation.subject.type)) return { decision: false }
        const queryContext =
          readAt === null
            ? null
            : new FailsafeQueryContext(new AccessQueryContext(attributesOf(item, batch), readAt))
        return { query: queries.push(queryOf(evaluation, queryContext)) - 1, queryContext }
      } catch (error) {
        if (!(error instanceof AuthzError)) throw error
        return failed(error)
      }
    })
    return { queries, outcomes }
  }

  #answerAll(
    environmentId: string,
    { queries, outcomes }: ReadItems,
    waiting: WaitingClient,
  ): Evaluations | Promise<Evaluations> {
    const decided = this.#decisions.evaluateBulk(environmentId, queries, waiting)
    if (decided instanceof Promise)
      return decided.then(verdicts => ({ evaluations: decisionsOf(outcomes, verdicts) }))
    return { evaluations: decisionsOf(outcomes, decided) }
  }

  /**
   * Returns the results of the items, up to the item at which the semantic ends the batch. Decisions on later
   * items are not returned.
   */
  async #answerStage(
    environmentId: string,
    { queries, outcomes }: ReadItems,
    {
      semantic,
      waiting,
      onDecided,
    }: {
      readonly semantic: EvaluationSemantic
      readonly waiting: WaitingClient
      readonly onDecided: ReturnType<DecisionService['answered']>
    },
  ): Promise<Decision[]> {
    const decided = await this.#decisions.decideAhead(environmentId, queries, waiting)
    const decisions = decisionsOf(outcomes, decided)
    const stop = decisions.findIndex(decision => stops(semantic, decision))
    const answered = stop < 0 ? decisions : decisions.slice(0, stop + 1)
    const asked = outcomes.slice(0, answered.length).filter(outcome => 'query' in outcome).length
    onDecided(environmentId, queries.slice(0, asked), Array.from(decided).slice(0, asked))
    return answered
  }
}

function decisionsOf(outcomes: readonly Outcome[], decided: ArrayLike<boolean | number>): Decision[] {
  return outcomes.map(outcome => {
    if (!('query' in outcome)) return outcome
    const failure = outcome.queryContext?.failure
    return failure ? failed(failure) : { decision: Boolean(decided[outcome.query]) }
  })
}

function failed(error: AuthzError): Decision {
  return { decision: false, context: { error: { status: 400, message: error.message } } }
}

function stops(semantic: EvaluationSemantic, { decision }: Decision): boolean {
  return decision === (semantic === 'permit_on_first_permit')
}
