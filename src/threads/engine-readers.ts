/** An HTTP thread's engines, one an environment: readers of the indexes that the main thread writes. */
import type { DecisionEngine } from '#engine/engine.ts'
import type { EngineSource } from '#services/decision-service.ts'

export class EngineReaders implements EngineSource {
  readonly #open: (handle: unknown) => DecisionEngine
  readonly #readers = new Map<string, DecisionEngine>()

  /** `open` makes a reader of what an index writer handed out. */
  constructor(open: (handle: unknown) => DecisionEngine) {
    this.#open = open
  }

  engine(environmentId: string): DecisionEngine | null {
    return this.#readers.get(environmentId) ?? null
  }

  /** Uses the index from now on, in place of the environment's old one, if any. */
  attach(environmentId: string, handle: unknown): void {
    this.#readers.set(environmentId, this.#open(handle))
  }

  /** Decides nothing more for the environment. */
  detach(environmentId: string): void {
    this.#readers.delete(environmentId)
  }
}
