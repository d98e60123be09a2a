/** The deadlines as the main thread sets them: the node's, and that of each environment whose index threads have. */
import { StalenessDeadline, type DeadlineHandle } from './staleness-deadline.ts'

export class StalenessDeadlines {
  /** For all that is of no environment: whether the node is ready. */
  readonly node = new StalenessDeadline()
  readonly #environments = new Map<string, StalenessDeadline>()

  /** The same for one environment, however often its index is replaced; none until it is set. */
  handleOf(environmentId: string): DeadlineHandle {
    const existing = this.#environments.get(environmentId)
    if (existing) return existing.handle
    const made = this.node.another()
    this.#environments.set(environmentId, made)
    return made.handle
  }

  /** Those that were asked for. */
  environmentIds(): Iterable<string> {
    return this.#environments.keys()
  }

  /** As `StalenessDeadline.set`. */
  set(environmentId: string, forMs: number): void {
    this.#environments.get(environmentId)?.set(forMs)
  }

  forget(environmentId: string): void {
    this.#environments.delete(environmentId)
  }
}
