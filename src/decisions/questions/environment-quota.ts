/**
 * Measures how long single decisions of each environment with rules have taken in the current event-loop
 * iteration. The conditions of an environment determine the cost of its queries, which can be tens of
 * milliseconds each. Its clients can send a query on each of their connections at the same time. Without a
 * quota, other environments would wait for all these queries.
 */

/**
 * Time per environment and event-loop iteration. When it is used up, further queries of the environment are
 * decided between other requests.
 */
const SHARE_MS = 1
/** Minimum time that is counted. Counting a shorter time would cost more than the delay that it causes. */
const COUNTED_MS_MIN = 0.02

export class EnvironmentQuota {
  readonly #takenMs = new Map<string, number>()

  hasLeft(environmentId: string): boolean {
    return this.#takenMs.size === 0 || (this.#takenMs.get(environmentId) ?? 0) < SHARE_MS
  }

  take(environmentId: string, ms: number): void {
    if (ms < COUNTED_MS_MIN) return
    // Resets the times after all requests that have already arrived.
    if (this.#takenMs.size === 0) setImmediate(() => this.#takenMs.clear())
    this.#takenMs.set(environmentId, (this.#takenMs.get(environmentId) ?? 0) + ms)
  }
}
