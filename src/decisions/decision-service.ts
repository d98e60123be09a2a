/**
 * Serves decision requests. Most are decided synchronously, on the thread that parsed them, with an engine of
 * that thread. Expensive work goes to a pool, if there is one.
 */
import type { DecisionEngine, KeyPage } from '#engine/engine.ts'
import type { RuleDetail } from '#engine/explanation.ts'
import type { Query } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import { EXPLAIN_LENGTH_MAX, EXPLAIN_STEPS_MAX } from '#model/limits.ts'
import { PackedQueries, packQueries } from '#model/packed-queries.ts'
import type { ExplainedDecision } from '#decisions/rules/decision-debug.ts'
import type { DecisionPool, SearchJob, SlicedAnswer, SlicedJob, SlicedKind } from './decision-pool.ts'
import type { CancelableClient, WaitingClient } from '#model/caller.ts'
import { LongDecisions } from './long-decisions.ts'
import { type DecideElsewhere, type Deciding, RuledBulk, STEPS_AT_ONCE } from '#decisions/rules/ruled-bulk.ts'
import { searchWith } from './search-job.ts'
import { sendable } from '#decisions/questions/sendable-query.ts'
import { readWith } from './sliced-job.ts'
import { Admission } from '#scheduling/admission.ts'
import { LongReads, type PausingWork, type SlicedWork } from '#scheduling/sliced-work.ts'
import type { ExplainedDecisions } from '#decisions/rules/explained-decisions.ts'

/**
 * Number of explanations per job. The results of a job are sent to another thread and put into the response
 * in one step.
 */
const EXPLAINED_AT_ONCE = 64
/** Source of the engines of a thread. */
export interface EngineSource {
  /**
   * Returns the engine of an environment, or null while the environment is not loaded. Throws `STALE` if the
   * state of the engine is too old for decisions, and `ENVIRONMENT_CLOSED` if the environment has no engine.
   */
  engine(environmentId: string): DecisionEngine | null
  /**
   * Returns whether the environment has rules. Returns false if the environment has no engine. It is called
   * for each request and therefore checks nothing else, such as staleness.
   */
  hasRules(environmentId: string): boolean
}

/**
 * Observes every decision, synchronously and on the thread that made the decision. Its methods must not
 * throw.
 */
export interface DecisionObserver {
  /** Called with a single decision. If `asked` is packed, the decision is on its first query. */
  decided(isAllowed: boolean, environmentId: string, asked: Query | PackedQueries): void
  /** Called with the decisions of a bulk or batch, in the order of its queries. */
  decidedAll(
    decisions: ArrayLike<boolean | number>,
    environmentId: string,
    asked: readonly Query[] | PackedQueries,
  ): void
  /**
   * Returns a function like `decidedAll` that still belongs to the current request when it is called later,
   * in another iteration of the event loop.
   */
  later(): (decisions: ArrayLike<boolean | number>, environmentId: string, asked: readonly Query[]) => void
  /**
   * Announces queries of the current request that will be decided later, because their bytes might have been
   * reused by then. Returns the function to call with the decisions.
   */
  asked(
    environmentId: string,
    asked: Query | readonly Query[] | PackedQueries,
  ): (decisions: ArrayLike<boolean | number>) => void
}

export class DecisionService {
  readonly #engines: EngineSource
  readonly #bulkChecksMax: number
  readonly #observer: DecisionObserver | null
  readonly #pool: DecisionPool | null
  /** Runs sliced reads if there is no pool. */
  readonly #reads: LongReads
  readonly #sliced: SlicedWork
  /** Bulks of environments with rules. A single environment can use half of the slots. */
  readonly #ruledBulks: Admission
  /** Null if there is no pool. */
  readonly #longDecisions: LongDecisions | null
  readonly #now: () => number

  /**
   * `pool` runs expensive work; if it is null, this thread does all work. `sliced` divides the time of this
   * thread. `now` returns milliseconds since 1970.
   */
  constructor(
    engines: EngineSource,
    limits: { readonly bulkChecksMax: number; readonly poolJobsMax: number },
    parts: {
      readonly observer: DecisionObserver | null
      readonly pool: DecisionPool | null
      readonly sliced: SlicedWork
      readonly now: () => number
    },
  ) {
    this.#now = parts.now
    this.#sliced = parts.sliced
    this.#engines = engines
    this.#bulkChecksMax = limits.bulkChecksMax
    this.#observer = parts.observer
    this.#pool = parts.pool
    this.#reads = new LongReads(parts.sliced, limits.poolJobsMax)
    this.#ruledBulks = new Admission({
      max: limits.poolJobsMax,
      shareMax: Math.ceil(limits.poolJobsMax / 2),
    })
    this.#longDecisions = parts.pool && new LongDecisions(parts.pool)
  }

  /**
   * Returns the time of the request for conditions. Returns null if the environment has no rules or no
   * engine. In that case, no condition reads the time, the attributes or the context of its queries.
   */
  readAt(environmentId: string): number | null {
    return this.#engines.hasRules(environmentId) ? this.#now() : null
  }

  /**
   * Decides a single query. Unknown names give false. Throws `NOT_READY` while the environment is not loaded.
   * Returns a promise only if conditions take long, or if the rules of the environment have used up their
   * quota in this event-loop iteration.
   */
  evaluate(environmentId: string, query: Query, waiting: WaitingClient): boolean | Promise<boolean> {
    if (query.queryContext !== undefined) return this.#evaluateRuledOne(environmentId, query, waiting)
    const isAllowed = this.engine(environmentId).evaluate(query)
    this.#observer?.decided(isAllowed, environmentId, query)
    return isAllowed
  }

  /** Like `evaluate`, for the first query of several packed queries. */
  evaluateFirst(
    environmentId: string,
    packed: PackedQueries,
    waiting: WaitingClient,
  ): boolean | Promise<boolean> {
    if (packed.readAt !== null) return this.#evaluateRuledOne(environmentId, packed, waiting)
    const isAllowed = this.engine(environmentId).evaluateFirst(packed)
    this.#observer?.decided(isAllowed, environmentId, packed)
    return isAllowed
  }

  /**
   * Decides one query of an environment with rules: immediately, or after other queries of this thread that
   * are in progress.
   */
  #evaluateRuledOne(
    environmentId: string,
    asked: Query | PackedQueries,
    waiting: WaitingClient,
  ): boolean | Promise<boolean> {
    const { budget } = this.#sliced
    let isLong = false
    if (this.#hasTime(environmentId)) {
      const engine = this.engine(environmentId)
      const from = budget.elapsedMs()
      try {
        const isAllowed = engine.evaluateWithin(asked, this.#stepsAtOnce(environmentId))
        isLong = isAllowed === null
        if (isAllowed !== null) {
          this.#observer?.decided(isAllowed, environmentId, asked)
          return isAllowed
        }
      } finally {
        budget.spend(environmentId, budget.elapsedMs() - from)
      }
    }
    const decided = this.#observer?.asked(environmentId, asked)
    const bulk = new RuledBulk(asked instanceof PackedQueries ? asked : [asked], isLong)
    bulk.detach()
    const check = (): unknown => this.engine(environmentId)
    const work = bulk.decideWith(() => this.engine(environmentId), this.#elsewhere(environmentId, waiting))
    return this.#sliced.run(environmentId, { work, waiting, check }).then(verdicts => {
      decided?.(verdicts)
      return verdicts[0] === 1
    })
  }

  /**
   * Steps after which a single decision is sent to the pool. There are fewer steps if another decision of the
   * environment is in the pool, because its next decisions are then probably long as well.
   */
  #stepsAtOnce(environmentId: string): number {
    return this.#longDecisions?.hasPending(environmentId) ? STEPS_AT_ONCE / 16 : STEPS_AT_ONCE
  }

  /**
   * Decides several queries; the decisions are in the order of the queries, see `DecisionEngine.evaluateAll`.
   * Throws `LIMIT_EXCEEDED` if there are more queries than configured. If there are many queries and a pool
   * exists, the pool decides them, and the method returns a promise, as for packed queries. The promise
   * rejects with `OVERLOADED` in the same cases. Queries that cannot be packed are decided on this thread,
   * and so are queries of an environment with rules. If the latter take long, they are decided between other
   * requests.
   */
  evaluateBulk(
    environmentId: string,
    queries: readonly Query[],
    waiting: WaitingClient,
  ): ArrayLike<boolean | number> | Promise<ArrayLike<boolean | number>> {
    this.requireBulkSize(queries.length)
    const isRuled = queries[0]?.queryContext !== undefined
    const isPooled = !isRuled && this.#pool !== null && queries.length >= this.#pool.pooledChecksMin
    const packed = isPooled ? packQueries(queries) : null
    if (packed !== null) {
      packed.asksRules = false
      return this.evaluatePacked(environmentId, packed, waiting)
    }
    const decided = this.decideAhead(environmentId, queries, waiting)
    if (decided instanceof Promise) {
      const answered = this.answered()
      return decided.then(decisions => {
        answered(environmentId, queries, decisions)
        return decisions
      })
    }
    this.answered()(environmentId, queries, decided)
    return decided
  }

  /**
   * Decides packed queries. If there are many queries and a pool exists, returns a promise. The bytes of the
   * queries can be reused as soon as the method returns.
   */
  evaluatePacked(
    environmentId: string,
    packed: PackedQueries,
    waiting: WaitingClient,
  ): ArrayLike<boolean | number> | Promise<ArrayLike<boolean | number>> {
    this.requireBulkSize(packed.count)
    if (packed.readAt !== null) return this.#evaluateRuled(environmentId, packed, waiting)
    const pool = this.#pool
    if (pool !== null && packed.count >= pool.pooledChecksMin) {
      const pooled = pool.evaluate(environmentId, packed, waiting)
      if (this.#observer === null) return pooled
      const decided = this.#observer.asked(environmentId, packed)
      return pooled.then(decisions => {
        decided(decisions)
        return decisions
      })
    }
    const decisions = this.engine(environmentId).evaluatePacked(packed)
    this.#observer?.decidedAll(decisions, environmentId, packed)
    return decisions
  }

  /** Decides packed queries of an environment with rules. */
  #evaluateRuled(
    environmentId: string,
    packed: PackedQueries,
    waiting: WaitingClient,
  ): Uint8Array | Promise<Uint8Array> {
    const decided = this.#observer?.asked(environmentId, packed)
    const decisions = this.#decideRuled(environmentId, packed, waiting)
    if (!(decisions instanceof Promise)) {
      decided?.(decisions)
      return decisions
    }
    return decisions.then(verdicts => {
      decided?.(verdicts)
      return verdicts
    })
  }

  #decideRuled(
    environmentId: string,
    asked: readonly Query[] | PackedQueries,
    waiting: WaitingClient,
  ): Uint8Array | Promise<Uint8Array> {
    const bulk = new RuledBulk(asked)
    const work = bulk.decideWith(() => this.engine(environmentId), this.#elsewhere(environmentId, waiting))
    const first = this.#begun(environmentId, work)
    if (first?.done) return first.value
    bulk.detach()
    const rest = first?.value instanceof Promise ? after(first.value, work) : work
    return this.#runBulk(environmentId, { work: rest, waiting, check: () => this.engine(environmentId) })
  }

  async #runBulk(environmentId: string, bulk: PausingWork<Uint8Array>): Promise<Uint8Array> {
    const leave = this.#ruledBulks.acquire(environmentId)
    try {
      return await this.#sliced.run(environmentId, bulk)
    } finally {
      leave()
    }
  }

  /** Whether this thread can work for the environment immediately. */
  #hasTime(environmentId: string): boolean {
    return this.#sliced.budget.hasLeft(environmentId) && !this.#sliced.hasWaiting(environmentId)
  }

  /**
   * Runs the work for at most one slice, or with `isOneStep` until its first pause. Returns its last step;
   * null if this thread has no time for the environment.
   */
  #begun<Step, Answer>(
    environmentId: string,
    work: Generator<Step, Answer, void>,
    isOneStep = false,
  ): IteratorResult<Step, Answer> | null {
    if (!this.#hasTime(environmentId)) return null
    const { budget } = this.#sliced
    const until = isOneStep ? -Infinity : budget.sliceEnd()
    const from = budget.elapsedMs()
    try {
      for (;;) {
        const step = work.next()
        if (step.done || step.value instanceof Promise || budget.elapsedMs() >= until) return step
      }
    } finally {
      budget.spend(environmentId, budget.elapsedMs() - from)
    }
  }

  #elsewhere(environmentId: string, waiting: WaitingClient): DecideElsewhere {
    return query => this.#longDecisions?.decide(environmentId, query, waiting) ?? null
  }

  /**
   * Decides queries for a caller that might return only some of the decisions. Only the decisions that the
   * caller reports through `answered` are observed. Returns a promise in the same cases as `evaluateBulk`.
   */
  decideAhead(
    environmentId: string,
    queries: readonly Query[],
    waiting: WaitingClient,
  ): ArrayLike<boolean | number> | Promise<ArrayLike<boolean | number>> {
    if (queries[0]?.queryContext !== undefined) return this.#decideRuled(environmentId, queries, waiting)
    return this.engine(environmentId).evaluateAll(queries)
  }

  /**
   * Returns a function. The caller reports with it which decisions of the current request are returned, and
   * for which queries. Call this method before the first asynchronous pause, because after that, another
   * request might be the current one.
   */
  answered(): (
    environmentId: string,
    queries: readonly Query[],
    decisions: ArrayLike<boolean | number>,
  ) => void {
    const onDecided = this.#observer?.later()
    return (environmentId, queries, decisions) => {
      if (queries.length > 0) onDecided?.(decisions, environmentId, queries)
    }
  }

  /**
   * Returns a page of a search. If a pool exists, it runs the search, because the size of the result is not
   * known in advance.
   */
  search(environmentId: string, job: SearchJob, waiting: CancelableClient): KeyPage | Promise<KeyPage> {
    if (job.question.requestAttributes !== null) {
      return this.read<'search'>(environmentId, { kind: 'search', search: job }, waiting)
    }
    if (this.#pool !== null) return this.#pool.search(environmentId, job, waiting)
    return searchWith(this.engine(environmentId), job)
  }

  /**
   * Runs a sliced read. If the read is complete after its first slice, returns the result. Otherwise returns
   * a promise. The pool continues the read; if there is no pool, this thread continues it between other
   * requests.
   */
  read<Kind extends SlicedKind>(
    environmentId: string,
    job: SlicedJob<Kind>,
    waiting: CancelableClient,
  ): SlicedAnswer<Kind> | Promise<SlicedAnswer<Kind>> {
    const work = readWith<Kind>(this.engine(environmentId), job)
    const first = this.#begun(environmentId, work, true)
    if (first?.done) return first.value
    if (this.#pool !== null) return this.#pool.read<Kind>(environmentId, job, waiting)
    return this.#reads.run(environmentId, { work, waiting, check: () => this.engine(environmentId) })
  }

  /** Returns a decision and the reasons for it. `detail` is the detail for rules. */
  explain(
    environmentId: string,
    query: Query,
    waiting: CancelableClient,
    detail: RuleDetail,
  ): ExplainedDecision | Promise<ExplainedDecision> {
    const limits = { detail, stepsMax: EXPLAIN_STEPS_MAX, lengthMax: EXPLAIN_LENGTH_MAX }
    const decided = this.#observer?.asked(environmentId, query)
    const explained = this.read<'explain'>(
      environmentId,
      { kind: 'explain', queries: [sendable(query)], ...limits },
      waiting,
    )
    const only = ({ decisions }: ExplainedDecisions): ExplainedDecision => {
      const [decision] = decisions as [ExplainedDecision]
      decided?.([decision.allow])
      return decision
    }
    return explained instanceof Promise ? explained.then(only) : only(explained)
  }

  /**
   * Explains many decisions, in order. They are explained in batches, so that neither computing the
   * explanations nor their text blocks a thread. All of them together have the limits on steps and text of a
   * single explanation. After the steps are used up, the remaining explanations are shortened. If the text is
   * too long, throws `LIMIT_EXCEEDED`.
   */
  async explainAll(
    environmentId: string,
    queries: readonly Query[],
    waiting: CancelableClient,
  ): Promise<readonly ExplainedDecision[]> {
    this.requireBulkSize(queries.length)
    const decided = this.#observer?.asked(environmentId, queries)
    const explained: ExplainedDecision[] = []
    let stepsMax = EXPLAIN_STEPS_MAX
    let lengthMax = EXPLAIN_LENGTH_MAX
    for (let from = 0; from < queries.length; from += EXPLAINED_AT_ONCE) {
      const part = queries.slice(from, from + EXPLAINED_AT_ONCE).map(sendable)
      const job = { kind: 'explain', queries: part, stepsMax, lengthMax, detail: 'none' } as const
      const { decisions, steps } = await this.read<'explain'>(environmentId, job, waiting)
      stepsMax -= steps
      lengthMax -= decisions.reduce((sum, { reasons }) => sum + reasons.length, 0)
      explained.push(...decisions)
    }
    if (queries.length > 0) decided?.(explained.map(({ allow }) => allow))
    return explained
  }

  requireBulkSize(count: number): void {
    if (count <= this.#bulkChecksMax) return
    throw new AuthzError(
      'LIMIT_EXCEEDED',
      `a request contains at most ${this.#bulkChecksMax} checks (MAX_BULK_CHECKS), but this one contains ${count}`,
      { limit: 'batch' },
    )
  }

  engine(environmentId: string): DecisionEngine {
    const engine = this.#engines.engine(environmentId)
    if (!engine)
      throw new AuthzError('NOT_READY', 'this environment is still being loaded; try again shortly')
    return engine
  }
}

/** Waits for the promise, and then continues the work. */
function* after(promise: Promise<unknown>, work: Deciding): Deciding {
  yield promise
  return yield* work
}
