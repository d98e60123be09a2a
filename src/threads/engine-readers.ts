/** An HTTP thread's engines, one an environment: readers of the indexes that the main thread writes. */
import type { DecisionEngine } from '#engine/engine.ts'
import { AuthzError } from '#model/errors.ts'
import type { EngineSource } from '#services/decision-service.ts'
import type { ProgressSource } from '#services/min-revision.ts'
import { IndexProgress, type ProgressHandle } from './index-progress.ts'
import type { IndexHandle } from './shared-indexes.ts'

interface Attached {
  readonly engine: DecisionEngine
  readonly progress: IndexProgress
}

export class EngineReaders implements EngineSource, ProgressSource {
  readonly #open: (handle: unknown) => DecisionEngine
  readonly #attached = new Map<string, Attached>()
  #organization: IndexProgress | null = null
  #isSuspended = false

  /** `open` makes a reader of what an index writer handed out. */
  constructor(open: (handle: unknown) => DecisionEngine) {
    this.#open = open
  }

  engine(environmentId: string): DecisionEngine | null {
    if (this.#isSuspended) {
      throw new AuthzError('STALE', 'this node has not heard from its store for too long; try another')
    }
    return this.#attached.get(environmentId)?.engine ?? null
  }

  progress(environmentId: string): IndexProgress | null {
    return this.#attached.get(environmentId)?.progress ?? null
  }

  /** How far this process follows the organization; null while it does not. */
  organizationProgress(): IndexProgress | null {
    return this.#organization
  }

  followOrganization(progress: ProgressHandle): void {
    this.#organization = new IndexProgress(progress)
  }

  /** Whether there are engines to decide with; without, what they know is too old. */
  suspend(isSuspended: boolean): void {
    this.#isSuspended = isSuspended
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
