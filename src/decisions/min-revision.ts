/**
 * Read your own writes anywhere: a decision that carries the revision of a management answer is made on a state that has it,
 * or not at all. Costs nothing where nobody asks for it.
 */
import { AuthzError } from '#model/errors.ts'
import { formatRevision, parseRevision, type Revision } from '#model/revision.ts'

/** Where an environment's index stands, or what follows from the organization. */
export interface Progress {
  readonly epoch: string
  readonly revision: string
  /** Whether the index has that commit. */
  has(sequence: number): boolean
  /** The same, or whether it has it in time. */
  reaches(sequence: number, withinMs: number): Promise<boolean>
}

export interface ProgressSource {
  /** Null while the environment is not loaded. Throws `ENVIRONMENT_CLOSED`. */
  progress(environmentId: string): Progress | null
  /** How far keys and environments are those of the organization; null before they are known. */
  organizationProgress(): Progress | null
}

/** Requests that wait in one thread at once. */
export const MIN_REVISION_WAITERS_MAX = 10_000
/** Revisions in one request. */
const REVISIONS_MAX = 8

export class MinRevision {
  readonly #source: ProgressSource
  readonly #waitMs: number
  #waiterCount = 0
  /** What was said last, and what it means: callers say the same for long. */
  #text = ''
  #revisions: readonly Revision[] | null = null

  /** `waitMs`: how long a request may wait. */
  constructor(source: ProgressSource, waitMs: number) {
    this.#source = source
    this.#waitMs = waitMs
  }

  /**
   * Whether decisions for a caller of that environment see what `text` says, as they do for most who say it. False also where
   * `reached` would refuse.
   */
  isReached(text: string, environmentId: string): boolean {
    if (text !== this.#text) {
      this.#text = text
      this.#revisions = revisionsOf(text)
    }
    if (this.#revisions === null) return false
    const organization = this.#source.organizationProgress()
    for (const { epoch, sequence } of this.#revisions) {
      const progress = epoch === organization?.epoch ? organization : this.#source.progress(environmentId)
      if (progress === null || progress.epoch !== epoch || !progress.has(sequence)) return false
    }
    return true
  }

  /**
   * Resolves when decisions see what `text` says: a revision as answers of management carry it, or several, separated by
   * commas. Those of the organization are waited for first; then `identify` says, or says anew, whose environment the others
   * are of. Throws `INVALID_INPUT` when they are none or of another history, `NOT_READY` when one does not come in time,
   * `OVERLOADED` when too many wait, and what `identify` throws.
   */
  async reached(text: string, identify: () => string): Promise<void> {
    const revisions = revisionsIn(text)
    const until = performance.now() + this.#waitMs
    const organization = this.#source.organizationProgress()
    const isOrganizations = ({ epoch }: Revision): boolean => epoch === organization?.epoch
    for (const wanted of revisions.filter(isOrganizations)) await this.#reach(organization!, wanted, until)
    const environmentId = identify()
    for (const wanted of revisions) {
      if (isOrganizations(wanted)) continue
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
      await this.#reach(progress, wanted, until)
    }
  }

  /**
   * Whether it says something of the organization that has not been heard of here: then a key that is not known may be
   * one all the same. Only who was told a revision of the organization can say so.
   */
  isAhead(text: string): boolean {
    const organization = this.#source.organizationProgress()
    const here = organization && parseRevision(organization.revision)
    if (!here) return false
    const revisions = text.split(',', REVISIONS_MAX).map(part => parseRevision(part.trim()))
    return revisions.some(wanted => wanted?.epoch === here.epoch && wanted.sequence > here.sequence)
  }

  async #reach(progress: Progress, wanted: Revision, until: number): Promise<void> {
    if (this.#waiterCount >= MIN_REVISION_WAITERS_MAX) {
      const message = `${MIN_REVISION_WAITERS_MAX} requests are waiting for a revision already; try again shortly`
      throw new AuthzError('OVERLOADED', message, { limit: 'waiting' })
    }
    this.#waiterCount += 1
    try {
      if (await progress.reaches(wanted.sequence, Math.max(0, until - performance.now()))) return
    } finally {
      this.#waiterCount -= 1
    }
    throw new AuthzError(
      'NOT_READY',
      `this node is at ${progress.revision} and did not come to ${formatRevision(wanted)} within ${this.#waitMs} ms; try again shortly`,
    )
  }
}

/** Null where it says none, something else, or too much. */
function revisionsOf(text: string): Revision[] | null {
  const parts = text.split(',')
  const revisions = parts.flatMap(part => parseRevision(part.trim()) ?? [])
  return revisions.length === parts.length && parts.length <= REVISIONS_MAX ? revisions : null
}

function revisionsIn(text: string): Revision[] {
  const revisions = revisionsOf(text)
  if (revisions !== null) return revisions
  throw new AuthzError(
    'INVALID_INPUT',
    `X-Min-Revision is what an answer gave as X-Revision: <epoch>.<sequence>, or up to ${REVISIONS_MAX} of them, separated by commas`,
  )
}
