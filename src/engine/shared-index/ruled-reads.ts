/** Decides by rules a query that roles deny, on one state, with all instances that its conditions look up. */
import type { Query } from '#model/decision.ts'
import { PackedQueries } from '#model/packed-queries.ts'
import { sourceOf } from './check/batch-source.ts'
import { BUILD } from './check/check.ts'
import { type Attempt, type RuleQuestions, settled } from './check/rule-questions.ts'
import { type AskedRules, NO_LOOKUPS } from './check/rule-values.ts'
import type { ConsistentReads } from './consistent-reads.ts'

/** Optimistic attempts before a reader takes the lock. */
const ATTEMPTS = 50

/**
 * Returns the decision of the roles. For a query that they deny, returns the values that rules need, if any
 * rule could allow it.
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

  /** Decides with collected values. `null`: as for `evaluate`. */
  decide(names: Query | PackedQueries, asked: AskedRules, stepsMax: number): boolean | null {
    const outcome = this.#ruled.decide(asked)
    if (typeof outcome !== 'object') return settled(outcome, stepsMax)
    return this.evaluate(names, { stepsMax, spent: this.#ruled.spent, lookups: outcome.lookups })
  }

  /**
   * The evaluations of a query share its steps: each uses the remainder of the previous ones. `null`: it
   * needs more than `stepsMax`, which is below the limit per query, or the thread has to parse more
   * conditions first. The next call continues with these.
   */
  evaluate(
    names: Query | PackedQueries,
    attempt: Partial<Attempt> & Pick<Attempt, 'stepsMax'>,
  ): boolean | null {
    if (!sourceOf(names).asksRules) return false
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
      // All values are collected again on one state; those collected before are not reused.
      lookups = [...lookups, ...outcome.lookups]
    }
  }
}
