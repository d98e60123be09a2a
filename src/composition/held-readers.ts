/** What a thread of a pool holds between jobs: readers of the indexes that jobs bring along, and how it says what a job ended in. */
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import { threadId } from 'node:worker_threads'
import { IndexFault } from '#engine/engine.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { AuthzError, errorToData } from '#model/errors.ts'
import { isGone, type JobIndex, type PoolAnswer } from '#threads/pool/pool-jobs.ts'
import { collectGarbage } from './collect-garbage.ts'

/** Indexes a thread stays attached to, the one used last first: those it forgets can be freed. */
const READERS_MAX = 16

export class HeldReaders {
  #readers: { readonly index: JobIndex; readonly reader: SharedIndexReader }[] = []

  /** The reader of an index, made where there is none yet. */
  of(index: JobIndex): SharedIndexReader {
    const readers = this.#readers
    const place = readers.findIndex(({ index: known }) => known.environmentId === index.environmentId)
    let [entry] = place < 0 ? [] : readers.splice(place, 1)
    if (entry?.index.attachment !== index.attachment) {
      const lockEveryRead = process.arch !== 'x64'
      // As in an HTTP thread: 0 in a lock word means that nobody holds it.
      const options = { threadId: threadId + 1, lockEveryRead }
      entry = { index, reader: new SharedIndexReader(index.handle, options) }
    }
    readers.unshift(entry!)
    readers.length = Math.min(readers.length, READERS_MAX)
    return entry!.reader
  }

  /**
   * Memory of an index that was replaced or taken back is free when no thread holds it. Shared memory does not count for when
   * V8 collects garbage, and a thread that sleeps never does: hence it is told to.
   */
  async letGo(): Promise<PoolAnswer<null>> {
    const live = this.#readers.filter(({ index }) => !isGone(index))
    if (live.length < this.#readers.length) {
      this.#readers = live
      // Jobs that came together with this one are held by Piscina until they are answered.
      await setImmediate()
      collectGarbage('regular')
    }
    return { value: null }
  }
}

/** What a job threw, as it crosses threads. Throws on what is a fault of the thread. */
export function failed(error: unknown): PoolAnswer<never> {
  if (error instanceof AuthzError) return { error: errorToData(error) }
  if (error instanceof IndexFault) return { indexFault: inspect(error) }
  throw error
}
