/**
 * Measures the time that single decisions of environments with rules have used in the current event-loop
 * iteration. An environment determines the cost of its queries, up to tens of milliseconds each, and can send
 * as many concurrently as it has connections. Without a quota, other environments would wait for all of them.
 */

/** Quota per environment and event-loop iteration. Further queries are decided between other requests. */
const SHARE_MS = 1
/** Shorter times are not counted: counting them would cost more than the delay that they cause. */
const COUNTED_MS_MIN = 0.02

export class EnvironmentQuota {
  readonly #takenMs = new Map<string, number>()

  hasLeft(environmentId: string): boolean {
    return this.#takenMs.size === 0 || (this.#takenMs.get(environmentId) ?? 0) < SHARE_MS
  }

  take(environmentId: string, ms: number): void {
    if (ms < COUNTED_MS_MIN) return
    // Runs after all requests that have already arrived.
    if (this.#takenMs.size === 0) setImmediate(() => this.#takenMs.clear())
    this.#takenMs.set(environmentId, (this.#takenMs.get(environmentId) ?? 0) + ms)
  }
}
