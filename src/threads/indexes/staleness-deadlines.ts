/** The deadlines as the main thread sets them: the node's, and one for each environment whose index the threads have. */
import { StalenessDeadline, type DeadlineHandle } from './staleness-deadline.ts'

export class StalenessDeadlines {
  /** For what concerns no environment: whether the node is ready. */
  readonly node = new StalenessDeadline()
  readonly #environments = new Map<string, StalenessDeadline>()

  /** The deadline of one environment, the same however often its index is replaced. It does not end until it is set. */
  handleOf(environmentId: string): DeadlineHandle {
    const existing = this.#environments.get(environmentId)
    if (existing) return existing.handle
    const made = this.node.another()
    this.#environments.set(environmentId, made)
    return made.handle
  }

  /** The environments whose deadlines were asked for. */
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
