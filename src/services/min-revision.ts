/**
 * Read your own writes anywhere: a decision that carries the revision of a management answer is made on a state that has it,
 * or not at all. Costs nothing where nobody asks for it.
 */
import { AuthzError } from '#model/errors.ts'
import { parseRevision } from '#model/revision.ts'

/** Where an environment's index stands. */
export interface Progress {
  readonly epoch: string
  readonly revision: string
  /** Whether the index has that commit, or has it in time. */
  reaches(sequence: number, withinMs: number): Promise<boolean>
}

export interface ProgressSource {
  /** Null while the environment is not loaded. */
  progress(environmentId: string): Progress | null
}

/** Requests that wait in one thread at once. */
export const MIN_REVISION_WAITERS_MAX = 10_000

export class MinRevision {
  readonly #source: ProgressSource
  readonly #waitMs: number
  #waiterCount = 0

  /** `waitMs`: how long a request may wait. */
  constructor(source: ProgressSource, waitMs: number) {
    this.#source = source
    this.#waitMs = waitMs
  }

  /**
   * Resolves when decisions see `text`, a revision as answers of management carry it. Throws `INVALID_INPUT` when it is none
   * or of another history, `NOT_READY` when it does not come in time, `OVERLOADED` when too many wait.
   */
  async reached(environmentId: string, text: string): Promise<void> {
    const wanted = parseRevision(text)
    if (wanted === null) {
      throw new AuthzError(
        'INVALID_INPUT',
        'X-Min-Revision is what an answer gave as X-Revision: <epoch>.<sequence>',
      )
    }
    const progress = this.#source.progress(environmentId)
    if (!progress) {
      throw new AuthzError('NOT_READY', 'this environment is still being loaded; try again shortly')
    }
    if (wanted.epoch !== progress.epoch) {
      throw new AuthzError(
        'INVALID_INPUT',
        `X-Min-Revision is of another history than this environment, which is at ${progress.revision}`,
      )
    }
    if (this.#waiterCount >= MIN_REVISION_WAITERS_MAX) {
      throw new AuthzError('OVERLOADED', 'too many requests wait for a revision; try again shortly')
    }
    this.#waiterCount += 1
    const isThere = await progress.reaches(wanted.sequence, this.#waitMs)
    this.#waiterCount -= 1
    if (isThere) return
    throw new AuthzError(
      'NOT_READY',
      `this node is at ${progress.revision} and did not come to ${text} within ${this.#waitMs} ms; try again shortly`,
    )
  }
}
