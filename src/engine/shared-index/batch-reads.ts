/** Decides many queries in batches. All queries of a batch are decided on one state. */
import type { Query } from '#model/decision.ts'
import { type BatchCheck, UNKNOWN } from '#engine/shared-index/check/batch-check.ts'
import { type BatchSource, QuerySource } from '#engine/shared-index/check/batch-source.ts'
import { ALLOW, BUILD, type CheckOutcome } from '#engine/shared-index/check/check.ts'
import { BATCH_MAX } from '#engine/shared-index/check/key-column.ts'
import {
  type Attempt,
  type BatchSteps,
  QUESTION_STEPS,
  type RuleQuestions,
} from '#engine/shared-index/check/rule-questions.ts'
import type { ConsistentReads } from '#engine/shared-index/schema/consistent-reads.ts'
import type { RuledReads } from './ruled-reads.ts'
import type { ListingParts } from '#engine/shared-index/search/listings.ts'

/** Number of attempts without the lock, before a batch takes the lock. */
const ATTEMPTS = 3

interface BatchParts {
  readonly reads: ConsistentReads
  readonly batch: BatchCheck
  readonly ruled: RuleQuestions
  readonly ruledReads: RuledReads
}

interface BatchHost {
  /** Decides one query by roles, on the current state. */
  decide(query: Query, mayBuild: boolean): CheckOutcome
  parts(): ListingParts
}

export class BatchReads {
  readonly #reads: ConsistentReads
  readonly #batch: BatchCheck
  readonly #ruled: RuleQuestions
  readonly #ruledReads: RuledReads
  readonly #host: BatchHost

  constructor({ reads, batch, ruled, ruledReads }: BatchParts, host: BatchHost) {
    this.#reads = reads
    this.#batch = batch
    this.#ruled = ruled
    this.#ruledReads = ruledReads
    this.#host = host
  }

  /**
   * Decides queries in order, at most `BATCH_MAX` of them on one state. If all queries of a long list used
   * one state, this state would have to last as long as the call. With a thousand writes per second, no state
   * lasts that long.
   */
  evaluate(source: BatchSource, answers: Uint8Array): Uint8Array {
    const { count } = source
    const steps = { stepsMax: Infinity, ofOneMax: QUESTION_STEPS }
    // A batch ends early if parsing conditions has taken the time of a slice.
    for (let from = 0; from < count;) {
      from = this.#evaluateBatch(
        source,
        { from, count: Math.min(BATCH_MAX, count - from), ...steps },
        answers,
      )
    }
    return answers
  }

  /** Like `evaluate`, but ends with false if rules exist on one of the states. */
  evaluateWithoutRules(source: BatchSource, answers: Uint8Array): boolean {
    for (let from = 0; from < source.count; from += BATCH_MAX) {
      this.#decideOnOneState(source, from, Math.min(BATCH_MAX, source.count - from), answers)
      this.#ruled.forgetBatch()
      // The schema belongs to the state of the batch that was just decided.
      if (this.#host.parts().schema.hasRules) return false
    }
    return true
  }

  /**
   * Decides up to `BATCH_MAX` queries from the first on, until `stepsMax` steps are used. See
   * `DecisionEngine.evaluateSome`.
   */
  evaluateFirst(source: BatchSource, stepsMax: number, verdicts: Uint8Array): number {
    const count = Math.min(BATCH_MAX, source.count)
    const ofOneMax = Math.min(stepsMax, QUESTION_STEPS)
    return this.#evaluateBatch(source, { from: 0, count, stepsMax, ofOneMax }, verdicts)
  }

  /**
   * Like `evaluate`, for up to `BATCH_MAX` queries. Decides at least the first query, and stops when rules
   * have used `stepsMax` steps.
   */
  evaluateSearched(queries: readonly Query[], stepsMax: number): boolean[] {
    const verdicts = new Uint8Array(queries.length)
    const part = { from: 0, count: queries.length, stepsMax, ofOneMax: QUESTION_STEPS }
    let count = 0
    while (count === 0 && queries.length > 0)
      count = this.#evaluateBatch(new QuerySource(queries), part, verdicts)
    return Array.from(verdicts.subarray(0, count), verdict => verdict === ALLOW)
  }

  /**
   * Decides the queries of a batch on one state. Returns the end of the decided queries. It is the end of the
   * batch, unless rules have already used more than `stepsMax` steps.
   */
  #evaluateBatch(
    source: BatchSource,
    { from, count, ...steps }: { readonly from: number; readonly count: number } & BatchSteps,
    answers: Uint8Array,
  ): number {
    this.#decideOnOneState(source, from, count, answers)
    return this.#settleRuled(answers, from + count, steps)
  }

  /**
   * Decides the queries of a batch by roles, and collects the values that rules need. If no state lasts long
   * enough, takes the lock; deciding the queries one by one would use several states.
   */
  #decideOnOneState(source: BatchSource, from: number, count: number, answers: Uint8Array): void {
    const reads = this.#reads
    try {
      for (let attempt = 0; attempt < reads.attempts(ATTEMPTS); attempt++) {
        reads.begin()
        const isComplete = this.#decideBatch(source, from, count, answers, false)
        if (!reads.isValid()) continue
        if (isComplete) return
        break
      }
    } catch (error) {
      if (reads.isValid()) throw reads.faultOf(error)
    }
    reads.locked(() => this.#decideBatch(source, from, count, answers, true))
  }

  /** Decides the queries of the batch that roles have denied but rules might allow. */
  #settleRuled(answers: Uint8Array, end: number, steps: BatchSteps): number {
    if (!this.#ruled.hasAsked) return end
    const again = (query: Query, attempt: Attempt) => this.#ruledReads.evaluate(query, attempt)
    return this.#ruled.settle(answers, again, steps) ?? end
  }

  /** Decides the queries of a batch by roles. Returns false if a closure must be built first. */
  #decideBatch(
    source: BatchSource,
    from: number,
    count: number,
    answers: Uint8Array,
    mayBuild: boolean,
  ): boolean {
    const { verdicts } = this.#batch
    this.#batch.run(source, from, count, this.#reads.sequence)
    for (let i = 0; i < count; i++) {
      let verdict = verdicts[i]!
      if (verdict === UNKNOWN) verdict = this.#host.decide(source.query(from + i), false)
      // Takes this path only for queries that need it, because writers wait while the lock is held.
      if (verdict === BUILD && mayBuild) verdict = this.#host.decide(source.query(from + i), true)
      if (verdict === BUILD) return false
      answers[from + i] = verdict
    }
    const parts = this.#host.parts()
    if (parts.schema.hasRules || this.#ruled.hasAsked) {
      const batch = { source, lookup: this.#batch.lookup, from, count, sequence: this.#reads.sequence }
      this.#ruled.gatherBatch(parts, batch, answers)
    }
    return true
  }
}
