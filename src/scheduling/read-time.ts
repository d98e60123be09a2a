/**
 * Limits the total time that a sliced read takes on a thread. A limit on entries is not sufficient, because
 * the cost of evaluating rules for many candidates is known only after the evaluation.
 */
import { AuthzError } from '#model/errors.ts'

/** Maximum total time of the slices of a read. The largest lists take a hundredth of it. */
export const READ_MS_MAX = 10_000

export class ReadTime {
  #spentMs = 0

  /** Adds the time of a slice. Throws `LIMIT_EXCEEDED` if the total exceeds the limit. */
  spend(ms: number): void {
    this.#spentMs += ms
    if (this.#spentMs <= READ_MS_MAX) return
    throw new AuthzError(
      'LIMIT_EXCEEDED',
      `the request would take longer than ${READ_MS_MAX} ms; filter by tenants, types or names, or use a search with pages`,
      { limit: 'list' },
    )
  }
}
