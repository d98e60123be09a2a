/**
 * The shared indexes as the main thread holds them: one writer an environment, read by every HTTP thread in place. A
 * change is visible to all of them when `apply` resolves, so nothing has to be sent or acknowledged for it; only a fresh
 * index is handed to the threads, which attach to its memory.
 */
import type { ChangeSink } from '#engine/engine.ts'
import type { IndexHandle } from '#engine/index-handle.ts'
import { assert } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
import { runInSlices } from '#model/resumable.ts'
import type { Revision } from '#model/revision.ts'
import type { ClosableIndexHost, EndedFacts, IndexKeeper, IndexRoom, OnEnded } from '#replica/index-host.ts'
import type { SnapshotPlace } from '#store/snapshot-place.ts'
import { EndingFacts, type EndingIndex } from './ending-facts.ts'
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
  /** Assignments and tuples that have an end. */
  readonly ending: number
  /** The number of all other records: tenants, users, instances and their containers. */
  readonly records: number
  readonly closuresBuilt: number
  readonly containersVoided: number
  readonly tenantsVoided: number
}

/** The writing side of an index, and what a thread needs to read it. */
export interface IndexWriter extends ChangeSink, EndingIndex {
  readonly handle: IndexHandle
  /** What the index holds, and what was built and voided in it. */
  figures(): IndexFigures
  /** Bytes of each region. */
  bytes(): IndexBytes
  /**
   * As `apply`, in short steps. When they end, everybody sees the changes. Nothing else may be applied meanwhile. Throws
   * `LIMIT_EXCEEDED`, with nothing changed, when the index has no numbers left for the changes.
   */
  applyInSteps(changes: readonly Change[]): Generator<void>
  /** Reserves room for a commit. Returns a function that gives it back. Throws `LIMIT_EXCEEDED` when there is no room. */
  holdRoom(changes: readonly Change[]): () => void
  /** Collects what removals left behind, in so many short steps. False when nothing is left. */
  collect(steps: number): boolean
  /** Builds closures before they are asked for, about so many records' worth of work. False when nothing is left. */
  precompute(work: number): boolean
  /** See `SharedIndexWriter.buildLists`. */
  buildLists(records: number): boolean
  /** Ends all decisions on the index, for good. Safe to repeat. */
  retire(): void
  /** Resolves to true when the index is retired, by this thread or one that reads it; to false after `letGo`. */
  whenRetired(): Promise<boolean>
  /** Ends the wait of `whenRetired`: the index is not used any more. */
  letGo(): void
  /**
   * The index in the form in which it can be saved, if nothing changes it meanwhile; null while removals wait to be
   * collected.
   */
  save(): unknown
}

/**
 * Where indexes are saved, in the form that writers give them. No method throws: without a saved index everything is right,
 * but a start is slower.
 */
export interface KeptIndexes {
  /** Null when there is no index that may be used. */
  read(
    environmentId: string,
    place: SnapshotPlace,
    epoch: string,
  ): Promise<{ readonly revision: Revision; readonly writer: IndexWriter } | null>
  /** Gives up when it is not done by `until`, a time of `performance.now()`. */
  write(
    kept: { readonly environmentId: string; readonly revision: Revision; readonly saved: unknown },
    place: SnapshotPlace,
    until: number,
  ): Promise<void>
}

interface SharedIndexesOptions {
  readonly createWriter: () => IndexWriter
  /** Null: each start loads everything from the rows. */
  readonly kept: KeptIndexes | null
  /** What warms the code of writers up, step by step; null: it is cold when the first changes come. */
  readonly warmUpWriter: (() => Iterable<unknown>) | null
  /** Until when threads may decide on an index of that environment; absent: nothing can be missed. */
  readonly deadlineOf?: (environmentId: string) => DeadlineHandle
  /** Milliseconds since 1970; absent: the clock of the process. */
  readonly now?: () => number
  /** Hands an index to every thread that decides; resolves when all of them have it. */
  readonly attach: (environmentId: string, index: AttachedIndex) => Promise<void>
  /** Takes the index back from all threads. With a reason the environment is closed, and callers are told the reason. */
  readonly detach: (environmentId: string, reason: string | null) => Promise<void>
  /**
   * Told when an index ended otherwise than by a commit that was being applied: a reader found it broken, or the collection
   * of what removals left failed.
   */
  readonly onFault: (environmentId: string, error: unknown) => void
}

/** What a thread needs to decide on an index: the index, and how far it is. */
export interface AttachedIndex {
  readonly index: IndexHandle
  readonly progress: ProgressHandle
  readonly deadline: DeadlineHandle
  /** Until when nothing has ended that is still in the index. */
  readonly ending: DeadlineHandle
}

interface Loaded {
  readonly writer: IndexWriter
  readonly progress: ProgressHandle
  readonly ending: EndingFacts
}

/** Changes applied in one section while loading, before the event loop turns. */
const LOAD_PART_CHANGES = 1_000
/** Work of building closures in one turn, in records: about half a millisecond. */
const PRECOMPUTED_A_TURN = 2_000
/** Records of lists of owners in one turn: about as long. */
const LISTED_A_TURN = 64
/** Records and facts from which on a warm-up is done, once. It takes less than the load of so many. */
const WARM_UP_FROM = 100_000
/** How long an end takes to keep the indexes, collecting what is left included: whoever ends the process has little patience. */
const KEEP_MS_MAX = 3_000

export class SharedIndexes implements ClosableIndexHost, IndexKeeper, IndexRoom, EndedFacts {
  readonly #options: SharedIndexesOptions
  readonly #loaded = new Map<string, Loaded>()
  /** Of indexes on which threads still decide, though another one that is not published yet is to take their place. */
  readonly #outgoing = new Map<string, EndingFacts>()
  readonly #collecting = new Set<IndexWriter>()
  readonly #listing = new Set<IndexWriter>()
  /** When the saving of all indexes must be done, by `performance.now()`; null before the first is saved. */
  #keepUntil: number | null = null
  #keeping: Promise<void> = Promise.resolve()
  #warmedUp: Promise<void> | null = null
  readonly #clock = new StalenessDeadline()
  /** Who is told what has ended, by environment. */
  readonly #onEnded = new Map<string, OnEnded>()

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
      await nextTurn()
    }
    writer.apply(part)
    while (writer.precompute(PRECOMPUTED_A_TURN)) await nextTurn()
    const loaded = this.#loadedOf(environmentId, writer, revision)
    // Saved before anybody decides on it and builds closures. A process that later crashes then need not load all this
    // again.
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
    assert(loaded, 'what is published has been loaded or restored')
    const { writer, progress, ending } = loaded
    const { attach, deadlineOf = createDeadline } = this.#options
    const deadlines = { deadline: deadlineOf(environmentId), ending: ending.deadline }
    await attach(environmentId, { index: writer.handle, progress, ...deadlines })
    this.#stopOutgoing(environmentId)
    this.#goOnListing(environmentId, writer)
    void this.#warmUpBehind(writer)
  }

  /** Indexes are saved one after the other, in the order of the calls: of several at once none might be whole in time. */
  keep(environmentId: string, place: SnapshotPlace): Promise<void> {
    const keeping = this.#keeping.then(() => this.#keep(environmentId, place))
    this.#keeping = keeping.catch(() => undefined)
    return keeping
  }

  async #keep(environmentId: string, place: SnapshotPlace): Promise<void> {
    const loaded = this.#loaded.get(environmentId)
    if (!loaded) return
    // Nobody decides any more, and nothing may change what is being written.
    loaded.ending.stop()
    this.#keepUntil ??= performance.now() + KEEP_MS_MAX
    while (this.#collecting.has(loaded.writer) && performance.now() < this.#keepUntil) await nextTurn()
    const isAtRest = !this.#collecting.has(loaded.writer)
    if (isAtRest) await this.#write(environmentId, place, loaded, this.#keepUntil)
  }

  async apply(environmentId: string, changes: readonly Change[], revision: Revision): Promise<void> {
    const loaded = this.#loaded.get(environmentId)
    assert(loaded, 'changes come for an environment that has been loaded')
    const { writer, progress, ending } = loaded
    await runInSlices(writer.applyInSteps(changes))
    publishProgress(progress, revision.sequence)
    ending.look()
    if (!this.#collecting.has(writer)) void this.#collect(environmentId, writer)
    this.#goOnListing(environmentId, writer)
  }

  async close(environmentId: string, reason: string): Promise<void> {
    // Retired at once: a commit that is half done is no valid state. Readers find out when they next read it.
    this.#forget(environmentId)?.retire()
    await this.#options.detach(environmentId, reason)
  }

  holdRoom(environmentId: string, changes: readonly Change[]): () => void {
    return this.#loaded.get(environmentId)?.writer.holdRoom(changes) ?? (() => {})
  }

  /** Figures of an environment's index as it is now; null while there is none. */
  look(environmentId: string): (IndexFigures & { sequence: number; bytes: IndexBytes }) | null {
    const loaded = this.#loaded.get(environmentId)
    if (!loaded) return null
    const { writer, progress } = loaded
    return { ...writer.figures(), sequence: publishedSequence(progress), bytes: writer.bytes() }
  }

  /** How far an environment's index is; null while there is none. */
  revision(environmentId: string): Revision | null {
    const loaded = this.#loaded.get(environmentId)
    return loaded ? revisionAt(loaded.progress) : null
  }

  async remove(environmentId: string): Promise<void> {
    await this.#options.detach(environmentId, null)
    this.#forget(environmentId)
    this.#onEnded.delete(environmentId)
  }

  whenEnded(environmentId: string, onEnded: OnEnded): void {
    this.#onEnded.set(environmentId, onEnded)
  }

  /** Ends what has ended by now, some of it, where its turn has not come yet: for who decides on this very thread. */
  endDue(environmentId: string): void {
    this.#loaded.get(environmentId)?.ending.look()
  }

  #loadedOf(environmentId: string, writer: IndexWriter, revision: Revision): Loaded {
    const progress = createProgress(revision)
    const ending = new EndingFacts({
      index: writer,
      clock: this.#clock,
      now: this.#options.now ?? Date.now,
      onEnded: removals => this.#onEnded.get(environmentId)?.(removals, publishedSequence(progress)),
      onFault: error => {
        if (this.#isInUse(environmentId, writer)) this.#options.onFault(environmentId, error)
      },
    })
    return { writer, progress, ending }
  }

  /** What has ended is gone before anybody decides on the index. */
  async #take(environmentId: string, loaded: Loaded): Promise<void> {
    await loaded.ending.catchUp()
    const former = this.#loaded.get(environmentId)
    // One that came between was never published.
    if (this.#outgoing.has(environmentId)) former?.ending.stop()
    else if (former) this.#outgoing.set(environmentId, former.ending)
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
    loaded?.ending.stop()
    loaded?.writer.letGo()
    return loaded?.writer ?? null
  }

  #isInUse(environmentId: string, writer: IndexWriter): boolean {
    return this.#loaded.get(environmentId)?.writer === writer
  }

  /** A reader that finds an index broken retires it, and reports what it found. This reports the end of the index. */
  async #watch(environmentId: string, writer: IndexWriter): Promise<void> {
    const isRetired = await writer.whenRetired()
    if (!isRetired || !this.#isInUse(environmentId, writer)) return
    this.#options.onFault(environmentId, new Error('a thread that decides has ended the index'))
  }

  /**
   * An index that was restored is handed out before: it is there sooner than a warm-up would end, and a decision that waits a little
   * longer for the first commits is better than none.
   */
  async #warmUpBehind(writer: IndexWriter): Promise<void> {
    // Nothing is missed but speed: the index decides, and the next one that is loaded tries again and reports it.
    await this.#warmUpFor(writer).catch(() => {})
  }

  /** After a load, before anybody has the index: nobody waits for its changes yet, and nobody can take it back meanwhile. */
  async #warmUpFor(writer: IndexWriter): Promise<void> {
    const { assignments, tuples, records } = writer.figures()
    if (assignments + tuples + records >= WARM_UP_FROM) await (this.#warmedUp ??= this.#warmUp())
  }

  async #warmUp(): Promise<void> {
    try {
      await nextTurn()
      for (const _ of this.#options.warmUpWriter?.() ?? []) {
        await nextTurn()
        // Who ends the process waits for no warm-up.
        if (this.#keepUntil !== null) return
      }
    } catch (error) {
      // It may have been memory, of which the next load finds more.
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

  /** Runs in idle moments, a step a turn: requests and commits go first. */
  async #collect(environmentId: string, writer: IndexWriter): Promise<void> {
    this.#collecting.add(writer)
    try {
      do await nextTurn()
      while (writer.collect(1) || writer.precompute(PRECOMPUTED_A_TURN))
    } catch (error) {
      if (this.#isInUse(environmentId, writer)) this.#options.onFault(environmentId, error)
    }
    this.#collecting.delete(writer)
  }

  #goOnListing(environmentId: string, writer: IndexWriter): void {
    if (!this.#listing.has(writer)) void this.#list(environmentId, writer)
  }

  /** The same for lists of owners, on which nothing waits: neither a start nor an end of the process. */
  async #list(environmentId: string, writer: IndexWriter): Promise<void> {
    this.#listing.add(writer)
    try {
      do await nextTurn()
      while (this.#isInUse(environmentId, writer) && writer.buildLists(LISTED_A_TURN))
    } catch (error) {
      if (this.#isInUse(environmentId, writer)) this.#options.onFault(environmentId, error)
    }
    this.#listing.delete(writer)
  }
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
