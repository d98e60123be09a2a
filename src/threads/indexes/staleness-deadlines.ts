/**
 * Deadlines that the main thread sets: one for the node, and one for each environment whose index the threads
 * have.
 */
import { StalenessDeadline, type DeadlineHandle } from './staleness-deadline.ts'

export class StalenessDeadlines {
  /** For everything that does not belong to an environment, for example whether the node is ready. */
  readonly node = new StalenessDeadline()
  readonly #environments = new Map<string, StalenessDeadline>()

  /**
   * Returns the handle of the deadline of one environment. The handle remains valid if the index is replaced.
   * A deadline that has not been set never passes.
   */
  handleOf(environmentId: string): DeadlineHandle {
    const existing = this.#environments.get(environmentId)
    if (existing) return existing.handle
    const made = this.node.another()
    this.#environments.set(environmentId, made)
    return made.handle
  }

  /** Environments whose deadlines have been requested. */
  environmentIds(): Iterable<string> {
    return this.#environments.keys()
  }

  /** See `StalenessDeadline.set`. */
  set(environmentId: string, forMs: number): void {
    this.#environments.get(environmentId)?.set(forMs)
  }

  forget(environmentId: string): void {
    this.#environments.delete(environmentId)
  }
}
