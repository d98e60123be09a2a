/**
 * The side of the shared index that is told: the one reducer of changes. One thread writes; the lock keeps it and those
 * who build closures apart, the sequence lets everyone read meanwhile.
 *
 * A commit is one section: readers see all of it or none. The schema is compiled and published in the section of the
 * commit that changed it, so data and schema always belong together.
 *
 * Invariant: the state is a function of the changes applied, and applying one again changes nothing. A change that
 * names something unknown is ignored (`model/change.ts`).
 */
import { assert, InvariantError } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
import type { ChangeSink } from '../engine.ts'
import { reserve } from './allocator.ts'
import { Facts } from './facts.ts'
import { Graveyard } from './graveyard.ts'
import { Invalidation } from './invalidation.ts'
import { ClosureBuilder } from './closure-builder.ts'
import { Key } from './key.ts'
import { Precomputation } from './precomputation.ts'
import { Regions } from './regions.ts'
import type { HashSecrets, SharedIndexHandle } from './regions.ts'
import { Schema } from './schema.ts'
import { SchemaCompiler } from './schema-compiler.ts'
import { SchemaView } from './schema-view.ts'
import type { SchemaImage } from './compiled-schema.ts'
import { encodeSchema } from './schema-wire.ts'
import { beginSection, endSection, lock, unlock } from './sequence.ts'
import { Sweep } from './sweep.ts'

export interface WriterOptions {
  /** Positive and no other thread's. */
  readonly threadId: number
  /** Random. */
  readonly secrets: HashSecrets
  /** Cap on states with several roles; for tests. */
  readonly statesMax?: number
}

/** Room made and touched ahead of a commit. Larger commits grow the graph while readers wait. */
const WORDS_AHEAD = 1 << 14
/** References unlinked at the end of a commit, a fraction of a millisecond. */
const STEPS_PER_COMMIT = 2_000

export class SharedIndexWriter implements ChangeSink {
  readonly #regions: Regions
  readonly #threadId: number
  readonly #schema = new Schema()
  readonly #compiler: SchemaCompiler
  readonly #facts: Facts
  readonly #graveyard: Graveyard
  readonly #sweep: Sweep
  /** The schema that stands, until the closures are built ahead under it; and the work going on. */
  #uncomputed: SchemaImage | null = null
  #precomputation: Precomputation | null = null

  constructor({ threadId, secrets, statesMax }: WriterOptions) {
    assert(threadId > 0, 'a thread id is positive: 0 means that nobody holds the lock')
    this.#threadId = threadId
    this.#regions = Regions.create(secrets)
    this.#compiler = new SchemaCompiler(statesMax)
    const key = new Key(secrets.start, secrets.multiplier)
    const schema = this.#schema
    const banks = (): number => this.#facts.banks()
    this.#graveyard = new Graveyard(this.#regions, banks)
    const graveyard = this.#graveyard
    const invalidation = new Invalidation(this.#regions)
    this.#facts = new Facts(this.#regions, { key, schema, invalidation, graveyard })
    this.#sweep = new Sweep(this.#regions, { schema, graveyard, key, banks })
  }

  /** What another thread needs to read the index: to be posted as it is. */
  get handle(): SharedIndexHandle {
    return this.#regions.handle
  }

  /** Bytes of the regions as grown, for statistics. */
  bytes(): ReturnType<Regions['bytes']> {
    return this.#regions.bytes()
  }

  apply(changes: Iterable<Change>): void {
    const { header } = this.#regions
    this.#locked(() => {
      reserve(this.#regions, WORDS_AHEAD)
      beginSection(header)
      try {
        for (const change of changes) this.#applyOne(change)
        if (this.#schema.isChanged) this.#publishSchema()
        this.#graveyard.unlink(STEPS_PER_COMMIT)
      } finally {
        endSection(header)
      }
      if (this.#graveyard.isEmpty() && this.#sweep.isNeeded()) this.#sweep.step()
    })
  }

  /**
   * Collects what removals left behind, up to so many steps (each well under a millisecond), for idle moments. False
   * when nothing is left. Removals work without it; it gives back memory and numbers sooner.
   */
  collect(steps: number): boolean {
    const { header } = this.#regions
    for (let step = 0; step < steps; step++) {
      if (this.#graveyard.isEmpty() && !this.#sweep.isNeeded()) return false
      this.#locked(() => {
        if (this.#graveyard.isEmpty()) return this.#sweep.step()
        beginSection(header)
        this.#graveyard.unlink(STEPS_PER_COMMIT)
        endSection(header)
      })
    }
    return true
  }

  /**
   * Builds closures ahead of the questions, for idle moments after a load or a change of the schema: about so many
   * records' worth of work, 2,000 being half a millisecond. False when nothing is left. Answers do not depend on it.
   */
  precompute(work: number): boolean {
    if (this.#uncomputed === null) return false
    this.#precomputation ??= this.#precomputationUnder(this.#uncomputed)
    const precomputation = this.#precomputation
    let isLeft = true
    this.#locked(() => {
      isLeft = precomputation.step(work)
    })
    if (isLeft) return true
    this.#uncomputed = null
    this.#precomputation = null
    return false
  }

  #locked(work: () => void): void {
    lock(this.#regions.header, this.#threadId)
    try {
      // A builder may have grown a region.
      this.#regions.refresh()
      work()
    } finally {
      unlock(this.#regions.header, this.#threadId)
    }
  }

  #precomputationUnder(image: SchemaImage): Precomputation {
    const schema = new SchemaView(image)
    return new Precomputation(this.#regions, schema, new ClosureBuilder(this.#regions, schema))
  }

  #publishSchema(): void {
    const image = this.#compiler.compile(this.#schema)
    this.#regions.writeSchema(encodeSchema(image))
    this.#uncomputed = image
    this.#precomputation = null
    this.#schema.isChanged = false
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
        return this.#facts.putUser(change.user)
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
      default:
        return unknownChange(change)
    }
  }
}

/** Skipping a change that this version does not know would leave an engine that answers from half the facts. */
function unknownChange(change: never): never {
  throw new InvariantError(`the engine cannot apply this change: ${JSON.stringify(change)}`)
}
