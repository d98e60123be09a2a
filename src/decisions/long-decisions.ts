/**
 * Sends long decisions to the pool, at most one per environment at a time. The queue of the pool is shared by
 * all environments; an environment with expensive conditions thus cannot fill it.
 */
import type { Query } from '#model/decision.ts'
import type { DecideJob, DecisionPool } from './decision-pool.ts'
import type { WaitingClient } from '#model/caller.ts'
import { sendable } from '#decisions/questions/sendable-query.ts'
import { abandoned } from '#scheduling/admission.ts'

export class LongDecisions {
  readonly #pool: DecisionPool
  /** For each environment, the last decision that was sent to the pool. */
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(pool: DecisionPool) {
    this.#pool = pool
  }

  /** Whether a decision of the environment waits or runs in the pool. */
  hasPending(environmentId: string): boolean {
    return this.#last.has(environmentId)
  }

  /**
   * Decides a query in the pool. Rejects with `OVERLOADED` if the pool has too many jobs or if the client
   * disconnected. Reads all values of the query before it returns, because the body of the request might not
   * exist any more when the job starts.
   */
  decide(environmentId: string, query: Query, waiting: WaitingClient): Promise<boolean> {
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
    waiting: WaitingClient,
  ): Promise<boolean> {
    await before?.catch(() => {})
    if (waiting.isGone) throw abandoned()
    // The decision is short, so it is completed even if the client disconnects.
    const leaver = { isGone: false, whenOver: () => {} }
    return this.#pool.read<'decide'>(environmentId, job, leaver)
  }
}
