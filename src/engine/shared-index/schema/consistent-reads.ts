/**
 * Ensures that a thread reads a single state. A result is valid only if nothing changed while it was
 * computed; otherwise it is computed again. After some attempts, a decision takes the lock, which prevents
 * changes. It also takes the lock if it has to build a closure. Work that can take long holds the lock for a
 * few slices at most. Otherwise it would block the writer, and thereby all other environments.
 */
import { IndexFault } from '#engine/engine.ts'
import type { IndexHandle } from '#engine/index-handle.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import {
  beginRead,
  isUnchanged,
  lock,
  retire,
  retireIfCutShort,
  unlock,
} from '#engine/shared-index/memory/sequence.ts'
import { SchemaView } from './schema-view.ts'
import { schemaHead, unitsOf } from './current-schema.ts'
import { assert, InvariantError } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { type Resumable, runAtOnce } from '#scheduling/resumable.ts'

/**
 * Maximum number of attempts for work that never takes the lock. An attempt takes some tenths of a second at
 * most.
 */
const UNLOCKED_ATTEMPTS_MAX = 10
/** Maximum number of attempts for sliced work. A change interrupts most attempts long before their end. */
const SLICED_ATTEMPTS_MAX = 30
/** Maximum number of slices with the lock. Each takes a tenth of a millisecond. */
const LOCKED_SLICES_MAX = 16

export interface ReaderOptions {
  /** A positive number that no other thread of the index has. */
  readonly threadId: number
  /**
   * Makes every read take the lock. Needed on processors that reorder loads, which are all except x86-64
   * (`sequence.ts`). Results are correct, but reads are slow. Experimental.
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
    assert(threadId > 0, 'a thread id is positive: 0 means that no thread holds the lock')
    this.regions = Regions.attach(handle)
    this.#threadId = threadId
    this.#lockEveryRead = lockEveryRead
    this.#onSchema = onSchema
  }

  /** The sequence of the state that is being read. */
  get sequence(): number {
    return this.#sequence
  }

  /** Returns the number of attempts to make without the lock, if `wanted` attempts are requested. */
  attempts(wanted: number): number {
    return this.#lockEveryRead ? 0 : wanted
  }

  /** Begins a read on the current state. Updates the views of the regions and the schema. */
  begin(): void {
    for (;;) {
      this.#sequence = beginRead(this.regions.header)
      this.regions.refresh()
      if (this.#hasSchema()) return
    }
  }

  /**
   * Returns whether the current schema is the one that was last passed to `onSchema`. Can be called outside a
   * read.
   */
  hasLastSchema(): boolean {
    return this.regions.header[L.H_SCHEMA_VERSION] === this.#schemaVersion
  }

  /** Returns whether all reads since `begin` belong to the state on which it began. */
  isValid(): boolean {
    return isUnchanged(this.regions.header, this.#sequence)
  }

  /** Runs `work` with the lock. During `work`, nothing changes, and closures can be built. */
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
   * Returns the error to throw for an exception that occurred on a consistent state. A broken invariant
   * retires only this index, because the thread also makes decisions on other indexes.
   */
  faultOf(error: unknown): unknown {
    if (!(error instanceof InvariantError)) return error
    retire(this.regions.header)
    return new IndexFault(error)
  }

  /**
   * Runs `work` on one state: makes up to `attempts` attempts without the lock, and then one with the lock.
   */
  read<T>(attempts: number, work: () => T): T {
    return this.#attempt(this.attempts(attempts), work, () => this.locked(work))
  }

  /**
   * Like `read`, for long work that does not need the lock. Writers never wait for it. Throws `OVERLOADED` if
   * the state changed before the end of the work in every attempt.
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
        // Torn data can cause any error. Therefore an error counts only if it occurred on a consistent state.
        if (this.isValid()) throw this.faultOf(error)
      }
    }
    return otherwise()
  }

  /**
   * Like `read`, for sliced work. The work needs its own objects, because other reads run between its slices.
   * Each attempt starts from the beginning. After some attempts, the work gets a few slices with the lock.
   * These are sufficient for short work.
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

  /** Reads the schema if it has changed. Returns false if it changed again while it was being read. */
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

/** Runs up to `slicesMax` slices of the work. Returns its result if it is complete, otherwise null. */
function firstSlices<T>(work: Resumable<T>, slicesMax: number): { readonly answer: T } | null {
  for (let slice = 0; slice < slicesMax; slice++) {
    const step = work.next()
    if (step.done) return { answer: step.value }
  }
  return null
}

/** Creates the error for work that takes longer than any state lasts. */
export function changesTooFast(): AuthzError {
  return new AuthzError(
    'OVERLOADED',
    'this environment changes too fast for a read of this size; request less at a time, or try again shortly',
    { limit: 'list' },
  )
}
