/**
 * Decisions that take long, left to the pool: one of each environment at a time, so that an environment whose conditions are expensive does
 * not fill the queue that all environments share.
 */
import type { Query } from '#model/decision.ts'
import type { DecideJob, DecisionPool, Waiting } from './decision-pool.ts'
import { sendable } from './sendable-query.ts'
import { nobodyWaits } from './sliced-reads.ts'

export class LongDecisions {
  readonly #pool: DecisionPool
  /** By environment: the decision that came last. */
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(pool: DecisionPool) {
    this.#pool = pool
  }

  /**
   * Rejects with `OVERLOADED` when the pool has too many jobs, and when the caller has left. Reads what the question says before it returns:
   * the body of the request might not exist any longer when its turn comes.
   */
  decide(environmentId: string, query: Query, waiting: Waiting): Promise<boolean> {
    const before = this.#last.get(environmentId)
    const decided = this.#after(before, environmentId, { kind: 'decide', question: sendable(query) }, waiting)
    this.#last.set(environmentId, decided)
    const forget = (): void => {
      if (this.#last.get(environmentId) === decided) this.#last.delete(environmentId)
    }
    decided.then(forget, forget)
    return decided
  }

  async #after(
    before: Promise<unknown> | undefined,
    environmentId: string,
    job: DecideJob,
    waiting: Waiting,
  ): Promise<boolean> {
    await before?.catch(() => {})
    if (waiting.isGone) throw nobodyWaits()
    // It is short enough to be completed for a caller who leaves.
    const leaver = { isGone: false, whenOver: () => {} }
    return this.#pool.read<'decide'>(environmentId, job, leaver)
  }
}
