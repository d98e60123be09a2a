/**
 * Manages the shared indexes on the main thread: one writer per environment, whose memory every HTTP thread
 * reads directly. A change is visible to all threads when `apply` resolves, without messages or
 * acknowledgements. Only a new index is sent to the threads, which attach to its memory.
 */
import type { ChangeSink } from '#engine/engine.ts'
import type { IndexHandle } from '#engine/index-handle.ts'
import { assert } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
import { runInSlices } from '#scheduling/resumable.ts'
import type { Revision } from '#model/revision.ts'
import type {
  ClosableIndexHost,
  ExpiryHost,
  IndexKeeper,
  CapacityReservation,
  OnExpired,
} from '#replica/index-host.ts'
import type { SnapshotPlace } from '#store/snapshot-place.ts'
import { ExpiringFacts, type ExpiringIndex } from './index-expiry.ts'
import { createDeadline, type DeadlineHandle, StalenessDeadline } from './staleness-deadline.ts'
import {
  createProgress,
  type ProgressHandle,
  publishedSequence,
  publishProgress,
  revisionAt,
} from './index-progress.ts'

export interface IndexBytes {
  readonly header: number
  readonly graph: number
  readonly closures: number
  readonly schema: number
}

export interface IndexFigures {
  readonly assignments: number
  readonly tuples: number
  /** Assignments and tuples that have an expiration time. */
  readonly expiring: number
  /** Number of all other records: tenants, users, instances and their containers. */
  readonly records: number
  readonly closuresBuilt: number
  readonly containersVoided: number
  readonly tenantsVoided: number
}

/** Writer of an index, with the handle that a thread needs to read it. */
export interface IndexWriter extends ChangeSink, ExpiringIndex {
  readonly handle: IndexHandle
  /** Size of the index, and the number of closures that were built and invalidated. */
  figures(): IndexFigures
  /** Bytes of each region. */
  bytes(): IndexBytes
  /**
   * Like `apply`, in short steps. When they are complete, all threads see the changes. Nothing else may be
   * applied in the meantime. Throws `LIMIT_EXCEEDED`, with nothing changed, if the index has no free numbers
   * for the changes.
   */
  applyInSteps(changes: readonly Change[]): Generator<void>
  /**
   * Reserves capacity for a commit. Returns a function that releases it. Throws `LIMIT_EXCEEDED` if the
   * capacity is missing.
   */
  reserveCapacity(changes: readonly Change[]): () => void
  /**
   * Collects garbage that removals left, in at most `steps` short steps. Returns false if nothing is left.
   */
  collect(steps: number): boolean
  /**
   * Builds closures before they are needed. `work` is the approximate number of records to process. Returns
   * false if nothing is left.
   */
  precompute(work: number): boolean
  /** See `SharedIndexWriter.buildLists`. */
  buildLists(records: number): boolean
  /** Ends all decisions on the index permanently. Idempotent. */
  retire(): void
  /** Resolves to true when this thread or a reader retires the index; resolves to false after `letGo`. */
  whenRetired(): Promise<boolean>
  /** Ends the wait of `whenRetired`: the index is no longer used. */
  letGo(): void
  /**
   * The index in a form that can be saved, valid until the index changes; null while removals wait to be
   * collected.
   */
  save(): unknown
}

/**
 * Storage of saved indexes, in the form that writers return. No method throws: without a saved index, only
 * the start is slower.
 */
export interface KeptIndexes {
  /** Reads a saved index; null if there is no usable one. */
  read(
    environmentId: string,
    place: SnapshotPlace,
    epoch: string,
  ): Promise<{ readonly revision: Revision; readonly writer: IndexWriter } | null>
  /**
   * Saves an index. Gives up if the index is not saved completely by `until`, a time of `performance.now()`.
   */
  write(
    kept: { readonly environmentId: string; readonly revision: Revision; readonly saved: unknown },
    place: SnapshotPlace,
    until: number,
  ): Promise<void>
}

interface SharedIndexesOptions {
  readonly createWriter: () => IndexWriter
  /** Null if each start loads everything from the rows. */
  readonly kept: KeptIndexes | null
  /**
   * Warms up the code of writers, step by step; null if the code is not warmed up before the first changes.
   */
  readonly warmUpWriter: (() => Iterable<unknown>) | null
  /**
   * Deadline until which threads can make decisions on an index of that environment; absent if no changes can
   * be missed.
   */
  readonly deadlineOf?: (environmentId: string) => DeadlineHandle
  /** Milliseconds since 1970; by default, the clock of the process. */
  readonly now?: () => number
  /** Sends an index to every thread that makes decisions; resolves when all of them have attached to it. */
  readonly attach: (environmentId: string, index: AttachedIndex) => Promise<void>
  /**
   * Removes the index from all threads. With a reason, the environment is closed and callers receive the
   * reason.
   */
  readonly detach: (environmentId: string, reason: string | null) => Promise<void>
  /**
   * Called if an index ended for a reason other than a commit that was being applied: a reader found it
   * broken, or the collection of garbage failed.
   */
  readonly onFault: (environmentId: string, error: unknown) => void
}

/** Everything that a thread needs to make decisions on an index, including its progress. */
export interface AttachedIndex {
  readonly index: IndexHandle
  readonly progress: ProgressHandle
  readonly deadline: DeadlineHandle
  /** Until this deadline, no fact in the index has expired. */
  readonly expiryDeadline: DeadlineHandle
}

interface Loaded {
  readonly writer: IndexWriter
  readonly progress: ProgressHandle
  readonly expiringFacts: ExpiringFacts
}

/** Changes applied in one critical section during a load, before the event loop continues. */
const LOAD_PART_CHANGES = 1_000
/** Work of building closures per event-loop iteration, in records: about half a millisecond. */
const PRECOMPUTED_PER_ITERATION = 2_000
/** Records processed for attribute indexes per event-loop iteration: about half a millisecond. */
const LISTED_PER_ITERATION = 64
/**
 * Minimum number of records and facts of an index for which the writer is warmed up, once per process. The
 * warm-up takes less time than the load of such an index.
 */
const WARM_UP_FROM = 100_000
/**
 * Time limit for saving all indexes at shutdown, including the collection of garbage. Supervisors allow
 * little time.
 */
const KEEP_MS_MAX = 3_000

export class SharedIndexes implements ClosableIndexHost, IndexKeeper, CapacityReservation, ExpiryHost {
  readonly #options: SharedIndexesOptions
  readonly #loaded = new Map<string, Loaded>()
  /** Expirations of indexes that threads still use although a new index is loaded and not published yet. */
  readonly #outgoing = new Map<string, ExpiringFacts>()
  readonly #collecting = new Set<IndexWriter>()
  readonly #listing = new Set<IndexWriter>()
  /** Time of `performance.now()` by which all indexes must be saved; null before the first is saved. */
  #keepUntil: number | null = null
  #keeping: Promise<void> = Promise.resolve()
  #warmedUp: Promise<void> | null = null
  readonly #clock = new StalenessDeadline()
  /** Receivers of expired facts, by environment. */
  readonly #onExpired = new Map<string, OnExpired>()

  constructor(options: SharedIndexesOptions) {
    this.#options = options
  }

  async load(
    environmentId: string,
    changes: Iterable<Change>,
    revision: Revision,
    place: SnapshotPlace | null,
  ): Promise<void> {
    const writer = this.#options.createWriter()
    let part: Change[] = []
    for (const change of changes) {
      part.push(change)
      if (part.length < LOAD_PART_CHANGES) continue
      writer.apply(part)
      part = []
      await nextIteration()
    }
    writer.apply(part)
    while (writer.precompute(PRECOMPUTED_PER_ITERATION)) await nextIteration()
    const loaded = this.#loadedOf(environmentId, writer, revision)
    // The index is saved before threads use it and build closures. If the process crashes later, the next
    // start need not load it again.
    if (place) await this.#write(environmentId, place, loaded, Infinity)
    await this.#warmUpFor(writer)
    await this.#take(environmentId, loaded)
  }

  async restore(environmentId: string, place: SnapshotPlace, epoch: string): Promise<Revision | null> {
    const kept = (await this.#options.kept?.read(environmentId, place, epoch)) ?? null
    if (kept === null) return null
    const { writer, revision } = kept
    await this.#take(environmentId, this.#loadedOf(environmentId, writer, revision))
    return revision
  }

  async publish(environmentId: string): Promise<void> {
    const loaded = this.#loaded.get(environmentId)
    assert(loaded, 'a published index was loaded or restored before')
    const { writer, progress, expiringFacts } = loaded
    const { attach, deadlineOf = createDeadline } = this.#options
    const deadlines = { deadline: deadlineOf(environmentId), expiryDeadline: expiringFacts.deadline }
    await attach(environmentId, { index: writer.handle, progress, ...deadlines })
    this.#stopOutgoing(environmentId)
    this.#goOnListing(environmentId, writer)
    void this.#warmUpBehind(writer)
  }

  /**
   * Saves an index. Indexes are saved one after the other, in the order of the calls. If several were saved
   * at the same time, possibly none would be complete in time.
   */
  keep(environmentId: string, place: SnapshotPlace): Promise<void> {
    const keeping = this.#keeping.then(() => this.#keep(environmentId, place))
    this.#keeping = keeping.catch(() => undefined)
    return keeping
  }

  async #keep(environmentId: string, place: SnapshotPlace): Promise<void> {
    const loaded = this.#loaded.get(environmentId)
    if (!loaded) return
    // No thread makes decisions any more, and nothing may change the index while it is written.
    loaded.expiringFacts.stop()
    this.#keepUntil ??= performance.now() + KEEP_MS_MAX
    while (this.#collecting.has(loaded.writer) && performance.now() < this.#keepUntil) await nextIteration()
    const isAtRest = !this.#collecting.has(loaded.writer)
    if (isAtRest) await this.#write(environmentId, place, loaded, this.#keepUntil)
  }

  async apply(environmentId: string, changes: readonly Change[], revision: Revision): Promise<void> {
    const loaded = this.#loaded.get(environmentId)
    assert(loaded, 'changes arrive only for a loaded environment')
    const { writer, progress, expiringFacts } = loaded
    await runInSlices(writer.applyInSteps(changes))
    publishProgress(progress, revision.sequence)
    expiringFacts.look()
    if (!this.#collecting.has(writer)) void this.#collect(environmentId, writer)
    this.#goOnListing(environmentId, writer)
  }

  async close(environmentId: string, reason: string): Promise<void> {
    // The index is retired immediately, because a partially applied commit is not a valid state. Readers
    // notice this at their next read.
    this.#forget(environmentId)?.retire()
    await this.#options.detach(environmentId, reason)
  }

  reserveCapacity(environmentId: string, changes: readonly Change[]): () => void {
    return this.#loaded.get(environmentId)?.writer.reserveCapacity(changes) ?? (() => {})
  }

  /** Current figures of the index of an environment; null if it has none. */
  look(environmentId: string): (IndexFigures & { sequence: number; bytes: IndexBytes }) | null {
    const loaded = this.#loaded.get(environmentId)
    if (!loaded) return null
    const { writer, progress } = loaded
    return { ...writer.figures(), sequence: publishedSequence(progress), bytes: writer.bytes() }
  }

  /** Revision of the index of an environment; null if it has none. */
  revision(environmentId: string): Revision | null {
    const loaded = this.#loaded.get(environmentId)
    return loaded ? revisionAt(loaded.progress) : null
  }

  async remove(environmentId: string): Promise<void> {
    await this.#options.detach(environmentId, null)
    this.#forget(environmentId)
    this.#onExpired.delete(environmentId)
  }

  whenExpired(environmentId: string, onExpired: OnExpired): void {
    this.#onExpired.set(environmentId, onExpired)
  }

  /**
   * Removes some of the facts that have expired by now, ahead of their timer. For callers that make decisions
   * on this thread.
   */
  expireDue(environmentId: string): void {
    this.#loaded.get(environmentId)?.expiringFacts.look()
  }

  #loadedOf(environmentId: string, writer: IndexWriter, revision: Revision): Loaded {
    const progress = createProgress(revision)
    const expiringFacts = new ExpiringFacts({
      index: writer,
      clock: this.#clock,
      now: this.#options.now ?? Date.now,
      onExpired: removals => this.#onExpired.get(environmentId)?.(removals, publishedSequence(progress)),
      onFault: error => {
        if (this.#isInUse(environmentId, writer)) this.#options.onFault(environmentId, error)
      },
    })
    return { writer, progress, expiringFacts }
  }

  /** Starts to use an index. Expired facts are removed before it is used for decisions. */
  async #take(environmentId: string, loaded: Loaded): Promise<void> {
    await loaded.expiringFacts.catchUp()
    const former = this.#loaded.get(environmentId)
    // In this case, the previous index was never published, so no thread uses it.
    if (this.#outgoing.has(environmentId)) former?.expiringFacts.stop()
    else if (former) this.#outgoing.set(environmentId, former.expiringFacts)
    former?.writer.letGo()
    this.#loaded.set(environmentId, loaded)
    void this.#watch(environmentId, loaded.writer)
  }

  #stopOutgoing(environmentId: string): void {
    this.#outgoing.get(environmentId)?.stop()
    this.#outgoing.delete(environmentId)
  }

  #forget(environmentId: string): IndexWriter | null {
    this.#stopOutgoing(environmentId)
    const loaded = this.#loaded.get(environmentId)
    this.#loaded.delete(environmentId)
    loaded?.expiringFacts.stop()
    loaded?.writer.letGo()
    return loaded?.writer ?? null
  }

  #isInUse(environmentId: string, writer: IndexWriter): boolean {
    return this.#loaded.get(environmentId)?.writer === writer
  }

  /**
   * Waits until an index is retired. A reader that finds an index broken retires it and reports the defect;
   * this method reports the end of the index.
   */
  async #watch(environmentId: string, writer: IndexWriter): Promise<void> {
    const isRetired = await writer.whenRetired()
    if (!isRetired || !this.#isInUse(environmentId, writer)) return
    this.#options.onFault(
      environmentId,
      new Error('a thread that makes decisions found the index damaged and retired it'),
    )
  }

  /**
   * Warms up after publication. A restored index is published first, because the warm-up would take longer
   * than the restore. Decisions can be made earlier, although they wait slightly longer during the first
   * commits.
   */
  async #warmUpBehind(writer: IndexWriter): Promise<void> {
    // A failure only costs speed: the index is in use, and the next load tries again and reports the error.
    await this.#warmUpFor(writer).catch(() => {})
  }

  /**
   * Warms up after a load and before publication: no client waits for changes yet, and the index cannot be
   * removed.
   */
  async #warmUpFor(writer: IndexWriter): Promise<void> {
    const { assignments, tuples, records } = writer.figures()
    if (assignments + tuples + records >= WARM_UP_FROM) await (this.#warmedUp ??= this.#warmUp())
  }

  async #warmUp(): Promise<void> {
    try {
      await nextIteration()
      for (const _ of this.#options.warmUpWriter?.() ?? []) {
        await nextIteration()
        // A shutdown must not wait for a warm-up.
        if (this.#keepUntil !== null) return
      }
    } catch (error) {
      // The cause might have been a lack of memory. The next load can succeed.
      this.#warmedUp = null
      throw error
    }
  }

  async #write(
    environmentId: string,
    place: SnapshotPlace,
    { writer, progress }: Loaded,
    until: number,
  ): Promise<void> {
    const saved = writer.save()
    if (saved === null) return
    const kept = { environmentId, revision: revisionAt(progress), saved }
    await this.#options.kept?.write(kept, place, until)
  }

  /**
   * Collects garbage and builds closures in idle time, one step per event-loop iteration. Requests and
   * commits have priority.
   */
  async #collect(environmentId: string, writer: IndexWriter): Promise<void> {
    this.#collecting.add(writer)
    try {
      do await nextIteration()
      while (writer.collect(1) || writer.precompute(PRECOMPUTED_PER_ITERATION))
    } catch (error) {
      if (this.#isInUse(environmentId, writer)) this.#options.onFault(environmentId, error)
    }
    this.#collecting.delete(writer)
  }

  #goOnListing(environmentId: string, writer: IndexWriter): void {
    if (!this.#listing.has(writer)) void this.#list(environmentId, writer)
  }

  /** Builds attribute indexes in idle time. Neither a start nor a shutdown waits for them. */
  async #list(environmentId: string, writer: IndexWriter): Promise<void> {
    this.#listing.add(writer)
    try {
      do await nextIteration()
      while (this.#isInUse(environmentId, writer) && writer.buildLists(LISTED_PER_ITERATION))
    } catch (error) {
      if (this.#isInUse(environmentId, writer)) this.#options.onFault(environmentId, error)
    }
    this.#listing.delete(writer)
  }
}

function nextIteration(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
