/**
 * Decides by rules a query that roles deny. Uses one state for the query and for all instances that its
 * conditions look up.
 */
import type { Query } from '#model/decision.ts'
import { PackedQueries } from '#model/packed-queries.ts'
import { BUILD } from '#engine/shared-index/check/check.ts'
import { type Attempt, type RuleQuestions, settled } from '#engine/shared-index/check/rule-questions.ts'
import { type AskedRules, NO_LOOKUPS } from '#engine/shared-index/check/rule-values.ts'
import type { ConsistentReads } from '#engine/shared-index/schema/consistent-reads.ts'

/** Number of attempts without the lock, before a reader takes the lock. */
const ATTEMPTS = 50

/**
 * Decides a query by roles. If roles deny it and a rule could allow it, returns the values that the rules
 * need; otherwise returns the decision.
 */
type Ask = (
  query: Query,
  attempt: Pick<Attempt, 'lookups' | 'stepsMax'>,
  mayBuild: boolean,
) => boolean | AskedRules | typeof BUILD

export class RuledReads {
  readonly #reads: ConsistentReads
  readonly #ruled: RuleQuestions
  readonly #ask: Ask

  constructor(reads: ConsistentReads, ruled: RuleQuestions, ask: Ask) {
    this.#reads = reads
    this.#ruled = ruled
    this.#ask = ask
  }

  /** Decides with values that have been collected. Returns `null` in the same cases as `evaluate`. */
  decide(names: Query | PackedQueries, asked: AskedRules, stepsMax: number): boolean | null {
    const outcome = this.#ruled.decide(asked)
    if (typeof outcome !== 'object') return settled(outcome, stepsMax)
    return this.evaluate(names, { stepsMax, spent: this.#ruled.spent, lookups: outcome.lookups })
  }

  /**
   * Decides a query. All evaluations of a query share the steps of the query, so each evaluation can use the
   * steps that the previous evaluations left. Returns `null` in two cases: if the query needs more than
   * `stepsMax` steps and `stepsMax` is less than the limit per query, or if the thread has to parse more
   * conditions first. The next call continues parsing.
   */
  evaluate(
    names: Query | PackedQueries,
    attempt: Partial<Attempt> & Pick<Attempt, 'stepsMax'>,
  ): boolean | null {
    const query = names instanceof PackedQueries ? names.query(0) : names
    const { stepsMax } = attempt
    let { spent = 0, lookups = NO_LOOKUPS } = attempt
    for (;;) {
      const wanted = { lookups, stepsMax: stepsMax - spent }
      let asked = this.#reads.read(ATTEMPTS, () => this.#ask(query, wanted, false))
      if (asked === BUILD) asked = this.#reads.locked(() => this.#ask(query, wanted, true))
      if (asked === BUILD || typeof asked === 'boolean') return asked === true
      const outcome = this.#ruled.decide(asked)
      if (typeof outcome !== 'object') return settled(outcome, stepsMax)
      spent += this.#ruled.spent
      // The next evaluation collects all values again, so that they all belong to one state. Values that were
      // collected before are not used again.
      lookups = [...lookups, ...outcome.lookups]
    }
  }
}
