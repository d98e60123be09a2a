/**
 * Serves AuthZEN evaluations (authzen.md 3 and 4): single evaluations, and batches with defaults, which items
 * can replace, and the three evaluation semantics. A denial is a normal result. An invalid item also gets a
 * result at its position in the batch; the context of that result contains the reason.
 */
import type { Query } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import { FailsafeQueryContext } from '#model/failsafe-query-context.ts'
import { TextQuestion, type Verdicts } from '#model/question.ts'
import type {
  Decision,
  EvaluationRequest,
  EvaluationSemantic,
  EvaluationsRequest,
} from '#model/wire/decisions/access.ts'
import { attributesOf, type Defaults, defaultsOf, withDefaults } from '#decisions/dialects/access-defaults.ts'
import { queryOf } from '#decisions/dialects/access-mapping.ts'
import type { AskingClient, WaitingClient } from '#model/caller.ts'
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

type Client = WaitingClient & AskingClient

interface Evaluations {
  readonly evaluations: Decision[]
}

/** Outcome of reading an item: a decision that needs no evaluation, or the index of the query to evaluate. */
type Outcome = Decision | { readonly query: number; readonly queryContext: FailsafeQueryContext }

/** Data needed to read the items: the defaults that they inherit, and the time of the request. */
interface Reading {
  readonly batch: EvaluationsRequest
  readonly defaults: Defaults
  readonly readAt: number
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
    client: Client,
  ): Decision | Promise<Decision> {
    if (!this.isUserType(evaluation.subject.type)) return { decision: false }
    const queryContext = new AccessQueryContext(evaluation, this.#decisions.now())
    const question = TextQuestion.single(queryOf(evaluation, queryContext))
    const decided = this.#decisions.evaluate(environmentId, question, client)
    return decided instanceof Promise ? decided.then(decisionOf) : decisionOf(decided)
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
    client: Client,
  ): Decision | Evaluations | Promise<Decision | Evaluations> {
    const items = batch.evaluations ?? []
    if (items.length === 0) return this.evaluate(environmentId, this.#options.readEvaluation(batch), client)
    this.#decisions.requireBulkSize(items.length)
    const semantic = batch.options?.evaluations_semantic ?? 'execute_all'
    const reading = { batch, defaults: defaultsOf(batch), readAt: this.#decisions.now() }
    if (semantic === 'execute_all') return this.#answerAll(environmentId, this.#read(items, reading), client)
    return this.#answerUntilStop(environmentId, items, { reading, semantic, client })
  }

  async #answerUntilStop(
    environmentId: string,
    items: readonly unknown[],
    { reading, semantic, client }: { reading: Reading; semantic: EvaluationSemantic; client: Client },
  ): Promise<Evaluations> {
    const evaluations: Decision[] = []
    for (let start = 0; start < items.length; start += STAGE_ITEMS) {
      const stage = this.#read(items.slice(start, start + STAGE_ITEMS), reading)
      const answered = await this.#answerStage(environmentId, stage, semantic, client)
      for (const decision of answered) evaluations.push(decision)
      if (stops(semantic, answered.at(-1)!)) break
    }
    return { evaluations }
  }

  #read(items: readonly unknown[], { batch, defaults, readAt }: Reading): ReadItems {
    const queries: Query[] = []
    const outcomes = items.map((item): Outcome => {
      try {
        const evaluation = this.#options.readEvaluation(withDefaults(item, defaults))
        if (!this.isUserType(evaluation.subject.type)) return { decision: false }
        const queryContext = new FailsafeQueryContext(
          new AccessQueryContext(attributesOf(item, batch), readAt),
        )
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
    client: Client,
  ): Evaluations | Promise<Evaluations> {
    const decided = this.#decisions.evaluate(environmentId, new TextQuestion(queries), client)
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
    semantic: EvaluationSemantic,
    client: Client,
  ): Promise<Decision[]> {
    const answeredOf = (decided: Verdicts): Decision[] => {
      const decisions = decisionsOf(outcomes, decided)
      const stop = decisions.findIndex(decision => stops(semantic, decision))
      return stop < 0 ? decisions : decisions.slice(0, stop + 1)
    }
    const countReturned = (decided: Verdicts): number => {
      const answered = outcomes.slice(0, answeredOf(decided).length)
      return answered.filter(outcome => 'query' in outcome).length
    }
    const question = new TextQuestion(queries)
    return answeredOf(await this.#decisions.evaluate(environmentId, question, client, countReturned))
  }
}

function decisionOf(verdicts: Verdicts): Decision {
  return { decision: verdicts[0] === 1 }
}

function decisionsOf(outcomes: readonly Outcome[], decided: Verdicts): Decision[] {
  return outcomes.map(outcome => {
    if (!('query' in outcome)) return outcome
    const { failure } = outcome.queryContext
    return failure ? failed(failure) : { decision: Boolean(decided[outcome.query]) }
  })
}

function failed(error: AuthzError): Decision {
  return { decision: false, context: { error: { status: 400, message: error.message } } }
}

function stops(semantic: EvaluationSemantic, { decision }: Decision): boolean {
  return decision === (semantic === 'permit_on_first_permit')
}
