/**
 * Implements read-your-writes consistency across nodes. The response to a change contains a revision. If a
 * decision request contains this revision, it is evaluated on a state that includes the change; otherwise it
 * is rejected. Requests without a revision are not delayed.
 */
import { AuthzError } from '#model/errors.ts'
import { formatRevision, parseRevision, type Revision } from '#model/revision.ts'

/**
 * State that has been reached: of the index of an environment, or of the data that is derived from the
 * organization.
 */
export interface Progress {
  readonly epoch: string
  readonly revision: string
  /** Returns whether the state includes the commit with that number. */
  has(sequence: number): boolean
  /**
   * Resolves to true when the state includes the commit with that number. Resolves to false if that does not
   * happen within the given time.
   */
  reaches(sequence: number, withinMs: number): Promise<boolean>
}

export interface ProgressSource {
  /**
   * Returns the progress of an environment, or null while it is not loaded. Throws `ENVIRONMENT_CLOSED` if it
   * is closed.
   */
  progress(environmentId: string): Progress | null
  /**
   * Returns the progress of keys and environments, which are derived from the organization. Returns null
   * before they are loaded.
   */
  organizationProgress(): Progress | null
}

/** Maximum number of requests that wait at the same time in one thread. */
export const MIN_REVISION_WAITERS_MAX = 10_000
/** Maximum number of revisions in one request. */
const REVISIONS_MAX = 8

export class MinRevision {
  readonly #source: ProgressSource
  readonly #waitMs: number
  #waiterCount = 0
  /** Cache of the last header and the revisions in it, because callers often repeat the same header. */
  #text = ''
  #revisions: readonly Revision[] | null = null

  /** `waitMs` is the maximum time for which a request waits. */
  constructor(source: ProgressSource, waitMs: number) {
    this.#source = source
    this.#waitMs = waitMs
  }

  /**
   * Returns whether decisions for a caller of that environment already include the revisions in `text`.
   * Usually they do. Also returns false if `reached` would reject `text`.
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
   * Resolves when decisions include the revisions in `text`. `text` contains one revision from a management
   * response, or several, separated by commas. Waits for revisions of the organization first. Then calls
   * `identify` to get the environment of the caller again; the other revisions belong to this environment.
   * `begun`: the revision with which the session of the caller began, if decisions must include it too.
   * Throws `INVALID_INPUT` if a revision is malformed or belongs to another epoch, `NOT_READY` if a revision
   * does not arrive in time, `OVERLOADED` if too many requests wait, and the errors of `identify`.
   */
  async reached(text: string, identify: () => string, begun?: string): Promise<void> {
    const own = revisionsIn(text)
    const revisions = begun === undefined ? own : [...revisionsIn(begun), ...own]
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
          `X-Min-Revision belongs to another epoch than this environment, which is at ${progress.revision}`,
        )
      }
      await this.#reach(progress, wanted, until)
    }
  }

  /**
   * Returns whether `text` contains a revision of the organization that this node has not received yet. If
   * so, a key that this node does not know might still be valid. Only clients that received such a revision
   * can send it.
   */
  isAhead(text: string): boolean {
    const organization = this.#source.organizationProgress()
    const here = organization && parseRevision(organization.revision)
    if (!here) return false
    const revisions = text.split(',', REVISIONS_MAX).map(part => parseRevision(part.trim()))
    return revisions.some(wanted => wanted?.epoch === here.epoch && wanted.sequence > here.sequence)
  }

  /** Returns whether `revision` is a revision of the organization that this node has received. */
  isPast({ epoch, sequence }: Revision): boolean {
    const organization = this.#source.organizationProgress()
    return organization !== null && organization.epoch === epoch && organization.has(sequence)
  }

  async #reach(progress: Progress, wanted: Revision, until: number): Promise<void> {
    if (this.#waiterCount >= MIN_REVISION_WAITERS_MAX) {
      const message = `${MIN_REVISION_WAITERS_MAX} requests already wait for a revision; try again shortly`
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
      `this node is at ${progress.revision} and did not reach ${formatRevision(wanted)} within ${this.#waitMs} ms; try again shortly`,
    )
  }
}

/** Parses the revisions. Returns null if the text is malformed or contains too many revisions. */
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
    `X-Min-Revision must be the X-Revision of a response: <epoch>.<sequence>, or up to ${REVISIONS_MAX} of them, separated by commas`,
  )
}
