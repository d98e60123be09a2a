/**
 * The shared indexes as the main thread holds them: one writer an environment, read by every HTTP thread in place. A
 * change is visible to all of them when `apply` returns, so nothing has to be sent or acknowledged for it; only a fresh
 * index is handed to the threads, which attach to its memory.
 */
import type { ChangeSink } from '#engine/engine.ts'
import { assert } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
import type { Revision } from '#model/revision.ts'
import type { IndexHost } from '#services/index-host.ts'
import { createProgress, type ProgressHandle, publishedSequence, publishProgress } from './index-progress.ts'

export interface IndexBytes {
  readonly header: number
  readonly graph: number
  readonly closures: number
  readonly schema: number
}

export interface IndexFigures {
  readonly assignments: number
  readonly tuples: number
  /** Of everything else: tenants, users, instances and their containers. */
  readonly records: number
  readonly closuresBuilt: number
  readonly containersVoided: number
  readonly tenantsVoided: number
}

/** The writing side of an index, and what a thread needs to read it. */
export interface IndexWriter extends ChangeSink {
  readonly handle: unknown
  /** What stands in the index, and what was built and voided in it. */
  figures(): IndexFigures
  /** Bytes of each region. */
  bytes(): IndexBytes
  /** Collects what removals left, so many short steps of it. False when nothing is left. */
  collect(steps: number): boolean
  /** Builds closures ahead of the questions, about so many records' worth of work. False when nothing is left. */
  precompute(work: number): boolean
}

/** What a thread needs to decide on an index: the index, and how far it is. */
export interface IndexHandle {
  readonly index: unknown
  readonly progress: ProgressHandle
}

interface Loaded {
  readonly writer: IndexWriter
  readonly progress: ProgressHandle
}

/** Changes applied in one section while loading, before the event loop gets a turn. */
const LOAD_PART_CHANGES = 1_000
/** Records' worth of closures built in one turn: about half a millisecond. */
const PRECOMPUTED_A_TURN = 2_000

export class SharedIndexes implements IndexHost {
  readonly #createWriter: () => IndexWriter
  readonly #attach: (environmentId: string, handle: IndexHandle) => Promise<void>
  readonly #detach: (environmentId: string) => Promise<void>
  readonly #loaded = new Map<string, Loaded>()
  readonly #collecting = new Set<IndexWriter>()

  /** `attach` hands an index to every thread that decides, `detach` takes it back; they resolve when all have heard. */
  constructor(options: {
    readonly createWriter: () => IndexWriter
    readonly attach: (environmentId: string, handle: IndexHandle) => Promise<void>
    readonly detach: (environmentId: string) => Promise<void>
  }) {
    this.#createWriter = options.createWriter
    this.#attach = options.attach
    this.#detach = options.detach
  }

  async load(environmentId: string, changes: Iterable<Change>, revision: Revision): Promise<void> {
    const writer = this.#createWriter()
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
    const progress = createProgress(revision)
    await this.#attach(environmentId, { index: writer.handle, progress })
    this.#loaded.set(environmentId, { writer, progress })
  }

  async apply(environmentId: string, changes: readonly Change[], revision: Revision): Promise<void> {
    const loaded = this.#loaded.get(environmentId)
    assert(loaded, 'changes come for an environment that has been loaded')
    const { writer, progress } = loaded
    writer.apply(changes)
    publishProgress(progress, revision.sequence)
    if (!this.#collecting.has(writer)) void this.#collect(writer)
  }

  /** An environment's index as it is now; null while there is none. */
  look(environmentId: string): (IndexFigures & { sequence: number; bytes: IndexBytes }) | null {
    const loaded = this.#loaded.get(environmentId)
    if (!loaded) return null
    const { writer, progress } = loaded
    return { ...writer.figures(), sequence: publishedSequence(progress), bytes: writer.bytes() }
  }

  /** Lets go of an environment's index, for which no more changes come. Safe to repeat. */
  async remove(environmentId: string): Promise<void> {
    await this.#detach(environmentId)
    this.#loaded.delete(environmentId)
  }

  /** In idle moments, a step a turn: requests and commits go first. */
  async #collect(writer: IndexWriter): Promise<void> {
    this.#collecting.add(writer)
    do await nextTurn()
    while (writer.collect(1) || writer.precompute(PRECOMPUTED_A_TURN))
    this.#collecting.delete(writer)
  }
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
