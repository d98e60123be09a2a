/**
 * Questions of an environment with rules, decided some at a time. The environment determines what its conditions cost, up to a limit for
 * each question. Questions that take long are left to the pool, where there is one.
 */
import type { DecisionEngine } from '#engine/engine.ts'
import type { Query } from '#model/decision.ts'
import { PackedQueries } from '#model/packed-queries.ts'
import type { Resumable } from '#model/resumable.ts'

/** Steps of conditions in one go, about a millisecond: of one question, and of several together. One question may cost twenty times more. */
export const STEPS_AT_ONCE = 100_000

/** Work that stops, at times until a promise is settled. */
export type Deciding = Generator<Promise<unknown> | undefined | void, Uint8Array, void>

/** Has another thread decide a question that takes long; `null`: there is none. */
export type DecideElsewhere = (query: Query) => Promise<boolean> | null

/** The engine decides so many at one state. */
const PART_CHECKS_MAX = 128

export class RuledBulk {
  #asked: readonly Query[] | PackedQueries
  readonly #verdicts: Uint8Array
  #next = 0

  constructor(asked: readonly Query[] | PackedQueries) {
    this.#asked = asked
    this.#verdicts = new Uint8Array(countOf(asked))
  }

  /** Makes the questions independent of the bytes of their request. O(bytes). */
  detach(): void {
    if (this.#asked instanceof PackedQueries) this.#asked = this.#asked.detached()
  }

  /** 1 or 0 for each question, in order. Stops between parts. `engine` is asked for again after each stop. */
  *decide(engine: () => DecisionEngine): Resumable<Uint8Array> {
    for (;;) {
      yield* this.#decideQuick(engine)
      if (this.#isDone) return this.#verdicts
      this.#put(yield* decideInSlices(engine, this.#query()))
    }
  }

  /** As `decide`; another thread decides the questions that take long. */
  *decideWith(engine: () => DecisionEngine, elsewhere: DecideElsewhere): Deciding {
    for (;;) {
      yield* this.#decideQuick(engine)
      if (this.#isDone) return this.#verdicts
      const promised = elsewhere(this.#query())
      if (promised === null) this.#put(yield* decideInSlices(engine, this.#query()))
      else yield handled(promised.then(isAllowed => this.#put(isAllowed)))
    }
  }

  get #isDone(): boolean {
    return this.#next === this.#verdicts.length
  }

  /** Up to the end, or to a question that takes long. */
  *#decideQuick(engine: () => DecisionEngine): Resumable<void> {
    while (!this.#isDone) {
      if (this.#next > 0) yield
      const decided = this.#decidePart(engine())
      if (decided === 0) return
      this.#next += decided
    }
  }

  #decidePart(engine: DecisionEngine): number {
    const from = this.#next
    const asked = this.#asked
    const count = Math.min(countOf(asked) - from, PART_CHECKS_MAX)
    const part = asked instanceof PackedQueries ? asked.part(from, count) : asked.slice(from, from + count)
    return engine.evaluateSome(part, STEPS_AT_ONCE, this.#verdicts.subarray(from, from + count))
  }

  #query(): Query {
    const asked = this.#asked
    return asked instanceof PackedQueries ? asked.query(this.#next) : asked[this.#next]!
  }

  #put(isAllowed: boolean): void {
    this.#verdicts[this.#next] = Number(isAllowed)
    this.#next += 1
  }
}

/** Decides one question with as many steps as it may take, which are done in one go. Stops while conditions have to be read. */
export function* decideInSlices(engine: () => DecisionEngine, query: Query): Resumable<boolean> {
  for (;;) {
    const verdict = engine().evaluateWithin(query, Infinity)
    if (verdict !== null) return verdict
    yield
  }
}

function countOf(asked: readonly Query[] | PackedQueries): number {
  return asked instanceof PackedQueries ? asked.count : asked.length
}

/** A promise that might be rejected before the work is continued: its failure is not lost, and is not unhandled either. */
function handled<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {})
  return promise
}
