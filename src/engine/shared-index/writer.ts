/**
 * The side of the shared index that is told: the one reducer of changes. One thread writes; the lock keeps it and those
 * who build closures apart, the sequence lets everyone read meanwhile.
 *
 * A commit is one section: readers see all of it or none. The schema is published in the section of the commit that
 * changed it, so data and schema always belong together. What takes long and can be done before, is, in steps between which the
 * thread may do something else (`applyInSteps`).
 *
 * Invariant: the state is a function of the changes applied, and applying one again changes nothing. A change that
 * names something unknown is ignored (`model/change.ts`).
 */
import type { ChangeSink } from '#engine/engine.ts'
import { PrecomputationSchedule } from '#engine/shared-index/closures/precomputation-schedule.ts'
import { Invalidation } from '#engine/shared-index/closures/invalidation.ts'
import { reserveIfThere } from '#engine/shared-index/memory/allocator.ts'
import { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { Regions } from '#engine/shared-index/memory/regions.ts'
import type {
  HashSecrets,
  RegionSizes,
  SchemaLocation,
  SharedIndexHandle,
} from '#engine/shared-index/memory/regions.ts'
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
import { Facts } from '#engine/shared-index/write/facts.ts'
import { GraphRoom } from '#engine/shared-index/write/graph-room.ts'
import { Tombstones } from '#engine/shared-index/write/tombstones.ts'
import { LinePrefetch } from '#engine/shared-index/write/line-prefetch.ts'
import { Names } from '#engine/shared-index/write/names.ts'
import { Preparation } from '#engine/shared-index/write/preparation.ts'
import { Replacements } from '#engine/shared-index/write/replacements.ts'
import { Sweep } from '#engine/shared-index/write/sweep.ts'
import { assert, InvariantError } from '#model/assert.ts'
import { type Change, isOfSchema } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import { type RestoredIndex, savedParts, type SavedIndex, type SavedState } from './saved-index.ts'

export interface WriterOptions extends RegionSizes {
  /** Positive and no other thread's. */
  readonly threadId: number
  /** Random. */
  readonly secrets: HashSecrets
  /** Cap on states with several roles; for tests. */
  readonly statesMax?: number
  /** Place of the first tenant role; for tests. */
  readonly firstTenantRoleIndex?: number
}

/** Room made and touched ahead of a commit, besides what its preparation finds it to need. */
const WORDS_AHEAD = 1 << 14
/** References unlinked after a commit, in a section of a fraction of a millisecond. */
const STEPS_PER_COMMIT = 1_000
/** Between sections of collection: back to back they would let no reader through. A batch takes less. */
const REST_MS = 0.2
/**
 * Filters rebuilt with the commit, and in further sections after it: up to a microsecond each, as one that is stale
 * only costs time.
 */
const FILTERS_IN_COMMIT = 128
const FILTERS_PER_SECTION = 1_024
/** Changes of a commit before whose section the thread looks at what has come meanwhile: a millisecond. */
const LARGE_SECTION = 256
/** Changes whose lines are brought in together: some hundred kilobytes of cache. */
const PREFETCHED_AT_ONCE = 128
/** Steps of a compilation done at once where nobody may read yet: some milliseconds. */
const COMPILED_AT_ONCE = 16

export class SharedIndexWriter implements ChangeSink {
  readonly #regions: Regions
  readonly #threadId: number
  readonly #schema: Schema
  readonly #compiler: SchemaCompiler
  readonly #names: Names
  readonly #linePrefetch: LinePrefetch
  readonly #facts: Facts
  readonly #invalidation: Invalidation
  readonly #replacements: Replacements
  readonly #preparation: Preparation
  readonly #tombstones: Tombstones
  readonly #sweep: Sweep
  readonly #room: GraphRoom
  readonly #precomputation: PrecomputationSchedule
  /** Nobody ever wakes it: to wait on for a while. */
  readonly #rest = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  /** Somebody may be reading. */
  #isShared = false
  #isLetGo = false
  /** Compiled, and not yet known to readers. */
  #unpublished: SchemaLocation | null = null
  /** A commit is under way, of whose schema nobody knows yet. */
  #isApplying = false
  /** The compilation of what was loaded, as far as it has come. */
  #compiling: Generator<void> | null = null

  /** A writer of what was kept of another's index, which goes on where that stood. */
  static restore(
    options: { readonly threadId: number },
    { handle, state }: RestoredIndex,
  ): SharedIndexWriter {
    const header = new Int32Array(handle.header)
    // Whoever saved it may have held it, and others may have waited.
    header[L.H_LOCK] = 0
    header[L.H_LOCK_NEXT] = 0
    const secrets = { start: header[L.H_HASH_START]!, multiplier: header[L.H_HASH_MULTIPLIER]! }
    return new SharedIndexWriter({ ...options, secrets }, { regions: Regions.restored(handle), state })
  }

  constructor(
    { threadId, secrets, statesMax, firstTenantRoleIndex, ...sizes }: WriterOptions,
    restored?: { readonly regions: Regions; readonly state: SavedState },
  ) {
    assert(threadId > 0, 'a thread id is positive: 0 means that nobody holds the lock')
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
    const names = new Names(this.#regions, { key, schema })
    const banks = (): number => this.#facts.banks()
    const tombstones = new Tombstones(this.#regions, banks)
    const invalidation = new Invalidation(this.#regions)
    const replacements = new Replacements(this.#regions, work => this.#locked(work))
    const inSection = (work: () => void): void => this.#inLaterSection(work)
    this.#names = names
    this.#room = new GraphRoom(this.#regions, names)
    this.#linePrefetch = new LinePrefetch(this.#regions, names)
    this.#tombstones = tombstones
    this.#invalidation = invalidation
    this.#replacements = replacements
    this.#facts = new Facts(this.#regions, { names, invalidation, tombstones, banks: state?.banks ?? 1 })
    this.#preparation = new Preparation(this.#regions, { names, invalidation, replacements })
    this.#sweep = new Sweep(this.#regions, { schema, tombstones, key, banks, inSection })
  }

  /** What another thread needs to read the index: to be posted as it is. */
  get handle(): SharedIndexHandle {
    this.#settle()
    this.#compileLoaded()
    if (!this.#isShared) this.#regions.prefault(WORDS_AHEAD)
    this.#isShared = true
    return this.#regions.handle
  }

  /** Ends all decisions on the index, for good: those that begin from now on throw `ENVIRONMENT_CLOSED`. Safe to repeat. */
  retire(): void {
    retire(this.#regions.header)
  }

  /** Resolves when the index is retired, be it by a thread that reads it, with true; with false after `letGo`. */
  async whenRetired(): Promise<boolean> {
    const { header } = this.#regions
    while (!isRetired(header) && !this.#isLetGo) {
      const waiting = Atomics.waitAsync(header, L.H_RETIRED, 0)
      if (waiting.async) await waiting.value
    }
    return isRetired(header)
  }

  /** Nobody needs to know of the index any more: who waits for its end keeps its memory. */
  letGo(): void {
    this.#isLetGo = true
    Atomics.notify(this.#regions.header, L.H_RETIRED)
  }

  /** Bytes of the regions as grown, for statistics. */
  bytes(): ReturnType<Regions['bytes']> {
    return this.#regions.bytes()
  }

  /** What stands in the index, and how much was built and voided in it so far. */
  figures() {
    const { header } = this.#regions
    return {
      assignments: header[L.H_ASSIGNMENTS]!,
      tuples: header[L.H_TUPLES]!,
      records: header[L.H_RECORDS]!,
      closuresBuilt: header[L.H_CLOSURES_BUILT]! >>> 0,
      containersVoided: header[L.H_CONTAINERS_VOIDED]! >>> 0,
      tenantsVoided: header[L.H_TENANTS_VOIDED]! >>> 0,
      typesCompiled: this.#compiler.typesCompiled,
      statesFollowed: this.#compiler.statesFollowed,
    }
  }

  /**
   * The index as it is, to be kept; null while something waits to be collected. Nobody may change it until it has been: no
   * change applied, nothing collected, no reader that builds closures.
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
   * Sees to it that there are numbers for what the changes name, of which some may still be carried by facts of what was removed:
   * collects until they are free, a step well under a millisecond at a time. Throws `LIMIT_EXCEEDED` when there are too few even then.
   */
  *#makeNumbersFree(changes: readonly Change[]): Iterable<void> {
    const demand = demandOf(this.#schema, changes)
    while (!areNumbersFree(this.#schema, demand)) {
      if (!this.#isCollecting()) {
        throw new AuthzError(
          'LIMIT_EXCEEDED',
          'this commit names more types, roles or relations than an index has numbers for',
        )
      }
      this.#collectStep()
      yield
    }
  }

  /** Holds room for a commit that is about to be made (`GraphRoom.hold`). */
  holdRoom(changes: readonly Change[]): () => void {
    return this.#room.hold(changes)
  }

  /**
   * Once somebody may be reading, what takes long is done before the section (`preparation.ts`), if the changes are an
   * array: what cannot be gone through twice is a load. What it throws ends the index: it is to be retired, and a commit that
   * was cut short in its section has retired it before anybody could read of it.
   */
  apply(changes: Iterable<Change>): void {
    runToEnd(this.applyInSteps(changes))
  }

  /**
   * The same in steps, each a fraction of a millisecond while the schema is compiled and a section is prepared; the last one is the section, so that
   * nothing of the commit is seen before. Between two steps the index may be read, and nothing else be applied.
   */
  *applyInSteps(changes: Iterable<Change>): Generator<void> {
    assert(!this.#isApplying, 'commits are applied one after the other')
    this.#settle()
    if (Array.isArray(changes)) for (const _ of this.#makeNumbersFree(changes)) yield
    // Behind the stops: what is precomputed meanwhile may begin with it.
    if (this.#compiling) this.#compileLoaded()
    // A load, which nobody reads, comes upon it.
    if (this.#isShared && Array.isArray(changes)) this.#room.require(changes)
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
      else for (const change of changes) this.#applyOne(change)
      // What a load brings together is compiled once, when all of it is there.
      if (this.#isShared) runToEnd(this.#compileSchema())
      this.#publishSchema()
      this.#invalidation.end()
      this.#facts.rebuildFilters(FILTERS_IN_COMMIT)
    })
    this.#facts.noteNextLines()
    while (this.#facts.hasStaleFilters())
      this.#inLaterSection(() => this.#facts.rebuildFilters(FILTERS_PER_SECTION))
    if (!this.#tombstones.isEmpty()) this.#inSection(() => this.#tombstones.unlink(STEPS_PER_COMMIT))
    else if (this.#sweep.isNeeded()) this.#sweep.step()
  }

  /**
   * Collects what removals left behind, up to so many steps (each well under a millisecond), for idle moments. False
   * when nothing is left. Removals work without it; it gives back memory and numbers sooner.
   */
  collect(steps: number): boolean {
    // What a commit retires must not go before the commit is seen.
    if (this.#isApplying) return true
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
   * Builds closures ahead of the questions, for idle moments after a load or a commit (`precomputation-schedule.ts`): about so many
   * records' worth of work, 2,000 being half a millisecond. False when nothing is left. Answers do not depend on it.
   */
  precompute(work: number): boolean {
    if (this.#isApplying) return true
    if (!this.#isShared && this.#compileLoaded(COMPILED_AT_ONCE)) return true
    if (this.#precomputation.isDone) return false
    if (this.#isShared) this.#regions.prefault(0)
    this.#locked(() => this.#precomputation.step(work))
    return !this.#precomputation.isDone
  }

  /** Whether removals have left something behind. */
  #isCollecting(): boolean {
    return !this.#tombstones.isEmpty() || this.#sweep.isNeeded()
  }

  #collectStep(): void {
    if (this.#tombstones.isEmpty()) this.#sweep.step()
    else this.#inLaterSection(() => this.#tombstones.unlink(STEPS_PER_COMMIT))
  }

  /** What a load brings together may need more room than an index begins with. */
  #settle(): void {
    if (!this.#isShared) this.#regions.moveIfLarge()
  }

  /** What is left for the section. The schema that a commit begins with is the writer's own until it is published. */
  *#prepare(changes: readonly Change[]): Generator<void, readonly Change[]> {
    let facts = 0
    while (facts < changes.length && isOfSchema(changes[facts]!)) {
      this.#applyOne(changes[facts++]!)
      yield
    }
    yield* this.#compileSchema()
    const section = facts === 0 ? changes : changes.slice(facts)
    this.#makeRoom(yield* this.#preparation.prepare(section))
    // Each removes one record, or a tenant, which is no more than a bit.
    this.#tombstones.reserve(section.length)
    // One that is large takes as long as a slice.
    if (section.length >= LARGE_SECTION) yield
    return section
  }

  #applyPrepared(changes: readonly Change[]): void {
    for (let index = 0; index < changes.length; index++) {
      if (index % PREFETCHED_AT_ONCE === 0) {
        this.#linePrefetch.run(changes, index, Math.min(index + PREFETCHED_AT_ONCE, changes.length))
      }
      this.#names.select(index)
      this.#applyOne(changes[index]!)
      if (this.#schema.isChanged) this.#names.forget()
    }
    this.#names.forget()
  }

  /** Pages are touched after the lock is given back: nobody waits for them. */
  #makeRoom(words: number): void {
    this.#locked(() => reserveIfThere(this.#regions, WORDS_AHEAD + words))
    this.#regions.prefault(WORDS_AHEAD + words)
  }

  /** For what need not be at once: readers get a moment first. */
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
      // A builder may have grown a region.
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

  /** Of a load, so many steps further; false when nothing is left of it. */
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

  /** Lock held, in a section. */
  #publishSchema(): void {
    if (!this.#unpublished) return
    this.#regions.publishSchema(this.#unpublished)
    this.#unpublished = null
    this.#compiler.published()
    this.#precomputation.useSchema()
  }

  #applyOne(change: Change): void {
    switch (change.kind) {
      case 'type-put':
        return this.#schema.putType(change)
      case 'type-removed':
        return this.#schema.removeType(change.type)
      case 'role-put':
        return this.#schema.putRole(change)
      case 'role-removed':
        return this.#schema.removeRole(change.type, change.role)
      case 'relation-put':
        return this.#schema.putRelation(change)
      case 'relation-removed':
        return this.#schema.removeRelation(change.type, change.relation)
      case 'tenant-put':
        return this.#facts.putTenant(change.tenant, change.attributes)
      case 'tenant-removed':
        return this.#facts.removeTenant(change.tenant)
      case 'user-put':
        return this.#facts.putUser(change.user, change.attributes)
      case 'user-removed':
        return this.#facts.removeUser(change.user)
      case 'instance-put':
        return this.#facts.putInstance(change.instance, change.tenant, change.attributes)
      case 'instance-removed':
        return this.#facts.removeInstance(change.instance)
      case 'assignment-put':
        return this.#facts.putAssignment(change)
      case 'assignment-removed':
        return this.#facts.removeAssignment(change)
      case 'tuple-put':
        return this.#facts.putTuple(change)
      case 'tuple-removed':
        return this.#facts.removeTuple(change)
      case 'condition-set-put':
        return this.#schema.putConditionSet(change)
      case 'condition-set-removed':
        return this.#schema.removeConditionSet(change.set)
      case 'rule-put':
        return this.#schema.putRule(change)
      case 'rule-removed':
        return this.#schema.removeRule(change)
      default:
        return unknownChange(change)
    }
  }
}

function runToEnd(steps: Generator<void>): void {
  while (!steps.next().done);
}

/** Skipping a change that this version does not know would leave an engine that answers from half the facts. */
function unknownChange(change: never): never {
  throw new InvariantError(`the engine cannot apply this change: ${JSON.stringify(change)}`)
}
