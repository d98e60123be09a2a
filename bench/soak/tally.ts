/** Results of the soak test: requests, latencies and errors per second, and all wrong responses. */

export interface Second {
  /** Seconds since the start. */
  readonly at: number
  readonly requests: number
  readonly errors: number
  readonly latencyMsP50: number
  readonly latencyMsP99: number
}

/** Maximum number of wrong responses whose details are kept. */
const WRONG_KEPT_MAX = 20

export class Tally {
  readonly seconds: Second[] = []
  readonly wrong: string[] = []
  wrongCount = 0
  requests = 0
  /** Number of checks. Each check of a bulk is counted. */
  checks = 0
  writes = 0
  /** Number of errors by kind. */
  readonly errors: Record<string, number> = {}
  #latencies: number[] = []
  #errorsNow = 0

  done(latencyMs: number): void {
    this.requests += 1
    this.#latencies.push(latencyMs)
  }

  error(what: string): void {
    this.errors[what] = (this.errors[what] ?? 0) + 1
    this.#errorsNow += 1
  }

  wrongAnswer(what: string): void {
    this.wrongCount += 1
    if (this.wrong.length < WRONG_KEPT_MAX) this.wrong.push(what)
  }

  /** Completes the results of the current second. */
  endSecond(at: number): void {
    const sorted = this.#latencies.toSorted((one, other) => one - other)
    const share = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
    this.seconds.push({
      at,
      requests: sorted.length,
      errors: this.#errorsNow,
      latencyMsP50: share(0.5),
      latencyMsP99: share(0.99),
    })
    this.#latencies = []
    this.#errorsNow = 0
  }
}
