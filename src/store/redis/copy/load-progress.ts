/** Logs the progress of a load: a line every few seconds, and one at the end of a long load. */
import type { StoreLog } from '#store/store-log.ts'

const EVERY_MS = 2_000

export interface LoadProgressOptions {
  readonly total: number
  readonly environmentId: string
  readonly log: Pick<StoreLog, 'info'>
  readonly elapsedMs: () => number
}

export class LoadProgress {
  readonly #options: LoadProgressOptions
  readonly #startedAt: number
  #loggedAt: number
  #facts = 0
  #hasLogged = false

  constructor(options: LoadProgressOptions) {
    this.#options = options
    this.#startedAt = options.elapsedMs()
    this.#loggedAt = this.#startedAt
  }

  add(facts: number): void {
    this.#facts += facts
    const now = this.#options.elapsedMs()
    if (now - this.#loggedAt < EVERY_MS) return
    this.#loggedAt = now
    this.#hasLogged = true
    this.#log('loading')
  }

  end(): void {
    if (this.#hasLogged) this.#log('loaded')
  }

  #log(message: string): void {
    const { total, environmentId, log, elapsedMs } = this.#options
    const seconds = (elapsedMs() - this.#startedAt) / 1_000
    log.info(
      {
        environment: environmentId,
        facts: this.#facts,
        factsPerSecond: Math.round(this.#facts / seconds),
        remaining: Math.max(0, total - this.#facts),
      },
      message,
    )
  }
}
