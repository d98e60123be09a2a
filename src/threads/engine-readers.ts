/** An HTTP thread's engines, one an environment: readers of the indexes that the main thread writes. */
import type { DecisionEngine } from '#engine/engine.ts'
import { AuthzError } from '#model/errors.ts'
import type { EngineSource } from '#services/decision-service.ts'
import type { ProgressSource } from '#services/min-revision.ts'
import { DecisionDeadline } from './decision-deadline.ts'
import { IndexProgress } from './index-progress.ts'
import type { IndexHandle } from './shared-indexes.ts'

interface Attached {
  readonly engine: DecisionEngine
  readonly progress: IndexProgress
}

export class EngineReaders implements EngineSource, ProgressSource {
  readonly #open: (handle: unknown) => DecisionEngine
  readonly #attached = new Map<string, Attached>()
  readonly #deadline: DecisionDeadline

  /** `open` makes a reader of what an index writer handed out. `deadline`: absent where nothing can be missed. */
  constructor(open: (handle: unknown) => DecisionEngine, deadline = new DecisionDeadline()) {
    this.#open = open
    this.#deadline = deadline
  }

  engine(environmentId: string): DecisionEngine | null {
    if (this.#deadline.isOver) {
      throw new AuthzError('STALE', 'what this node knows is too old, or lost by its store; try another')
    }
    return this.#attached.get(environmentId)?.engine ?? null
  }

  progress(environmentId: string): IndexProgress | null {
    return this.#attached.get(environmentId)?.progress ?? null
  }

  /** Uses the index from now on, in place of the environment's old one, if any. */
  attach(environmentId: string, { index, progress }: IndexHandle): void {
    const attached = { engine: this.#open(index), progress: new IndexProgress(progress) }
    this.#attached.set(environmentId, attached)
  }

  /** Decides nothing more for the environment. */
  detach(environmentId: string): void {
    this.#attached.delete(environmentId)
  }
}
