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
  #toldAt: number
  #facts = 0
  #hasTold = false

  constructor(options: LoadProgressOptions) {
    this.#options = options
    this.#startedAt = options.elapsedMs()
    this.#toldAt = this.#startedAt
  }

  add(facts: number): void {
    this.#facts += facts
    const now = this.#options.elapsedMs()
    if (now - this.#toldAt < EVERY_MS) return
    this.#toldAt = now
    this.#hasTold = true
    this.#tell('loading')
  }

  end(): void {
    if (this.#hasTold) this.#tell('loaded')
  }

  #tell(message: string): void {
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
