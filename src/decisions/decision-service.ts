/**
 * Serves decision requests synchronously on the thread that parsed them, with the engines of that thread.
 * Expensive work goes to a pool, if one exists.
 */
import type { DecisionEngine, KeyPage } from '#engine/engine.ts'
import type { RuleDetail } from '#engine/explanation.ts'
import type { Query } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import { EXPLAIN_LENGTH_MAX, EXPLAIN_STEPS_MAX } from '#model/limits.ts'
import { PackedQueries, packQueries } from '#model/packed-queries.ts'
import type { ExplainedDecision } from './decision-debug.ts'
import type {
  DecisionPool,
  CancelableClient,
  SearchJob,
  SlicedAnswer,
  SlicedJob,
  SlicedKind,
  WaitingClient,
} from './decision-pool.ts'
import { LongDecisions } from './long-decisions.ts'
import { type DecideElsewhere, type Deciding, RuledBulk, STEPS_AT_ONCE } from './ruled-bulk.ts'
import { RuledBulks } from './ruled-bulks.ts'
import { searchWith } from './search-job.ts'
import { sendable } from './sendable-query.ts'
import { readWith } from './sliced-job.ts'
import { SlicedReads } from './sliced-reads.ts'
import { EnvironmentQuota } from './environment-quota.ts'
import type { ExplainedDecisions } from './explained-decisions.ts'

/** Number of explanations per job. Their results are sent between threads and assembled in one step. */
const EXPLAINED_AT_ONCE = 64
/**
 * Time for which a bulk of an environment with rules occupies this thread initially. The remaining queries
 * are decided between other requests.
 */
const RULED_AT_ONCE_MS = 2

/** Source of the engines of a thread. */
export interface EngineSource {
  /**
   * Returns the engine of the environment, or null while the environment is not loaded. Throws `STALE` if
   * decisions are no longer permitted on its state, and `ENVIRONMENT_CLOSED` if the environment has no
   * engine.
   */
  engine(environmentId: string): DecisionEngine | null
  /**
   * Returns whether the environment has rules; false if it has no engine. Called for each request, so it
   * checks nothing else.
   */
  hasRules(environmentId: string): boolean
}

/** Observes every decision, synchronously and on the thread that made it. Must not throw. */
export interface DecisionObserver {
  /** For packed queries, the decision is that of the first one. */
  decided(isAllowed: boolean, environmentId: string, asked: Query | PackedQueries): void
  /** Decisions of a bulk or a batch, in order. */
  decidedAll(
    decisions: ArrayLike<boolean | number>,
    environmentId: string,
    asked: readonly Query[] | PackedQueries,
  ): void
  /**
   * Returns a function like `decidedAll` for later decisions of the current request, in any iteration of the
   * event loop.
   */
  later(): (decisions: ArrayLike<boolean | number>, environmentId: string, asked: readonly Query[]) => void
  /**
   * Announces queries that are decided later, after their bytes may have been reused. Returns the function to
   * call with the decisions.
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
  /** Used if no pool exists. */
  readonly #reads: SlicedReads
  readonly #ruledBulks: RuledBulks
  /** Null if no pool exists. */
  readonly #longDecisions: LongDecisions | null
  readonly #environmentQuota = new EnvironmentQuota()
  readonly #now: () => number
  readonly #elapsedMs: () => number

  /**
   * `pool`: runs expensive work; with null, this thread does all work. `now`: milliseconds since 1970.
   * `elapsedMs`: milliseconds of a monotonic clock.
   */
  constructor(
    engines: EngineSource,
    limits: { readonly bulkChecksMax: number; readonly poolJobsMax: number },
    parts: {
      readonly observer: DecisionObserver | null
      readonly pool: DecisionPool | null
      readonly now: () => number
      readonly elapsedMs: () => number
    },
  ) {
    this.#now = parts.now
    this.#elapsedMs = parts.elapsedMs
    this.#engines = engines
    this.#bulkChecksMax = limits.bulkChecksMax
    this.#observer = parts.observer
    this.#pool = parts.pool
    this.#reads = new SlicedReads(limits.poolJobsMax)
    this.#ruledBulks = new RuledBulks(limits.poolJobsMax)
    this.#longDecisions = parts.pool && new LongDecisions(parts.pool)
  }

  /**
   * Returns the request time for conditions. Null if the environment has no rules or no engine: then nothing
   * reads the time, the attributes or the context of its queries.
   */
  readAt(environmentId: string): number | null {
    return this.#engines.hasRules(environmentId) ? this.#now() : null
  }

  /**
   * Throws `NOT_READY` while the environment is not loaded. Unknown names give false. Returns a promise only
   * if conditions take long, or if rules of the environment have used their quota of this event-loop
   * iteration.
   */
  evaluate(environmentId: string, query: Query, waiting: WaitingClient): boolean | Promise<boolean> {
    if (query.queryContext !== undefined) return this.#evaluateRuledOne(environmentId, query, waiting)
    const isAllowed = this.engine(environmentId).evaluate(query)
    this.#observer?.decided(isAllowed, environmentId, query)
    return isAllowed
  }

  /** The same for the first of several packed queries. */
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
   * Decides one query of an environment with rules: immediately, or queued after other queries that are in
   * progress.
   */
  #evaluateRuledOne(
    environmentId: string,
    asked: Query | PackedQueries,
    waiting: WaitingClient,
  ): boolean | Promise<boolean> {
    if (this.#environmentQuota.hasLeft(environmentId) && !this.#ruledBulks.hasWaiting(environmentId)) {
      const engine = this.engine(environmentId)
      const from = this.#elapsedMs()
      try {
        const isAllowed = engine.evaluateWithin(asked, STEPS_AT_ONCE)
        if (isAllowed !== null) {
          this.#observer?.decided(isAllowed, environmentId, asked)
          return isAllowed
        }
      } finally {
        this.#environmentQuota.take(environmentId, this.#elapsedMs() - from)
      }
    }
    const decided = this.#observer?.asked(environmentId, asked)
    const bulk = new RuledBulk(asked instanceof PackedQueries ? asked : [asked])
    bulk.detach()
    const check = (): unknown => this.engine(environmentId)
    const work = bulk.decideWith(() => this.engine(environmentId), this.#elsewhere(environmentId, waiting))
    const read = { work, waiting, check }
    return this.#ruledBulks.line(environmentId, read).then(verdicts => {
      decided?.(verdicts)
      return verdicts[0] === 1
    })
  }

  /**
   * Returns decisions in order, see `DecisionEngine.evaluateAll`. Throws `LIMIT_EXCEEDED` above the
   * configured number of queries. Returns a promise if there are many queries and a pool. They count as in
   * progress, like packed queries, and are rejected with `OVERLOADED` under the same conditions. Queries that
   * cannot be packed are decided on this thread. So are queries of an environment with rules; if they take
   * long, they alternate with other requests.
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
   * The same for packed queries. Returns a promise if there are many queries and a pool; the bytes can be
   * reused as soon as the method returns.
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
    const read = { work, waiting, check: () => this.engine(environmentId) }
    const until = this.#elapsedMs() + RULED_AT_ONCE_MS
    do {
      const step = work.next()
      if (step.done) return step.value
      if (step.value instanceof Promise) {
        bulk.detach()
        return this.#ruledBulks.run(environmentId, { ...read, work: after(step.value, work) })
      }
    } while (this.#elapsedMs() < until)
    bulk.detach()
    return this.#ruledBulks.run(environmentId, read)
  }

  #elsewhere(environmentId: string, waiting: WaitingClient): DecideElsewhere {
    return query => this.#longDecisions?.decide(environmentId, query, waiting) ?? null
  }

  /**
   * Decides queries for a caller that might return only some of the decisions. Decisions are observed only
   * after the caller reports them through `answered`. Returns a promise in the same cases as `evaluateBulk`.
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
   * Returns the function that reports which decisions are returned for which queries of the current request.
   * Call it before the first asynchronous pause: after that, other requests are current.
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
   * Returns a page of a search. The pool runs the search, if one exists, because the size of the result is
   * not known beforehand.
   */
  search(environmentId: string, job: SearchJob, waiting: CancelableClient): KeyPage | Promise<KeyPage> {
    if (job.question.requestAttributes !== null) {
      return this.read<'search'>(environmentId, { kind: 'search', search: job }, waiting)
    }
    if (this.#pool !== null) return this.#pool.search(environmentId, job, waiting)
    return searchWith(this.engine(environmentId), job)
  }

  /**
   * Runs a sliced read. A result that needs only one slice is returned directly, any other as a promise. The
   * pool continues the read; without a pool, this thread continues it between other requests.
   */
  read<Kind extends SlicedKind>(
    environmentId: string,
    job: SlicedJob<Kind>,
    waiting: CancelableClient,
  ): SlicedAnswer<Kind> | Promise<SlicedAnswer<Kind>> {
    const work = readWith<Kind>(this.engine(environmentId), job)
    const first = work.next()
    if (first.done) return first.value
    if (this.#pool !== null) return this.#pool.read<Kind>(environmentId, job, waiting)
    return this.#reads.run({ work, waiting, check: () => this.engine(environmentId) })
  }

  /** Returns a decision with its reasons. `detail`: level of detail for rules. */
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
   * Explains many decisions in order, in batches, so that neither their computation nor their text blocks a
   * thread. All of them share the limits on steps and text that apply to a single explanation. When the steps
   * are used up, explanations are shortened; too much text throws `LIMIT_EXCEEDED`.
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

/** Continues the work after the promise is settled. */
function* after(promise: Promise<unknown>, work: Deciding): Deciding {
  yield promise
  return yield* work
}
