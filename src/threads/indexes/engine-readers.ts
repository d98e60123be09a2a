/**
 * Holds the engines of an HTTP thread, one per environment: readers of the indexes that the main thread
 * writes.
 */
import type { EngineSource } from '#decisions/decision-service.ts'
import type { ProgressSource } from '#decisions/questions/min-revision.ts'
import type { DecisionEngine } from '#engine/engine.ts'
import type { IndexHandle } from '#engine/index-handle.ts'
import { AuthzError } from '#model/errors.ts'
import { environmentClosed } from '#replica/closed-environment.ts'
import { interned } from '#threads/interned.ts'
import { type JobIndex, markGone } from '#threads/pool/pool-jobs.ts'
import { StalenessDeadline } from './staleness-deadline.ts'
import { IndexProgress, type ProgressHandle } from './index-progress.ts'
import type { AttachedIndex } from './shared-indexes.ts'

/**
 * How long a decision thread waits for an overdue removal of expired facts. All its callers wait in that
 * time.
 */
const EXPIRY_WAIT_MS = 20
/**
 * After such a wait, the thread does not wait again for this long, so that it serves other environments most
 * of the time.
 */
const EXPIRY_PAUSE_MS = 80

interface Attached {
  readonly engine: DecisionEngine
  readonly progress: IndexProgress
  readonly deadline: StalenessDeadline
  readonly expiryDeadline: StalenessDeadline
  /** Time of `performance.now()` from which the thread waits for removals again. */
  expiryWaitFrom: number
  /** The same index in the form that threads of a pool need. */
  readonly index: JobIndex
}

export class EngineReaders implements EngineSource, ProgressSource {
  readonly #open: (handle: IndexHandle) => DecisionEngine
  readonly #attached = new Map<string, Attached>()
  /** Reason of each closed environment. */
  readonly #closed = new Map<string, string>()
  #organization: IndexProgress | null = null
  #attachments = 0
  readonly #deadline: StalenessDeadline

  /**
   * `open` creates a reader from the handle of an index. `deadline` is the deadline of the node; absent if
   * the node cannot miss changes.
   */
  constructor(open: (handle: IndexHandle) => DecisionEngine, deadline = new StalenessDeadline()) {
    this.#open = open
    this.#deadline = deadline
  }

  engine(environmentId: string): DecisionEngine | null {
    const attached = this.#attached.get(environmentId)
    if (attached === undefined) {
      if (this.#deadline.isOver) throw this.#stale()
      return this.#absent(environmentId)
    }
    // The deadline of an environment is never later than that of the node, so this check is sufficient.
    if (attached.deadline.isOver) throw this.#stale()
    if (attached.expiryDeadline.isOver) this.#waitForExpiry(attached)
    return attached.engine
  }

  /**
   * Returns the engine of this thread, and the data that another thread needs to use the same index. Throws
   * `NOT_READY`, `ENVIRONMENT_CLOSED` or `STALE`.
   */
  shareable(environmentId: string): { readonly engine: DecisionEngine; readonly index: JobIndex } {
    const engine = this.engine(environmentId)
    if (!engine)
      throw new AuthzError('NOT_READY', 'this environment is still being loaded; try again shortly')
    return { engine, index: this.#attached.get(environmentId)!.index }
  }

  /** Handles of all indexes. */
  handles(): IndexHandle[] {
    return Array.from(this.#attached.values(), ({ index }) => index.handle)
  }

  progress(environmentId: string): IndexProgress | null {
    return this.#attached.get(environmentId)?.progress ?? this.#absent(environmentId)
  }

  /** Visible revision of the organization in this process; null if the process does not follow it. */
  organizationProgress(): IndexProgress | null {
    return this.#organization
  }

  followOrganization(progress: ProgressHandle): void {
    this.#organization = new IndexProgress(progress)
  }

  /** Uses the index from now on, and replaces the previous index of the environment, if any. */
  attach(environmentId: string, { index, progress, deadline, expiryDeadline }: AttachedIndex): void {
    const engine = this.#open(index)
    this.detach(environmentId, null)
    this.#attachments += 1
    this.#attached.set(interned(environmentId), {
      engine,
      progress: new IndexProgress(progress),
      deadline: this.#deadline.another(deadline),
      expiryDeadline: this.#deadline.another(expiryDeadline),
      expiryWaitFrom: -Infinity,
      index: {
        environmentId,
        attachment: this.#attachments,
        handle: index,
        gone: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
      },
    })
  }

  /**
   * Ends decisions for the environment. With a reason, the environment is closed and callers receive the
   * reason.
   */
  detach(environmentId: string, reason: string | null): void {
    if (reason === null) this.#closed.delete(environmentId)
    else this.#closed.set(environmentId, reason)
    const attached = this.#attached.get(environmentId)
    if (attached === undefined) return
    this.#attached.delete(environmentId)
    markGone(attached.index)
  }

  /**
   * Waits if facts have expired and the thread that removes them is late. Throws `NOT_READY` if they are not
   * removed soon.
   */
  #waitForExpiry(attached: Attached): void {
    if (performance.now() >= attached.expiryWaitFrom) {
      if (!attached.expiryDeadline.waitWhileOver(EXPIRY_WAIT_MS)) return
      attached.expiryWaitFrom = performance.now() + EXPIRY_PAUSE_MS
    }
    throw new AuthzError('NOT_READY', 'this node is still removing expired grants; try again shortly')
  }

  #stale(): AuthzError {
    const what = this.#deadline.isOver
      ? 'the data of this node is too old, or its store lost it'
      : 'the data of this environment on this node is too old'
    return new AuthzError('STALE', `${what}; try another node`)
  }

  /**
   * Result for an environment without an engine: null if it is not loaded yet. Throws `ENVIRONMENT_CLOSED`
   * for a closed one.
   */
  #absent(environmentId: string): null {
    const reason = this.#closed.get(environmentId)
    if (reason !== undefined) throw environmentClosed(reason)
    return null
  }
}
