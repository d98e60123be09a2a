/**
 * Serves decision requests. Most are decided synchronously, on the thread that parsed them, with an engine of
 * that thread. Expensive work goes to a pool, if there is one.
 */
import type { DecisionEngine, KeyPage } from '#engine/engine.ts'
import type { RuleDetail } from '#engine/explanation.ts'
import type { Query } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import { EXPLAIN_LENGTH_MAX, EXPLAIN_STEPS_MAX } from '#model/limits.ts'
import { packQueries, type PackedQueries } from '#model/packed-queries.ts'
import { type Question, TextQuestion, type Verdicts } from '#model/question.ts'
import type { ExplainedDecision } from '#decisions/rules/decision-debug.ts'
import type { DecisionPool, SearchJob, SlicedAnswer, SlicedJob, SlicedKind } from './decision-pool.ts'
import type { AskingClient, CancelableClient, WaitingClient } from '#model/caller.ts'
import { countsOf, type DecisionObserver } from './decision-observer.ts'
import { LongDecisions } from './long-decisions.ts'
import { type Deciding, RuledBulk, STEPS_AT_ONCE } from '#decisions/rules/ruled-bulk.ts'
import { searchWith } from './search-job.ts'
import { sendable } from '#decisions/questions/sendable-query.ts'
import { readWith } from './sliced-job.ts'
import { type Admission, halfPerShare } from '#scheduling/admission.ts'
import { LongReads, type PausingWork, type ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import type { ExplainedDecisions } from '#decisions/rules/explained-decisions.ts'

/**
 * Number of explanations per job. The results of a job are sent to another thread and put into the response
 * in one step.
 */
const EXPLAINED_AT_ONCE = 64
/** Verdicts of a single check: deny and allow. Constant, so that a decision allocates nothing. */
const VERDICTS: readonly [Verdicts, Verdicts] = [Uint8Array.of(0), Uint8Array.of(1)]

/** Source of the engines of a thread. */
export interface EngineSource {
  /**
   * Returns the engine of an environment, or null while the environment is not loaded. Throws `STALE` if the
   * state of the engine is too old for decisions, and `ENVIRONMENT_CLOSED` if the environment has no engine.
   */
  engine(environmentId: string): DecisionEngine | null
}

export class DecisionService {
  readonly #engines: EngineSource
  readonly #bulkChecksMax: number
  readonly #observer: DecisionObserver | null
  readonly #pool: DecisionPool | null
  /** Runs sliced reads if there is no pool. */
  readonly #reads: LongReads
  readonly #sliced: ThreadScheduler
  /** Bulks of environments with rules. A single environment can use half of the slots. */
  readonly #ruledBulks: Admission
  /** Null if there is no pool. */
  readonly #longDecisions: LongDecisions | null
  /** Returns the time of a request for conditions, in milliseconds since 1970. */
  readonly now: () => number

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
      readonly sliced: ThreadScheduler
      readonly now: () => number
    },
  ) {
    this.now = parts.now
    this.#sliced = parts.sliced
    this.#engines = engines
    this.#bulkChecksMax = limits.bulkChecksMax
    this.#observer = parts.observer
    this.#pool = parts.pool
    this.#reads = new LongReads(parts.sliced, limits.poolJobsMax)
    this.#ruledBulks = halfPerShare(limits.poolJobsMax)
    this.#longDecisions = parts.pool && new LongDecisions(parts.pool)
  }

  /**
   * Decides a question and passes the decisions to the observer. Unknown names give 0. The bytes of the
   * question can be reused as soon as the method returns. `countReturned` returns how many of the decisions,
   * from the first on, the response contains; by default, all of them. Only these are observed.
   *
   * Returns a promise if the pool decides the question, or if rules take long or have used up the quota of
   * the environment. Throws `LIMIT_EXCEEDED` if the question has more checks than configured, and `NOT_READY`
   * while the environment is not loaded. The promise rejects with `OVERLOADED` if the queues are full or the
   * client disconnects.
   */
  evaluate(
    environmentId: string,
    question: Question,
    client: WaitingClient & AskingClient,
    countReturned?: (verdicts: Verdicts) => number,
  ): Verdicts | Promise<Verdicts> {
    this.requireBulkSize(question.count)
    const decided = this.#decide(environmentId, question, client)
    const observer = this.#observer
    if (observer === null || question.count === 0) return decided
    if (decided instanceof Promise || countReturned !== undefined) {
      return this.#observed(decided, question, environmentId, client, countReturned)
    }
    observer.decided(decided, question, environmentId, client)
    return decided
  }

  /** This is a separate function because closures would make each call of `evaluate` allocate memory. */
  #observed(
    decided: Verdicts | Promise<Verdicts>,
    question: Question,
    environmentId: string,
    client: AskingClient,
    countReturned?: (verdicts: Verdicts) => number,
  ): Verdicts | Promise<Verdicts> {
    const observer = this.#observer!
    const kept = observer.readsChecks ? question.detached() : countsOf(question)
    const observe = (verdicts: Verdicts): Verdicts => {
      const returned = countReturned ? verdicts.subarray(0, countReturned(verdicts)) : verdicts
      if (returned.length > 0) observer.decided(returned, kept, environmentId, client)
      return verdicts
    }
    return decided instanceof Promise ? decided.then(observe) : observe(decided)
  }

  /**
   * Composes the decisions on a question, in one of three ways: at once, in slices on this thread, or in the
   * pool. This is the place for decisions that depend on several checks, such as those of a user who acts for
   * other users. A decision on one check, including rules that deny, is made by the engine.
   */
  #decide(environmentId: string, question: Question, waiting: WaitingClient): Verdicts | Promise<Verdicts> {
    const engine = this.engine(environmentId)
    if (engine.hasRules()) {
      const hasTime = question.isSingle && this.#hasTime(environmentId)
      const verdict = hasTime ? this.#decideWithinSlice(environmentId, engine, question) : null
      return verdict ?? this.#decideInSlices(environmentId, question, waiting, hasTime)
    }
    if (question.isSingle) {
      // If the environment has just got its first rules, they can need more time.
      const isAllowed = engine.evaluateWithin(question, Infinity)
      return isAllowed === null
        ? this.#decideInSlices(environmentId, question, waiting)
        : verdictOf(isAllowed)
    }
    if (this.#pool !== null && question.count >= this.#pool.pooledChecksMin) {
      const packed = question instanceof TextQuestion ? packQueries(question.checks) : question
      if (packed !== null) return this.#decideInPool(environmentId, question, packed, waiting, this.#pool)
    }
    return engine.evaluateAll(question)
  }

  /** This is a separate function for the same reason as `#observed`. */
  #decideInPool(
    environmentId: string,
    question: Question,
    packed: PackedQueries,
    waiting: WaitingClient,
    pool: DecisionPool,
  ): Promise<Verdicts> {
    return pool.evaluate(environmentId, packed, waiting, own =>
      this.#decideInSlices(environmentId, question instanceof TextQuestion ? question : own, waiting),
    )
  }

  /** Decides one check of an environment with rules. Returns null if the check takes long. */
  #decideWithinSlice(environmentId: string, engine: DecisionEngine, question: Question): Verdicts | null {
    const { budget } = this.#sliced
    const from = budget.elapsedMs()
    try {
      const isAllowed = engine.evaluateWithin(question, this.#stepsAtOnce(environmentId))
      return isAllowed === null ? null : verdictOf(isAllowed)
    } finally {
      budget.spend(environmentId, budget.elapsedMs() - from)
    }
  }

  /**
   * Steps after which a single decision is sent to the pool. There are fewer steps if another decision of the
   * environment is in the pool, because its next decisions are then probably long as well.
   */
  #stepsAtOnce(environmentId: string): number {
    return this.#longDecisions?.hasPending(environmentId) ? STEPS_AT_ONCE / 16 : STEPS_AT_ONCE
  }

  /**
   * Decides a question in slices between other requests. The first slice of a list runs immediately if this
   * thread has time for the environment. Checks that take long are sent to the pool. `isLong` states that the
   * first check is known to take long.
   */
  #decideInSlices(
    environmentId: string,
    question: Question,
    waiting: WaitingClient,
    isLong = false,
  ): Verdicts | Promise<Verdicts> {
    const bulk = new RuledBulk(question, isLong)
    const elsewhere = (query: Query) => this.#longDecisions?.decide(environmentId, query, waiting) ?? null
    const work = bulk.decideWith(() => this.engine(environmentId), elsewhere)
    const first = question.isSingle ? null : this.#begun(environmentId, work)
    if (first?.done) return first.value
    bulk.detach()
    const rest = first?.value instanceof Promise ? after(first.value, work) : work
    const pausing = { work: rest, waiting, check: () => this.engine(environmentId) }
    // The number of single checks is not limited, because each connection has at most one.
    if (question.isSingle) return this.#sliced.run(environmentId, pausing)
    return this.#runBulk(environmentId, pausing)
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

  /**
   * Returns a page of a search. If a pool exists, it runs the search, because the size of the result is not
   * known in advance. If the environment has rules, the search runs in slices.
   */
  search(environmentId: string, job: SearchJob, waiting: CancelableClient): KeyPage | Promise<KeyPage> {
    const engine = this.engine(environmentId)
    if (engine.hasRules()) {
      return this.read<'search'>(environmentId, { kind: 'search', search: job }, waiting)
    }
    if (this.#pool !== null) return this.#pool.search(environmentId, job, waiting)
    return searchWith(engine, job)
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
    client: CancelableClient & AskingClient,
    detail: RuleDetail,
  ): ExplainedDecision | Promise<ExplainedDecision> {
    const limits = { detail, stepsMax: EXPLAIN_STEPS_MAX, lengthMax: EXPLAIN_LENGTH_MAX }
    const explained = this.read<'explain'>(
      environmentId,
      { kind: 'explain', queries: [sendable(query)], ...limits },
      client,
    )
    const only = ({ decisions }: ExplainedDecisions): ExplainedDecision => {
      const [decision] = decisions as [ExplainedDecision]
      const verdicts = verdictOf(decision.allow)
      this.#observer?.decided(verdicts, TextQuestion.single(query), environmentId, client)
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
    client: CancelableClient & AskingClient,
  ): Promise<readonly ExplainedDecision[]> {
    this.requireBulkSize(queries.length)
    const explained: ExplainedDecision[] = []
    let stepsMax = EXPLAIN_STEPS_MAX
    let lengthMax = EXPLAIN_LENGTH_MAX
    for (let from = 0; from < queries.length; from += EXPLAINED_AT_ONCE) {
      const part = queries.slice(from, from + EXPLAINED_AT_ONCE).map(sendable)
      const job = { kind: 'explain', queries: part, stepsMax, lengthMax, detail: 'none' } as const
      const { decisions, steps } = await this.read<'explain'>(environmentId, job, client)
      stepsMax -= steps
      lengthMax -= decisions.reduce((sum, { reasons }) => sum + reasons.length, 0)
      explained.push(...decisions)
    }
    const verdicts = Uint8Array.from(explained, ({ allow }) => Number(allow))
    if (queries.length > 0)
      this.#observer?.decided(verdicts, new TextQuestion(queries), environmentId, client)
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

function verdictOf(isAllowed: boolean): Verdicts {
  return VERDICTS[Number(isAllowed) as 0 | 1]
}

/** Waits for the promise, and then continues the work. */
function* after(promise: Promise<unknown>, work: Deciding): Deciding {
  yield promise
  return yield* work
}
