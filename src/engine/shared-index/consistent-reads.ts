/**
 * How a thread reads one state. What it computed counts only if nothing changed meanwhile; else it computes
 * again. A decision takes the lock after some attempts, or to build a closure. Then nothing changes. Work that
 * may take long never holds the lock for more than a few slices: the writer, and with it all other
 * environments, would wait.
 */
import { IndexFault } from '#engine/engine.ts'
import type { IndexHandle } from '#engine/index-handle.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { Regions } from '#engine/shared-index/memory/regions.ts'
import {
  beginRead,
  isUnchanged,
  lock,
  retire,
  retireIfCutShort,
  unlock,
} from '#engine/shared-index/memory/sequence.ts'
import { SchemaView } from '#engine/shared-index/schema/schema-view.ts'
import { schemaHead, unitsOf } from '#engine/shared-index/schema/current-schema.ts'
import { assert, InvariantError } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { type Resumable, runAtOnce } from '#model/resumable.ts'

/** Attempts of work that never takes the lock. Each takes some tenths of a second at the longest. */
const UNLOCKED_ATTEMPTS_MAX = 10
/** Attempts of work in slices, most of which are disturbed long before the end. */
const SLICED_ATTEMPTS_MAX = 30
/** Slices with the lock, a tenth of a millisecond each. */
const LOCKED_SLICES_MAX = 16

export interface ReaderOptions {
  /** Positive, and unique among the threads of the index. */
  readonly threadId: number
  /**
   * For hardware that reorders loads, i.e. all but x86-64 (`sequence.ts`): correct there, and slow.
   * Experimental.
   */
  readonly lockEveryRead?: boolean
}

export class ConsistentReads {
  readonly regions: Regions
  readonly #threadId: number
  readonly #lockEveryRead: boolean
  readonly #onSchema: (schema: SchemaView) => void
  #schemaVersion = 0
  #sequence = 0

  constructor(
    handle: IndexHandle,
    { threadId, lockEveryRead = false }: ReaderOptions,
    onSchema: (schema: SchemaView) => void,
  ) {
    assert(threadId > 0, 'a thread id is positive: 0 means that nobody holds the lock')
    this.regions = Regions.attach(handle)
    this.#threadId = threadId
    this.#lockEveryRead = lockEveryRead
    this.#onSchema = onSchema
  }

  /** The sequence of the state being read. */
  get sequence(): number {
    return this.#sequence
  }

  /** How many of the wanted attempts to make without the lock. */
  attempts(wanted: number): number {
    return this.#lockEveryRead ? 0 : wanted
  }

  /** Begins a read at the current state and updates views and schema. */
  begin(): void {
    for (;;) {
      this.#sequence = beginRead(this.regions.header)
      this.regions.refresh()
      if (this.#hasSchema()) return
    }
  }

  /** Whether the schema is the one that `onSchema` was told of last. No read need have begun. */
  hasLastSchema(): boolean {
    return this.regions.header[L.H_SCHEMA_VERSION] === this.#schemaVersion
  }

  /** Whether all reads since `begin` belong to its state. */
  isValid(): boolean {
    return isUnchanged(this.regions.header, this.#sequence)
  }

  /** Runs `work` with the lock: nothing changes, and closures may be built. */
  locked<T>(work: () => T): T {
    const { header } = this.regions
    lock(header, this.#threadId)
    try {
      this.begin()
      return work()
    } catch (error) {
      retireIfCutShort(header)
      throw this.faultOf(error)
    } finally {
      unlock(header, this.#threadId)
    }
  }

  /**
   * The error to throw for one that was thrown at a consistent state. A broken invariant ends this index only:
   * the thread also decides on others.
   */
  faultOf(error: unknown): unknown {
    if (!(error instanceof InvariantError)) return error
    retire(this.regions.header)
    return new IndexFault(error)
  }

  /** Runs `work` at one state: without the lock for some attempts, then with it. */
  read<T>(attempts: number, work: () => T): T {
    return this.#attempt(this.attempts(attempts), work, () => this.locked(work))
  }

  /**
   * As `read`, for long work that needs no lock. Writers never wait for it. If no state lasts as long as the
   * work, it throws `OVERLOADED`.
   */
  readUnlocked<T>(work: () => T): T {
    if (this.#lockEveryRead) return this.locked(work)
    return this.#attempt(UNLOCKED_ATTEMPTS_MAX, work, () => {
      throw changesTooFast()
    })
  }

  #attempt<T>(attempts: number, work: () => T, otherwise: () => T): T {
    for (let attempt = 0; attempt < attempts; attempt++) {
      this.begin()
      try {
        const result = work()
        if (this.isValid()) return result
      } catch (error) {
        // Torn data can cause any error; only an error at a consistent state is a fault.
        if (this.isValid()) throw this.faultOf(error)
      }
    }
    return otherwise()
  }

  /**
   * As `read`, for work in slices. The work must keep all its state to itself, because others read in between.
   * Each attempt begins anew. After some it gets a few slices with the lock, which is enough for short work.
   */
  *readSliced<T>(attempts: number, begin: () => Resumable<T>): Resumable<T> {
    if (this.#lockEveryRead) return this.locked(() => runAtOnce(begin()))
    const { header } = this.regions
    for (let attempt = 0; attempt < SLICED_ATTEMPTS_MAX; attempt++) {
      if (attempt === attempts) {
        const done = this.locked(() => firstSlices(begin(), LOCKED_SLICES_MAX))
        if (done !== null) return done.answer
        yield
      }
      this.begin()
      const sequence = this.#sequence
      const work = begin()
      try {
        for (;;) {
          const step = work.next()
          if (!isUnchanged(header, sequence)) break
          if (step.done) return step.value
          yield
          if (!isUnchanged(header, sequence)) break
        }
      } catch (error) {
        if (isUnchanged(header, sequence)) throw this.faultOf(error)
      }
    }
    throw changesTooFast()
  }

  /** False if the schema changed while it was being read. */
  #hasSchema(): boolean {
    const version = this.regions.header[L.H_SCHEMA_VERSION]!
    if (version === this.#schemaVersion) return true
    const head = schemaHead(this.regions)
    if (!this.isValid()) return false
    this.#onSchema(new SchemaView(head, unitsOf(this.regions, version)))
    this.#schemaVersion = version
    return true
  }
}

/** The result of the work if it ends within this many slices; else null. */
function firstSlices<T>(work: Resumable<T>, slicesMax: number): { readonly answer: T } | null {
  for (let slice = 0; slice < slicesMax; slice++) {
    const step = work.next()
    if (step.done) return { answer: step.value }
  }
  return null
}

/** The error of what no state lasts long enough for. */
export function changesTooFast(): AuthzError {
  return new AuthzError(
    'OVERLOADED',
    'this environment changes faster than so much of it can be looked at; ask for less at once, or try again shortly',
    { limit: 'list' },
  )
}
