/**
 * Time that a thread may spend without processing new events. Every thread that serves several environments
 * has one budget. The divisible work of requests takes its time from it, so that a request waits for at most
 * one slice, and for the step with which that slice ends.
 */

/**
 * Longest slice of each kind of thread, in milliseconds. A single decision waits for a slice of its HTTP
 * thread, a change for one of the main thread, and a part of a bulk or a short read for one of a pool thread.
 * Other large bodies wait for a slice of the body thread.
 */
export const LONGEST_SLICE_MS = { main: 4, http: 1, pool: 2, body: 2 } as const

export type ThreadKind = keyof typeof LONGEST_SLICE_MS

/** Minimum time that is accounted for. Accounting for a shorter time would cost more than that time. */
const SPENT_MS_MIN = 0.02
/** Maximum time by which an environment can be ahead of the one that was served last. */
const AHEAD_MS_MAX = 1_000

export class TimeBudget {
  readonly sliceMs: number
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs: () => number
  /** End of the slice of this event-loop iteration; null if no slice has begun. */
  #sliceEnd: number | null = null
  /** Time of each environment in this iteration. */
  readonly #spentMs = new Map<string, number>()
  /** Total time of each environment, if it is more than `#servedMs`. */
  readonly #totalMs = new Map<string, number>()
  #totalsMax = 1_024
  /** Total time of the environment that was served last, before it was served. */
  #servedMs = 0

  constructor(kind: ThreadKind, elapsedMs: () => number = () => performance.now()) {
    this.sliceMs = LONGEST_SLICE_MS[kind]
    this.elapsedMs = elapsedMs
  }

  /**
   * Returns the time at which work must stop. The first call in an event-loop iteration begins a slice that
   * all work of the iteration shares.
   */
  sliceEnd(): number {
    this.#sliceEnd ??= this.#begin()
    return this.#sliceEnd
  }

  /** Whether the environment has spent less than a slice in this iteration. */
  hasLeft(environmentId: string): boolean {
    return this.#spentMs.size === 0 || (this.#spentMs.get(environmentId) ?? 0) < this.sliceMs
  }

  /** Adds time that was spent for an environment. */
  spend(environmentId: string, ms: number): void {
    if (ms < SPENT_MS_MIN) return
    this.sliceEnd()
    this.#spentMs.set(environmentId, (this.#spentMs.get(environmentId) ?? 0) + ms)
    // Time that was spent while nothing waited is remembered only up to a maximum. Otherwise, a busy
    // environment would later wait until others have spent as much as it has spent in days.
    const totalMs = Math.min(this.totalMs(environmentId) + ms, this.#servedMs + AHEAD_MS_MAX)
    this.#totalMs.set(environmentId, totalMs)
    if (this.#totalMs.size > this.#totalsMax) this.#forgetTotals()
  }

  /**
   * Total time of an environment. An idle environment counts as having spent as much as the environment that
   * was served last. Therefore it cannot save up time.
   */
  totalMs(environmentId: string): number {
    return Math.max(this.#totalMs.get(environmentId) ?? 0, this.#servedMs)
  }

  /** Notes that the environment is served next. It must have the least total time of those that wait. */
  serve(environmentId: string): void {
    this.#servedMs = this.totalMs(environmentId)
  }

  #begin(): number {
    // Ends the slice after all requests that have already arrived.
    setImmediate(() => {
      this.#sliceEnd = null
      this.#spentMs.clear()
    })
    return this.elapsedMs() + this.sliceMs
  }

  #forgetTotals(): void {
    for (const [environmentId, ms] of this.#totalMs) {
      if (ms <= this.#servedMs) this.#totalMs.delete(environmentId)
    }
    this.#totalsMax = Math.max(1_024, 2 * this.#totalMs.size)
  }
}
