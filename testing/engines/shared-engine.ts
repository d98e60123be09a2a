/** The shared index as one engine: writer and reader run in one thread, with fixed hash secrets. */
import type { DecisionEngine, Engine } from '#engine/engine.ts'
import { type HashSecrets, Regions, type RegionSizes } from '#engine/shared-index/memory/index-buffers.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { partsOf, type SavedIndex, type SavedState } from '#engine/shared-index/saved-index.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change } from '#model/change.ts'

export const SECRETS: HashSecrets = { start: 0x3c6ef372, multiplier: 0x2545f491 }
/** With these secrets, all keys have the same hash. */
export const COLLIDING: HashSecrets = { start: 1, multiplier: 0 }

export interface SharedEngineOptions extends RegionSizes {
  readonly secrets?: HashSecrets
  readonly statesMax?: number
  readonly firstTenantRoleIndex?: number
  readonly lockEveryRead?: boolean
}

/** Calls the reader for each method of an engine. The reader can be replaced. */
class ReaderHolder {
  reader!: SharedIndexReader

  get tenants() {
    return this.reader.tenants
  }
}
for (const name of Object.getOwnPropertyNames(SharedIndexReader.prototype) as (keyof DecisionEngine)[]) {
  if (name in ReaderHolder.prototype) continue
  const value = function call(this: ReaderHolder, ...args: never[]): unknown {
    return (this.reader[name] as (...args: never[]) => unknown).apply(this.reader, args)
  }
  Object.defineProperty(ReaderHolder.prototype, name, { value, writable: true, configurable: true })
}

export class SharedEngine
  extends (ReaderHolder as new () => ReaderHolder & DecisionEngine)
  implements Engine
{
  writer: SharedIndexWriter

  /** Creates an engine with these facts. */
  static with(facts: Iterable<Change>): SharedEngine {
    const engine = new SharedEngine()
    engine.apply(facts)
    return engine
  }

  constructor({ secrets = SECRETS, lockEveryRead = false, ...rest }: SharedEngineOptions = {}) {
    super()
    this.writer = new SharedIndexWriter({ threadId: 1, secrets, ...rest })
    this.reader = new SharedIndexReader(this.writer.handle, { threadId: 2, lockEveryRead })
  }

  apply(changes: Iterable<Change>): void {
    this.writer.apply(changes)
  }
}

/** Collects after every commit, so that numbers and blocks are reused as soon as possible. */
export class CollectingEngine extends SharedEngine {
  override apply(changes: Iterable<Change>): void {
    super.apply(changes)
    while (this.writer.collect(1_000));
  }
}

/** Creates a writer from a saved index, as if it had been read from a file. */
export function restoredWriter({ parts, state }: SavedIndex): SharedIndexWriter {
  const bytes = {
    header: parts.header.length,
    graph: parts.graph.length,
    closures: parts.closures.length,
    schema: parts.schema.length,
  }
  const handle = Regions.emptyHandle(bytes)
  const restored = partsOf(handle, bytes)
  for (const part of ['header', 'graph', 'closures', 'schema'] as const) restored[part].set(parts[part])
  const kept = JSON.parse(JSON.stringify(state)) as SavedState
  return SharedIndexWriter.restore({ threadId: 1 }, { handle, state: kept })
}

/** Saves and restores the index after every commit. */
export class SavingEngine extends SharedEngine {
  override apply(changes: Iterable<Change>): void {
    super.apply(changes)
    while (this.writer.collect(1_000));
    this.writer = restoredWriter(this.writer.save()!)
    this.reader = new SharedIndexReader(this.writer.handle, { threadId: 2 })
  }
}

/** Builds the lists of the attribute index after every commit: for some records, or for all. */
export class ListingEngine extends SharedEngine {
  readonly #records: number

  constructor(records: number, options?: SharedEngineOptions) {
    super(options)
    this.#records = records
  }

  override apply(changes: Iterable<Change>): void {
    super.apply(changes)
    if (this.#records < Infinity) this.writer.buildLists(this.#records)
    else while (this.writer.buildLists(1_000));
  }
}

/** Saves and restores the index after every commit, and rebuilds the lists of its attribute index. */
export class SavingListingEngine extends SavingEngine {
  override apply(changes: Iterable<Change>): void {
    super.apply(changes)
    while (this.writer.buildLists(1_000));
  }
}

/** Precomputes closures after every commit, with a limited amount of work. */
export class PrecomputingEngine extends SharedEngine {
  readonly #work: number

  constructor(work: number) {
    super()
    this.#work = work
  }

  override apply(changes: Iterable<Change>): void {
    super.apply(changes)
    this.writer.precompute(this.#work)
  }
}
