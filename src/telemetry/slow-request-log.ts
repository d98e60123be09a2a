/**
 * Logs slow requests, at most `LINES_PER_SECOND_MAX` lines per second. Lines are written synchronously, so
 * thousands of lines would make an overload worse. If lines were omitted, the next line contains their
 * number.
 */
import type { Logger } from 'pino'

const LINES_PER_SECOND_MAX = 10

export interface SlowRequestLine {
  readonly requestId: string
  readonly operation: string | null
  readonly environment: string | null
  readonly status: number
  readonly elapsedMs: number
}

export class SlowRequestLog {
  readonly #log: Logger
  readonly #elapsedMs: () => number
  #second = 0
  #lines = 0
  #omitted = 0

  /** `elapsedMs` returns the milliseconds of a clock that never goes backward. */
  constructor(log: Logger, elapsedMs: () => number) {
    this.#log = log
    this.#elapsedMs = elapsedMs
  }

  write({ requestId, operation, environment, status, elapsedMs }: SlowRequestLine): void {
    const second = Math.floor(this.#elapsedMs() / 1_000)
    if (second !== this.#second) [this.#second, this.#lines] = [second, 0]
    if (this.#lines === LINES_PER_SECOND_MAX) {
      this.#omitted += 1
      return
    }
    this.#lines += 1
    const omitted = this.#omitted > 0 ? { omitted: this.#omitted } : {}
    this.#omitted = 0
    const fields = { requestId, operation, environment, status, elapsedMs: Math.round(elapsedMs), ...omitted }
    this.#log.warn(fields, 'slow request')
  }
}
