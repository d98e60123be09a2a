/**
 * How a thread reads: what it computes counts only if nothing changed meanwhile, else it is computed again. After some
 * attempts, or when a closure has to be built, a decision takes the lock, and then nothing changes. What may take long never does,
 * but for a few slices: the thread that writes would wait for it, and with it all other environments.
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

/** How often work without the lock is begun: some tenths of a second each, where it is as long as can be. */
const UNLOCKED_ATTEMPTS_MAX = 10
/** The same in slices: most are disturbed long before their end. */
const SLICED_ATTEMPTS_MAX = 30
/** A tenth of a millisecond each. */
const LOCKED_SLICES_MAX = 16

export interface ReaderOptions {
  /** Positive and no other thread's. */
  readonly threadId: number
  /** For hardware that reorders loads, i.e. anything but x86-64 (`sequence.ts`): right there, and slow. Experimental. */
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

  /** How often to try without the lock, where so many attempts are worth it. */
  attempts(wanted: number): number {
    return this.#lockEveryRead ? 0 : wanted
  }

  /** Begins a read at the current state; views and schema are up to date after it. */
  begin(): void {
    for (;;) {
      this.#sequence = beginRead(this.regions.header)
      this.regions.refresh()
      if (this.#hasSchema()) return
    }
  }

  /** Whether all that was read since `begin` belongs to its state. */
  isValid(): boolean {
    return isUnchanged(this.regions.header, this.#sequence)
  }

  /** Runs `work` with the lock: nobody writes, closures may be built. */
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
   * What to throw for what was thrown at one state. An invariant that is broken there is none of the thread's, which others
   * decide in as well: the index ends with it, and nothing else.
   */
  faultOf(error: unknown): unknown {
    if (!(error instanceof InvariantError)) return error
    retire(this.regions.header)
    return new IndexFault(error)
  }

  /** Runs `work` at one state: optimistically for so many attempts, then with the lock. */
  read<T>(attempts: number, work: () => T): T {
    return this.#attempt(this.attempts(attempts), work, () => this.locked(work))
  }

  /**
   * The same for work that may take long and needs no lock. Writers, who keep others waiting, never wait for it: where nothing lasts
   * as long as it takes, it is given up with `OVERLOADED`.
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
        // Torn data may lead anywhere; only what fails at one state is a fault.
        if (this.isValid()) throw this.faultOf(error)
      }
    }
    return otherwise()
  }

  /**
   * The same for work in slices, which must keep to itself whatever it goes on with: others may read in between. Each
   * attempt begins anew. After some it is given a few slices with the lock, which is enough for what is short.
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

/** What work comes to in so many slices; null: it takes more. */
function firstSlices<T>(work: Resumable<T>, slicesMax: number): { readonly answer: T } | null {
  for (let slice = 0; slice < slicesMax; slice++) {
    const step = work.next()
    if (step.done) return { answer: step.value }
  }
  return null
}

function changesTooFast(): AuthzError {
  return new AuthzError(
    'OVERLOADED',
    'this environment changes faster than so much of it can be looked at; ask for less at once, or try again shortly',
    { limit: 'list' },
  )
}
