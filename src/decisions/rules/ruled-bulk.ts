/**
 * Decides queries of an environment with rules in batches. The conditions of the environment determine the
 * cost of each query, up to a limit. If a pool exists, long queries are sent to it.
 */
import type { DecisionEngine } from '#engine/engine.ts'
import type { Query } from '#model/decision.ts'
import { type Question, TextQuestion, type Verdicts } from '#model/question.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import type { PausingWork } from '#scheduling/thread-scheduler.ts'

/**
 * Number of condition steps per batch, which take about one millisecond. A batch is one query or several. A
 * single query can cost twenty times as much.
 */
export const STEPS_AT_ONCE = 100_000

export type Deciding = PausingWork<Verdicts>['work']

/** Sends a long query to another thread. Returns `null` if no other thread is available. */
export type DecideElsewhere = (query: Query) => Promise<boolean> | null

/** Maximum number of queries that the engine decides on one state. */
const PART_CHECKS_MAX = 128

export class RuledBulk {
  #question: Question
  #isDetached = false
  readonly #verdicts: Verdicts
  #next = 0
  /** Whether the next query is known to be a long one. */
  #isLong: boolean

  constructor(question: Question, isLong = false) {
    this.#question = question
    this.#isLong = isLong
    this.#verdicts = new Uint8Array(question.count)
  }

  /**
   * Copies the queries, so that the bytes of the request can be reused. Repeated calls have no effect.
   * O(bytes).
   */
  detach(): void {
    if (this.#isDetached) return
    this.#question = this.#question.detached()
    this.#isDetached = true
  }

  /**
   * Returns 1 or 0 for each query, in order. Pauses between batches. Calls `engine` again after each pause,
   * because the engine might have changed.
   */
  *decide(engine: () => DecisionEngine): Resumable<Verdicts> {
    for (;;) {
      yield* this.#decideQuick(engine)
      if (this.#isDone) return this.#verdicts
      this.#put(yield* decideInSlices(engine, this.#question.query(this.#next)))
    }
  }

  /** Like `decide`, but sends long queries to another thread. */
  *decideWith(engine: () => DecisionEngine, elsewhere: DecideElsewhere): Deciding {
    for (;;) {
      yield* this.#decideQuick(engine)
      this.#isLong = false
      if (this.#isDone) return this.#verdicts
      // The query refers to the bytes of the request and outlives a pause.
      this.detach()
      const query = this.#question.query(this.#next)
      const promised = elsewhere(query)
      if (promised === null) this.#put(yield* decideInSlices(engine, query))
      else yield handled(promised.then(isAllowed => this.#put(isAllowed)))
    }
  }

  get #isDone(): boolean {
    return this.#next === this.#verdicts.length
  }

  /** Decides queries until all are decided, or until the next query is a long one. */
  *#decideQuick(engine: () => DecisionEngine): Resumable<void> {
    while (!this.#isDone && !this.#isLong) {
      if (this.#next > 0) yield
      const decided = this.#decidePart(engine())
      if (decided === 0) return
      this.#next += decided
    }
  }

  #decidePart(engine: DecisionEngine): number {
    const from = this.#next
    const question = this.#question
    const count = Math.min(question.count - from, PART_CHECKS_MAX)
    const part = count === question.count ? question : question.part(from, count)
    return engine.evaluateSome(part, STEPS_AT_ONCE, this.#verdicts.subarray(from, from + count))
  }

  #put(isAllowed: boolean): void {
    this.#verdicts[this.#next] = Number(isAllowed)
    this.#next += 1
  }
}

/**
 * Decides one query with its full step limit, in one slice. Pauses only while conditions still have to be
 * parsed.
 */
export function* decideInSlices(engine: () => DecisionEngine, query: Query): Resumable<boolean> {
  const question = TextQuestion.single(query)
  for (;;) {
    const verdict = engine().evaluateWithin(question, Infinity)
    if (verdict !== null) return verdict
    yield
  }
}

/**
 * Prevents a promise from being reported as unhandled if it rejects before the work awaits it. A later
 * `await` still receives the error.
 */
function handled<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {})
  return promise
}
