/**
 * The write side of the shared index. Only one thread writes: it applies changes as defined by
 * `write/reducer.ts`. The lock excludes closure builders; the sequence lets all threads read concurrently.
 *
 * A commit is one critical section: readers see all of it or none. A changed schema is published in that
 * critical section, so data and schema always match. Long work precedes the critical section, in steps
 * between which the thread can do other work (`applyInSteps`).
 *
 * Invariant: the state is a function of the applied changes, and applying a change again has no effect. A
 * change that names an unknown entity is ignored (`model/change.ts`).
 */
import type { ChangeSink } from '#engine/engine.ts'
import { PrecomputationSchedule } from '#engine/shared-index/closures/precomputation-schedule.ts'
import { Invalidation } from '#engine/shared-index/closures/invalidation.ts'
import { reserveIfThere } from '#engine/shared-index/memory/allocator.ts'
import { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import {
  Regions,
  type HashSecrets,
  type RegionSizes,
  type SchemaLocation,
  type SharedIndexHandle,
} from '#engine/shared-index/memory/index-buffers.ts'
import {
  beginSection,
  endSection,
  isRetired,
  lock,
  retire,
  retireIfCutShort,
  unlock,
} from '#engine/shared-index/memory/sequence.ts'
import { areNumbersFree, demandOf } from '#engine/shared-index/schema/number-demand.ts'
import { restoredSchema, saveSchema } from '#engine/shared-index/schema/saved-schema.ts'
import { SchemaCompiler } from '#engine/shared-index/schema/schema-compiler.ts'
import { Schema } from '#engine/shared-index/schema/schema.ts'
import { ExpiryQueue } from '#engine/shared-index/write/expiry-queue.ts'
import { Expiry } from '#engine/shared-index/write/expiry.ts'
import { Facts } from '#engine/shared-index/write/facts.ts'
import { CapacityCheck } from '#engine/shared-index/write/capacity-check.ts'
import { Tombstones } from '#engine/shared-index/write/tombstones.ts'
import { LinePrefetch } from '#engine/shared-index/write/line-prefetch.ts'
import { PostingLists } from '#engine/shared-index/attribute-index/posting-lists.ts'
import { PostingListSchedule } from '#engine/shared-index/write/posting-list-schedule.ts'
import { NameLookups } from '#engine/shared-index/write/names.ts'
import { Preparation } from '#engine/shared-index/write/preparation.ts'
import { applyChange } from '#engine/shared-index/write/reducer.ts'
import { Replacements } from '#engine/shared-index/write/replacements.ts'
import { Sweep } from '#engine/shared-index/write/sweep.ts'
import { assert } from '#model/assert.ts'
import { type Change, isOfSchema } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import { type RestoredIndex, savedParts, type SavedIndex, type SavedState } from './saved-index.ts'

export interface WriterOptions extends RegionSizes {
  /** Positive, and unique among the threads of the index. */
  readonly threadId: number
  /** Chosen at random. */
  readonly secrets: HashSecrets
  /** Limit on states with several roles; for tests. */
  readonly statesMax?: number
  /** Index of the first tenant role; for tests. */
  readonly firstTenantRoleIndex?: number
}

/** Words that are reserved and prefaulted per commit, in addition to those computed by its preparation. */
const WORDS_AHEAD = 1 << 14
/** Number of references that are unlinked after a commit, which takes a fraction of a millisecond. */
const STEPS_PER_COMMIT = 1_000
/** Pause between critical sections, so that readers can complete. A batch takes less time than this. */
const REST_MS = 0.2
/** Filters rebuilt per critical section. Each takes up to a microsecond. A stale filter only costs time. */
const FILTERS_IN_COMMIT = 128
const FILTERS_PER_SECTION = 1_024
/** A critical section of this many changes takes a millisecond, so pending events are processed before it. */
const LARGE_SECTION = 256
/** Number of changes whose lines are prefetched together. They take some hundred kilobytes of cache. */
const PREFETCHED_AT_ONCE = 128
/** Number of compilation steps that run together without readers. They take some milliseconds. */
const COMPILED_AT_ONCE = 16

export class SharedIndexWriter implements ChangeSink {
  readonly #regions: Regions
  readonly #threadId: number
  readonly #schema: Schema
  readonly #compiler: SchemaCompiler
  readonly #names: NameLookups
  readonly #queue: ExpiryQueue
  readonly #expiry: Expiry
  readonly #linePrefetch: LinePrefetch
  readonly #facts: Facts
  /** The targets of changes. */
  readonly #changed: { readonly schema: Schema; readonly facts: Facts }
  readonly #invalidation: Invalidation
  readonly #replacements: Replacements
  readonly #preparation: Preparation
  readonly #tombstones: Tombstones
  readonly #sweep: Sweep
  readonly #capacity: CapacityCheck
  readonly #precomputation: PrecomputationSchedule
  readonly #postingListSchedule: PostingListSchedule
  /** A word that is never notified, so that `Atomics.wait` on it only sleeps. */
  readonly #rest = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  /** Whether readers might exist. */
  #isShared = false
  #isLetGo = false
  /** A compiled schema that is not published yet. */
  #unpublished: SchemaLocation | null = null
  /** True while a commit is being applied in steps. */
  #isApplying = false
  /** The compilation of a loaded schema that is in progress. */
  #compiling: Generator<void> | null = null

  /** Creates a writer from an index snapshot, which continues at the state of the snapshot. */
  static restore(
    options: { readonly threadId: number },
    { handle, state }: RestoredIndex,
  ): SharedIndexWriter {
    const header = new Int32Array(handle.header)
    // A thread might have held or waited for the lock when the index was saved.
    header[L.H_LOCK] = 0
    header[L.H_LOCK_NEXT] = 0
    const secrets = { start: header[L.H_HASH_START]!, multiplier: header[L.H_HASH_MULTIPLIER]! }
    return new SharedIndexWriter({ ...options, secrets }, { regions: Regions.restored(handle), state })
  }

  constructor(
    { threadId, secrets, statesMax, firstTenantRoleIndex, ...sizes }: WriterOptions,
    restored?: { readonly regions: Regions; readonly state: SavedState },
  ) {
    assert(threadId > 0, 'a thread id is positive: 0 means that no thread holds the lock')
    const state = restored?.state
    this.#threadId = threadId
    this.#regions = restored?.regions ?? Regions.create(secrets, sizes)
    this.#schema = new Schema(state && restoredSchema(state.schema), firstTenantRoleIndex)
    this.#compiler = new SchemaCompiler(this.#schema.types.values(), statesMax, state?.states)
    this.#precomputation = new PrecomputationSchedule(this.#regions, {
      hasSchema: state !== undefined,
      isDone: state?.isPrecomputed ?? false,
    })
    const key = new Key(secrets.start, secrets.multiplier)
    const schema = this.#schema
    const names = new NameLookups(this.#regions, { key, schema })
    const banks = (): number => this.#facts.banks()
    const postingLists = new PostingLists(this.#regions)
    const tombstones = new Tombstones(this.#regions, { banks, postingLists })
    const invalidation = new Invalidation(this.#regions)
    const replacements = new Replacements(this.#regions, work => this.#locked(work))
    const inSection = (work: () => void): void => this.#inLaterSection(work)
    this.#names = names
    this.#queue = new ExpiryQueue(this.#regions)
    this.#postingListSchedule = new PostingListSchedule(postingLists, schema)
    this.#capacity = new CapacityCheck(this.#regions, names)
    this.#linePrefetch = new LinePrefetch(this.#regions, names)
    this.#tombstones = tombstones
    this.#invalidation = invalidation
    this.#replacements = replacements
    this.#facts = new Facts(this.#regions, {
      names,
      invalidation,
      tombstones,
      postingLists,
      expiryQueue: this.#queue,
      banks: state?.banks ?? 1,
    })
    this.#changed = { schema, facts: this.#facts }
    this.#expiry = new Expiry(this.#regions, { schema, facts: this.#facts, invalidation, queue: this.#queue })
    this.#preparation = new Preparation(this.#regions, { names, invalidation, replacements })
    this.#sweep = new Sweep(this.#regions, { schema, tombstones, key, banks, inSection })
  }

  /** Data that another thread needs to read the index; can be sent with `postMessage`. */
  get handle(): SharedIndexHandle {
    this.#moveIfLarge()
    this.#compileLoaded()
    if (!this.#isShared) this.#regions.prefault(WORDS_AHEAD)
    this.#isShared = true
    return this.#regions.handle
  }

  /** Ends all decisions permanently: later calls throw `ENVIRONMENT_CLOSED`. Repeated calls are safe. */
  retire(): void {
    retire(this.#regions.header)
  }

  /** Resolves to true when the index is retired, even by a reader; to false after `letGo`. */
  async whenRetired(): Promise<boolean> {
    const { header } = this.#regions
    while (!isRetired(header) && !this.#isLetGo) {
      const waiting = Atomics.waitAsync(header, L.H_RETIRED, 0)
      if (waiting.async) await waiting.value
    }
    return isRetired(header)
  }

  /** Ends `whenRetired`. A caller that waits for it keeps the index in memory. */
  letGo(): void {
    this.#isLetGo = true
    Atomics.notify(this.#regions.header, L.H_RETIRED)
  }

  /** Open bytes of the regions, for statistics. */
  bytes(): ReturnType<Regions['bytes']> {
    return this.#regions.bytes()
  }

  /** Counts of facts, expiring facts and records, and of closures built and invalidated so far. */
  figures() {
    const { header } = this.#regions
    return {
      assignments: header[L.H_ASSIGNMENTS]!,
      tuples: header[L.H_TUPLES]!,
      expiring: header[L.H_EXPIRING]!,
      records: header[L.H_RECORDS]!,
      closuresBuilt: header[L.H_CLOSURES_BUILT]! >>> 0,
      containersVoided: header[L.H_CONTAINERS_VOIDED]! >>> 0,
      tenantsVoided: header[L.H_TENANTS_VOIDED]! >>> 0,
      ...this.#compiler.figures(),
    }
  }

  /**
   * Returns the index snapshot; null while anything waits to be collected. Until the snapshot is written, do
   * not apply changes or collect anything, and readers must not build closures.
   */
  save(): SavedIndex | null {
    if (isRetired(this.#regions.header)) return null
    const isAtRest = this.#tombstones.isEmpty() && !this.#sweep.isNeeded() && !this.#facts.hasStaleFilters()
    if (!isAtRest || this.#isApplying || this.#compiling || this.#schema.isChanged) return null
    const state = {
      schema: saveSchema(this.#schema),
      states: this.#compiler.savedStates(),
      banks: this.#facts.banks(),
      isPrecomputed: this.#precomputation.isDone,
    }
    return { parts: savedParts(this.#regions), state }
  }

  /**
   * Frees numbers for the names in the changes: collects until enough are free, in steps of well under a
   * millisecond. Throws `LIMIT_EXCEEDED` if too few numbers can be freed.
   */
  *#makeNumbersFree(changes: readonly Change[]): Iterable<void> {
    const demand = demandOf(this.#schema, changes)
    while (!areNumbersFree(this.#schema, demand)) {
      if (!this.#isCollecting()) {
        throw new AuthzError(
          'LIMIT_EXCEEDED',
          'this commit contains more types, roles or relations than an index can number',
        )
      }
      this.#collectStep()
      yield
    }
  }

  /** Reserves capacity for a commit that is about to be made (`CapacityCheck.reserve`). */
  reserveCapacity(changes: readonly Change[]): () => void {
    return this.#capacity.reserve(changes)
  }

  /**
   * Applies a commit. If readers might exist and the changes are an array, long work is done before the
   * critical section (`preparation.ts`). Changes that can be iterated only once are a load and are not
   * prepared. If it throws, the index must be retired. An interrupted critical section has already retired
   * it.
   */
  apply(changes: Iterable<Change>): void {
    runToEnd(this.applyInSteps(changes))
  }

  /**
   * Like `apply`, in steps of a fraction of a millisecond. The last step is the critical section, so no part
   * of the commit is visible before. Between two steps, the index can be read, but not changed.
   */
  *applyInSteps(changes: Iterable<Change>): Generator<void> {
    assert(!this.#isApplying, 'commits are applied one after the other')
    this.#moveIfLarge()
    if (Array.isArray(changes)) for (const _ of this.#makeNumbersFree(changes)) yield
    // This must follow the pauses, because a precomputation during a pause might have begun to compile.
    if (this.#compiling) this.#compileLoaded()
    // A load has no readers, so it is permitted to fail halfway.
    if (this.#isShared && Array.isArray(changes)) this.#capacity.require(changes)
    this.#isApplying = true
    try {
      const isPrepared = this.#isShared && Array.isArray(changes)
      const prepared = isPrepared ? yield* this.#prepare(changes) : null
      this.#commit(changes, prepared)
    } finally {
      this.#isApplying = false
    }
  }

  #commit(changes: Iterable<Change>, prepared: readonly Change[] | null): void {
    this.#inSection(() => {
      this.#replacements.install()
      this.#invalidation.begin()
      if (prepared) this.#applyPrepared(prepared)
      else for (const change of changes) applyChange(this.#changed, change)
      // The schema of a load is compiled once, after the load is complete.
      if (this.#isShared) runToEnd(this.#compileSchema())
      this.#publishSchema()
      this.#invalidation.end()
      this.#facts.rebuildFilters(FILTERS_IN_COMMIT)
    })
    this.#tidyUp()
    if (!this.#tombstones.isEmpty()) this.#inSection(() => this.#tombstones.unlink(STEPS_PER_COMMIT))
    else if (this.#sweep.isNeeded()) this.#sweep.step()
  }

  /** Work that follows a critical section that changed facts. */
  #tidyUp(): void {
    this.#facts.noteNextLines()
    while (this.#facts.hasStaleFilters())
      this.#inLaterSection(() => this.#facts.rebuildFilters(FILTERS_PER_SECTION))
  }

  /**
   * Removes facts that have expired at `now`, in milliseconds since 1970, about `limit` at most. Returns
   * their removals by name, which must still be written to the store. Call it again until `wakeAt` is later
   * than `now`, without other work in between: decisions might still use expired facts. Does nothing while a
   * commit is being applied in steps.
   */
  expireDue(now: number, limit: number): Change[] {
    const due = this.#isApplying ? [] : this.#expiry.due(now, limit)
    let removals: Change[] = []
    if (due.length === 0) return removals
    this.#inSection(() => {
      removals = this.#expiry.remove(due)
      this.#facts.rebuildFilters(FILTERS_IN_COMMIT)
    })
    this.#tidyUp()
    return removals
  }

  /** Time by which `expireDue` must be called next, in milliseconds since 1970. Infinite: no fact expires. */
  get wakeAt(): number {
    return this.#queue.wakeAt
  }

  /** No fact expires before this time, in milliseconds since 1970. Infinite: no fact expires. */
  get expiresFrom(): number {
    return this.#queue.expiresFrom
  }

  /**
   * Collects the remains of removals in idle periods, in up to `steps` steps of well under a millisecond.
   * Returns false if nothing is left. Removals work without it; it frees memory and numbers sooner.
   */
  collect(steps: number): boolean {
    if (this.#isApplying) return true // Collected only after the commit is visible.
    for (let step = 0; step < steps; step++) {
      if (this.#isCollecting()) this.#collectStep()
      else if (this.#replacements.isShrinkingNeeded()) {
        this.#replacements.shrinkOne()
        this.#inLaterSection(() => this.#replacements.install())
      } else return false
    }
    return true
  }

  /**
   * Precomputes closures in idle periods (`precomputation-schedule.ts`): work equivalent to about `work`
   * records; 2,000 take half a millisecond. Returns false if nothing is left. Results of checks are the same
   * without precomputed closures.
   */
  precompute(work: number): boolean {
    if (this.#isApplying) return true
    if (!this.#isShared && this.#compileLoaded(COMPILED_AT_ONCE)) return true
    if (this.#precomputation.isDone) return false
    if (this.#isShared) this.#regions.prefault(0)
    this.#locked(() => this.#precomputation.step(work))
    return !this.#precomputation.isDone
  }

  /**
   * Builds lists of the attribute index in idle periods: processes about `records` records. Returns false if
   * nothing is left. Results of searches are the same without these lists.
   */
  buildLists(records: number): boolean {
    if (this.#isApplying) return true
    return this.#postingListSchedule.step(records, work => this.#inLaterSection(work))
  }

  /** Returns whether anything waits to be collected. */
  #isCollecting(): boolean {
    return !this.#tombstones.isEmpty() || this.#sweep.isNeeded()
  }

  #collectStep(): void {
    if (this.#tombstones.isEmpty()) this.#sweep.step()
    else this.#inLaterSection(() => this.#tombstones.unlink(STEPS_PER_COMMIT))
  }

  /** Moves the graph to a larger buffer if a load has outgrown the initial one. */
  #moveIfLarge(): void {
    if (!this.#isShared) this.#regions.moveIfLarge()
  }

  /**
   * Prepares a commit and returns the changes for the critical section. Schema changes at the start of a
   * commit are visible only to the writer until they are published.
   */
  *#prepare(changes: readonly Change[]): Generator<void, readonly Change[]> {
    let facts = 0
    while (facts < changes.length && isOfSchema(changes[facts]!)) {
      applyChange(this.#changed, changes[facts++]!)
      yield* this.#schema.settleRules()
      yield
    }
    yield* this.#compileSchema()
    const section = facts === 0 ? changes : changes.slice(facts)
    this.#makeRoom(yield* this.#preparation.prepare(section))
    // Each change removes at most one record, or a tenant, which is one bit.
    this.#tombstones.reserve(section.length)
    // Pauses before a large critical section, because it takes as long as a whole slice.
    if (section.length >= LARGE_SECTION) yield
    return section
  }

  #applyPrepared(changes: readonly Change[]): void {
    for (let index = 0; index < changes.length; index++) {
      if (index % PREFETCHED_AT_ONCE === 0) {
        this.#linePrefetch.run(changes, index, Math.min(index + PREFETCHED_AT_ONCE, changes.length))
      }
      this.#names.select(index)
      applyChange(this.#changed, changes[index]!)
      if (this.#schema.isChanged) this.#names.forget()
    }
    this.#names.forget()
  }

  /** Reserves and prefaults memory. Pages are faulted in without the lock, so no thread waits. */
  #makeRoom(words: number): void {
    this.#locked(() => reserveIfThere(this.#regions, WORDS_AHEAD + words))
    this.#regions.prefault(WORDS_AHEAD + words)
  }

  /** Runs work that is not urgent in a separate critical section, after a pause for readers. */
  #inLaterSection(work: () => void): void {
    if (this.#isShared) Atomics.wait(this.#rest, 0, 0, REST_MS)
    this.#inSection(work)
  }

  #inSection(work: () => void): void {
    const { header } = this.#regions
    this.#locked(() => {
      beginSection(header)
      work()
      endSection(header)
    })
  }

  #locked(work: () => void): void {
    lock(this.#regions.header, this.#threadId)
    try {
      // A closure builder might have enlarged a region.
      this.#regions.refresh()
      work()
    } catch (error) {
      retireIfCutShort(this.#regions.header)
      throw error
    } finally {
      unlock(this.#regions.header, this.#threadId)
    }
  }

  *#compileSchema(): Generator<void> {
    if (this.#schema.isChanged) this.#unpublished = yield* this.#compiler.compile(this.#schema, this.#regions)
  }

  /** Compiles the schema of a load for up to `steps` more steps. Returns false when all is done. */
  #compileLoaded(steps = Infinity): boolean {
    if (!this.#compiling && !this.#schema.isChanged) return false
    this.#compiling ??= this.#compileSchema()
    for (let step = 0; step < steps; step++) {
      if (!this.#compiling.next().done) continue
      this.#compiling = null
      this.#inSection(() => this.#publishSchema())
      return false
    }
    return true
  }

  /** Publishes a compiled schema. Requires the lock and a critical section. */
  #publishSchema(): void {
    if (!this.#unpublished) return
    this.#regions.publishSchema(this.#unpublished)
    this.#unpublished = null
    this.#compiler.published()
    this.#precomputation.useSchema()
  }
}

function runToEnd(steps: Generator<void>): void {
  while (!steps.next().done);
}
