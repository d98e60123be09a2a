/**
 * Answers decision requests on the thread that parsed them, from that thread's engines, without waiting. What is wide goes to
 * a pool, where there is one.
 */
import type { DecisionEngine, KeyPage } from '#engine/engine.ts'
import type { RuleDetail } from '#engine/explanation.ts'
import type { Query } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import { EXPLAIN_LENGTH_MAX, EXPLAIN_STEPS_MAX } from '#model/limits.ts'
import { PackedQueries, packQueries } from '#model/packed-queries.ts'
import type { ToldDecision } from './decision-debug.ts'
import type {
  DecisionPool,
  Leaver,
  SearchJob,
  SlicedAnswer,
  SlicedJob,
  SlicedKind,
  Waiting,
} from './decision-pool.ts'
import { LongDecisions } from './long-decisions.ts'
import { type DecideElsewhere, type Deciding, RuledBulk, STEPS_AT_ONCE } from './ruled-bulk.ts'
import { RuledBulks } from './ruled-bulks.ts'
import { searchWith } from './search-job.ts'
import { sendable } from './sendable-query.ts'
import { readWith } from './sliced-job.ts'
import { SlicedReads } from './sliced-reads.ts'
import { TurnShares } from './turn-shares.ts'
import type { ToldDecisions } from './told-decisions.ts'

/** Explained in one go: what comes of them crosses threads and is put together at once. */
const EXPLAINED_AT_ONCE = 64
/** How long a bulk of an environment with rules keeps this thread at first. The rest is decided between other requests. */
const RULED_AT_ONCE_MS = 2

/** Where a thread keeps its engines. */
export interface EngineSource {
  /**
   * The environment's engine; null while it is not loaded. Throws `STALE` when it must not decide any more, `ENVIRONMENT_CLOSED`
   * when there is none to be had.
   */
  engine(environmentId: string): DecisionEngine | null
  /** Whether the environment has rules; false, too, while there is no engine. Asked for each request, so nothing else is looked at. */
  hasRules(environmentId: string): boolean
}

/** Hears of every decision made, at once and in the thread that made it. Never throws. */
export interface DecisionObserver {
  /** Of questions in bytes it is the first. */
  decided(isAllowed: boolean, environmentId: string, asked: Query | PackedQueries): void
  /** Of a bulk or a batch, in order. */
  decidedAll(
    decisions: ArrayLike<boolean | number>,
    environmentId: string,
    asked: readonly Query[] | PackedQueries,
  ): void
  /** Returns who is to hear, as `decidedAll` does, of decisions of the request that is being answered, in whatever turn they are made. */
  later(): (decisions: ArrayLike<boolean | number>, environmentId: string, asked: readonly Query[]) => void
  /** Questions that are decided later, of which the bytes may go before. Returns who is to hear of the decisions then. */
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
  /** Without a pool. */
  readonly #reads: SlicedReads
  readonly #ruledBulks: RuledBulks
  /** Without a pool: null. */
  readonly #longDecisions: LongDecisions | null
  readonly #turnShares = new TurnShares()
  readonly #now: () => number
  readonly #elapsedMs: () => number

  /** `pool`: takes what is wide; null: everything is done here. `now`: milliseconds since 1970; `elapsedMs`: of a clock that is never set. */
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
   * The time at which a request of the environment is read, for conditions. Null where it has no rules, or no engine now: nobody asks
   * for it, nor for anything else that a question says beside its texts.
   */
  readAt(environmentId: string): number | null {
    return this.#engines.hasRules(environmentId) ? this.#now() : null
  }

  /**
   * Throws `NOT_READY` while the environment is not loaded; an unknown name is a plain false. A promise only where conditions take long,
   * or rules of the environment have taken their share of this turn.
   */
  evaluate(environmentId: string, query: Query, waiting: Waiting): boolean | Promise<boolean> {
    if (query.circumstances !== undefined) return this.#evaluateRuledOne(environmentId, query, waiting)
    const isAllowed = this.engine(environmentId).evaluate(query)
    this.#observer?.decided(isAllowed, environmentId, query)
    return isAllowed
  }

  /** The same for the first of questions that still are bytes. */
  evaluateFirst(environmentId: string, packed: PackedQueries, waiting: Waiting): boolean | Promise<boolean> {
    if (packed.readAt !== null) return this.#evaluateRuledOne(environmentId, packed, waiting)
    const isAllowed = this.engine(environmentId).evaluateFirst(packed)
    this.#observer?.decided(isAllowed, environmentId, packed)
    return isAllowed
  }

  /** One question of an environment with rules: at once, or in line behind the others that are under way. */
  #evaluateRuledOne(
    environmentId: string,
    asked: Query | PackedQueries,
    waiting: Waiting,
  ): boolean | Promise<boolean> {
    if (this.#turnShares.hasLeft(environmentId) && !this.#ruledBulks.hasWaiting(environmentId)) {
      const engine = this.engine(environmentId)
      const from = this.#elapsedMs()
      try {
        const isAllowed = engine.evaluateWithin(asked, STEPS_AT_ONCE)
        if (isAllowed !== null) {
          this.#observer?.decided(isAllowed, environmentId, asked)
          return isAllowed
        }
      } finally {
        this.#turnShares.take(environmentId, this.#elapsedMs() - from)
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
   * In order, see `DecisionEngine.evaluateAll`. Throws `LIMIT_EXCEEDED` beyond the configured number. A promise where there are many
   * and a pool, where they count as under way like those that still are bytes, and are refused with `OVERLOADED` like them. Those that
   * cannot be packed are decided here. So are those of an environment with rules, between other requests if they take long.
   */
  evaluateBulk(
    environmentId: string,
    queries: readonly Query[],
    waiting: Waiting,
  ): ArrayLike<boolean | number> | Promise<ArrayLike<boolean | number>> {
    this.requireBulkSize(queries.length)
    const isRuled = queries[0]?.circumstances !== undefined
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

  /** The same for questions that still are bytes; a promise where there are many and a pool. The bytes may go then. */
  evaluatePacked(
    environmentId: string,
    packed: PackedQueries,
    waiting: Waiting,
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

  /** Packed questions of an environment with rules. */
  #evaluateRuled(
    environmentId: string,
    packed: PackedQueries,
    waiting: Waiting,
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
    waiting: Waiting,
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

  #elsewhere(environmentId: string, waiting: Waiting): DecideElsewhere {
    return query => this.#longDecisions?.decide(environmentId, query, waiting) ?? null
  }

  /**
   * For whoever may answer fewer than are decided, and says by `answered` which: what nobody hears is not observed. A promise as of
   * `evaluateBulk`.
   */
  decideAhead(
    environmentId: string,
    queries: readonly Query[],
    waiting: Waiting,
  ): ArrayLike<boolean | number> | Promise<ArrayLike<boolean | number>> {
    if (queries[0]?.circumstances !== undefined) return this.#decideRuled(environmentId, queries, waiting)
    return this.engine(environmentId).evaluateAll(queries)
  }

  /**
   * Who is to be told which decisions are the answers to which queries of the request that is being answered. To be asked for before the
   * first stop: behind it others are answered.
   */
  answered(): (
    environmentId: string,
    queries: readonly Query[],
    decisions: ArrayLike<boolean | number>,
  ) => void {
    const tell = this.#observer?.later()
    return (environmentId, queries, decisions) => {
      if (queries.length > 0) tell?.(decisions, environmentId, queries)
    }
  }

  /** A page of a search, found by the pool where there is one: nobody knows beforehand how much a search finds. */
  search(environmentId: string, job: SearchJob, waiting: Leaver): KeyPage | Promise<KeyPage> {
    if (job.question.said !== null) {
      return this.read<'search'>(environmentId, { kind: 'search', search: job }, waiting)
    }
    if (this.#pool !== null) return this.#pool.search(environmentId, job, waiting)
    return searchWith(this.engine(environmentId), job)
  }

  /**
   * A read in slices: what takes no more than one is there at once, all else is promised. The pool does it, where there is one,
   * else this thread between other requests.
   */
  read<Kind extends SlicedKind>(
    environmentId: string,
    job: SlicedJob<Kind>,
    waiting: Leaver,
  ): SlicedAnswer<Kind> | Promise<SlicedAnswer<Kind>> {
    const work = readWith<Kind>(this.engine(environmentId), job)
    const first = work.next()
    if (first.done) return first.value
    if (this.#pool !== null) return this.#pool.read<Kind>(environmentId, job, waiting)
    return this.#reads.run({ work, waiting, check: () => this.engine(environmentId) })
  }

  /** A decision with the reasons for it. `detail`: of rules. */
  explain(
    environmentId: string,
    query: Query,
    waiting: Leaver,
    detail: RuleDetail,
  ): ToldDecision | Promise<ToldDecision> {
    const limits = { detail, stepsMax: EXPLAIN_STEPS_MAX, lengthMax: EXPLAIN_LENGTH_MAX }
    const decided = this.#observer?.asked(environmentId, query)
    const told = this.read<'explain'>(
      environmentId,
      { kind: 'explain', queries: [sendable(query)], ...limits },
      waiting,
    )
    const only = ({ decisions }: ToldDecisions): ToldDecision => {
      const [decision] = decisions as [ToldDecision]
      decided?.([decision.allow])
      return decision
    }
    return told instanceof Promise ? told.then(only) : only(told)
  }

  /**
   * Many, in order, some at a time, so that neither they nor what they are told in keeps a thread. They share what one alone may
   * cost in steps and text: behind that, explanations are cut short, and too much text is `LIMIT_EXCEEDED`.
   */
  async explainAll(
    environmentId: string,
    queries: readonly Query[],
    waiting: Leaver,
  ): Promise<readonly ToldDecision[]> {
    this.requireBulkSize(queries.length)
    const decided = this.#observer?.asked(environmentId, queries)
    const told: ToldDecision[] = []
    let stepsMax = EXPLAIN_STEPS_MAX
    let lengthMax = EXPLAIN_LENGTH_MAX
    for (let from = 0; from < queries.length; from += EXPLAINED_AT_ONCE) {
      const part = queries.slice(from, from + EXPLAINED_AT_ONCE).map(sendable)
      const job = { kind: 'explain', queries: part, stepsMax, lengthMax, detail: 'none' } as const
      const { decisions, steps } = await this.read<'explain'>(environmentId, job, waiting)
      stepsMax -= steps
      lengthMax -= decisions.reduce((sum, { reasons }) => sum + reasons.length, 0)
      told.push(...decisions)
    }
    if (queries.length > 0) decided?.(told.map(({ allow }) => allow))
    return told
  }

  requireBulkSize(count: number): void {
    if (count <= this.#bulkChecksMax) return
    throw new AuthzError(
      'LIMIT_EXCEEDED',
      `one request holds at most ${this.#bulkChecksMax} checks (MAX_BULK_CHECKS), this one ${count}`,
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

/** Work that is continued when the promise is settled. */
function* after(promise: Promise<unknown>, work: Deciding): Deciding {
  yield promise
  return yield* work
}
