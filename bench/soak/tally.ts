/** What happened, second by second: requests, latencies, errors, and every answer that was not the expected one. */

export interface Second {
  /** Since the beginning. */
  readonly at: number
  readonly requests: number
  readonly errors: number
  readonly latencyMsP50: number
  readonly latencyMsP99: number
}

/** Wrong answers kept in words. */
const WRONG_KEPT_MAX = 20

export class Tally {
  readonly seconds: Second[] = []
  readonly wrong: string[] = []
  wrongCount = 0
  requests = 0
  /** Checks among them, those in bulks each. */
  checks = 0
  writes = 0
  /** By what went wrong. */
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

  /** Ends a second. */
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
