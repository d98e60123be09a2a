/** Decides by rules: the queries of a batch or a single query, if roles have denied them. */
import { STEPS_MAX } from '#conditions/values/evaluation-budget.ts'
import type { TriedQuestion } from '#engine/engine.ts'
import type { ListingParts } from '#engine/shared-index/search/listings.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { attributesBlock } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { FLAG_READS_ROLES, FLAG_READS_TENANTS } from '#engine/shared-index/rules/rule-code.ts'
import type { PlanView } from '#engine/shared-index/rules/rules-view.ts'
import type { Query } from '#model/decision.ts'
import type { QueryTerms } from '#model/packed-queries.ts'
import type { BatchLookup } from './batch-lookup.ts'
import type { BatchSource } from './batch-source.ts'
import { ALLOW } from './check.ts'
import { BATCH_MAX } from './key-column.ts'
import type { ResolvedQuery } from './question.ts'
import { Gathering, gatherLookups } from './rule-check.ts'
import { RuleEvaluation, type RuledOutcome } from './rule-evaluation.ts'
import type { Lookup } from './merged-values.ts'
import { type AskedRules, NO_LOOKUPS, NO_SOURCE, type QuestionSource } from './rule-values.ts'

/** A batch whose names have been looked up. */
export interface AskedBatch {
  readonly source: BatchSource
  readonly lookup: BatchLookup
  readonly from: number
  readonly count: number
  readonly sequence: number
}

/** A query that roles have denied. */
export interface AskedQuestion {
  /** Terms of the query. Its type and action are declared. */
  readonly terms: QueryTerms
  readonly source: QuestionSource
  readonly user: number
  readonly sequence: number
  /** Maximum number of steps for the conditions of this query. */
  readonly stepsMax: number
}

/** Maximum number of steps for the conditions of any one query. */
export const QUESTION_STEPS = STEPS_MAX

/**
 * State of a query between evaluations: the steps that it can use now, the steps that earlier evaluations
 * used, and the instances that must be looked up.
 */
export interface Attempt {
  readonly stepsMax: number
  readonly spent: number
  readonly lookups: readonly Lookup[]
}

/** Step limits: for all queries of a batch together, and for a single query. */
export interface BatchSteps {
  readonly stepsMax: number
  readonly ofOneMax: number
}

/** Returns the decision, or `null` if more steps or more parsed conditions could change it. */
export function settled(outcome: Exclude<RuledOutcome, object>, stepsMax: number): boolean | null {
  if (typeof outcome === 'boolean') return outcome
  return outcome === 'exceeded' && stepsMax >= STEPS_MAX ? false : null
}

/**
 * A plan without rules that makes `gather` read all roles and tenants of a user. Its other members are not
 * used.
 */
const EVERYTHING = { flags: FLAG_READS_ROLES | FLAG_READS_TENANTS } as PlanView

export class RuleQuestions {
  readonly #question: ResolvedQuery
  readonly #evaluation: RuleEvaluation
  readonly #single = new Gathering()
  readonly #batch = new Gathering()
  /**
   * Queries of the current batch that rules must decide: their indexes, plans and lines. If the line of the
   * user is -1, the names must be looked up again.
   */
  readonly #indexes = new Int32Array(BATCH_MAX)
  readonly #plans: PlanView[] = []
  readonly #users = new Int32Array(BATCH_MAX)
  readonly #instances = new Int32Array(BATCH_MAX)
  readonly #asked: AskedRules[] = []
  #askedCount = 0

  /**
   * Stores a value that depends on all prefetching loads, so that the compiler does not remove the loads. The
   * value has no meaning.
   */
  prefetchSink = 0

  constructor(regions: Regions, question: ResolvedQuery) {
    this.#question = question
    this.#evaluation = new RuleEvaluation(regions.attributeNames)
  }

  /** Cost of all queries so far, see `RuleEvaluation.steps`. */
  get steps(): number {
    return this.#evaluation.steps
  }

  /** Number of steps that the last query used. */
  get spent(): number {
    return this.#evaluation.spent
  }

  decide(asked: AskedRules): RuledOutcome {
    return this.#evaluation.decide(asked)
  }

  /**
   * Collects the values of one query. Its names are resolved, and `user` is the line of its user. Returns
   * `null` if no rule can allow the query.
   */
  gather(
    parts: ListingParts,
    { terms, source, user, sequence, stepsMax }: AskedQuestion,
    lookups: readonly Lookup[] = NO_LOOKUPS,
    gathering = this.#single,
  ): AskedRules | null {
    const question = this.#question
    const plan = parts.schema.rules?.planOf(terms.type, terms.action)
    if (!plan || question.isMismatch || question.tenant === 0) return null
    parts.regions.attributeNames.refresh()
    gathering.begin(sequence)
    const asked = gathering.next(plan, source, 0)
    asked.stepsMax = stepsMax
    gathering.gather(asked, parts, user, question)
    if (lookups.length > 0) this.#gatherLookups(asked, parts, lookups)
    return asked
  }

  /**
   * Collects all values that conditions can read, for a query that tries given conditions instead of rules.
   * Entities that are not stored have no values.
   */
  gatherTried(
    parts: ListingParts,
    { user, type, key, tenant }: TriedQuestion,
    lookups: readonly Lookup[],
    sequence: number,
  ): AskedRules {
    const question = this.#question
    parts.regions.attributeNames.refresh()
    const typeId = type === null ? undefined : parts.schema.types.get(type)?.id
    question.resolve(typeId === undefined ? 0 : question.findInstance(typeId, key), tenant, sequence)
    const gathering = new Gathering()
    gathering.begin(sequence)
    const asked = gathering.next(EVERYTHING, NO_SOURCE, 0)
    if (question.tenant !== 0)
      gathering.gather(asked, parts, user === null ? 0 : question.findUser(user), question)
    asked.tenant = tenant
    if (lookups.length > 0) this.#gatherLookups(asked, parts, lookups)
    return asked
  }

  #gatherLookups(asked: AskedRules, parts: ListingParts, lookups: readonly Lookup[]): void {
    const question = this.#question
    const lookUp = ({ type, key }: Lookup): number => {
      const view = parts.schema.types.get(type)
      return view === undefined ? 0 : question.findInstance(view.id, key)
    }
    gatherLookups(asked, parts, question.tenant, { lookups, lookUp })
  }

  /** Returns whether rules must decide queries of the last batch. */
  get hasAsked(): boolean {
    return this.#askedCount > 0
  }

  /**
   * Collects the values of all queries of the batch that roles have denied. If the batch is repeated, the
   * values of the earlier attempt are discarded.
   */
  gatherBatch(parts: ListingParts, batch: AskedBatch, answers: Uint8Array): void {
    this.#askedCount = 0
    if (!parts.schema.hasRules) return
    const { source, lookup, from, sequence } = batch
    parts.regions.attributeNames.refresh()
    this.#batch.begin(sequence)
    const denied = this.#denied(parts, batch, answers)
    this.#prefetch(parts.regions, denied)
    const question = this.#question
    for (let n = 0; n < denied; n++) {
      const index = this.#indexes[n]!
      let user = this.#users[n]!
      if (user < 0) {
        const { type, key, tenant, user: name } = source.query(from + index)
        user = question.findUser(name)
        question.resolve(question.findInstance(parts.schema.types.get(type)!.id, key), tenant, sequence)
      } else question.resolve(this.#instances[n]!, lookup.tenants[index]!, sequence)
      if (question.isMismatch || question.tenant === 0) continue
      const asked = this.#batch.next(this.#plans[n]!, source, from + index)
      this.#batch.gather(asked, parts, user, question)
      this.#asked[this.#askedCount++] = asked
    }
  }

  /**
   * Decides the collected queries of a batch. `again` repeats a query with further instances or steps, and
   * returns `null` if the query needs more steps than it can use now. If the queries have used more than
   * `stepsMax` steps, or one query needs more than `ofOneMax`, returns the index of the first undecided
   * query. Otherwise returns `null`.
   */
  settle(
    answers: Uint8Array,
    again: (query: Query, attempt: Attempt) => boolean | null,
    { stepsMax, ofOneMax }: BatchSteps,
  ): number | null {
    const count = this.#askedCount
    const { steps } = this.#evaluation
    try {
      for (let n = 0; n < count; n++) {
        const asked = this.#asked[n]!
        const { source, index } = asked
        if (this.#evaluation.steps - steps > stepsMax) return index
        asked.stepsMax = ofOneMax
        const outcome = this.#evaluation.decide(asked)
        const isAllowed =
          typeof outcome === 'object'
            ? again(source.query(index), { stepsMax: ofOneMax, spent: this.spent, lookups: outcome.lookups })
            : settled(outcome, ofOneMax)
        if (isAllowed === null) return index
        if (isAllowed) answers[index] = ALLOW
      }
      return null
    } finally {
      this.forgetBatch()
    }
  }

  /** Releases the values that were collected for a batch. */
  forgetBatch(): void {
    if (this.#askedCount === 0) return
    this.#askedCount = 0
    this.#asked.length = 0
    this.#batch.end()
    this.#evaluation.end()
  }

  /** Selects the denied queries of the batch whose action has rules. Returns the number of these queries. */
  #denied(
    { schema }: ListingParts,
    { lookup, source, from, count }: AskedBatch,
    answers: Uint8Array,
  ): number {
    const { actions, users, instances } = lookup
    let denied = 0
    let terms: QueryTerms | null = null
    let plan: PlanView | null = null
    for (let i = 0; i < count; i++) {
      if (answers[from + i] === ALLOW || actions[i] === null) continue
      const next = source.terms(from + i)
      if (terms === null || next.type !== terms.type || next.action !== terms.action) {
        terms = next
        plan = schema.rules?.planOf(next.type, next.action) ?? null
      }
      if (plan === null) continue
      const isUnclear = (users.isUnclear[i]! | instances.isUnclear[i]!) !== 0
      this.#indexes[denied] = i
      this.#plans[denied] = plan
      this.#users[denied] = isUnclear ? -1 : users.lines[i]!
      this.#instances[denied] = isUnclear ? 0 : instances.lines[i]!
      denied += 1
    }
    return denied
  }

  /** Prefetches the attributes of all selected queries, so that the cache misses overlap. */
  #prefetch({ graph }: Regions, denied: number): void {
    let sink = 0
    for (let n = 0; n < denied; n++) {
      const user = attributesBlock(graph, Math.max(this.#users[n]!, 0))
      const instance = attributesBlock(graph, this.#instances[n]!)
      // Loads two lines per row, because most rows have at most two lines.
      sink ^= graph[user]! ^ graph[user + L.LINE_WORDS]! ^ graph[instance]! ^ graph[instance + L.LINE_WORDS]!
    }
    this.prefetchSink ^= sink
  }
}
