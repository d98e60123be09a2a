/**
 * Caches what a thread of a pool keeps between jobs: readers of the indexes that are passed with the jobs.
 * Also converts the error of a failed job.
 */
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import { threadId } from 'node:worker_threads'
import { IndexFault } from '#engine/engine.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { AuthzError, errorToData } from '#model/errors.ts'
import { isGone, type JobIndex, type PoolAnswer } from '#threads/pool/pool-jobs.ts'
import { collectGarbage } from './collect-garbage.ts'

/**
 * Maximum number of indexes to which a thread stays attached, most recently used first. Indexes that it drops
 * can be freed.
 */
const READERS_MAX = 16

export class ReaderCache {
  #readers: { readonly index: JobIndex; readonly reader: SharedIndexReader }[] = []

  /** Returns the reader of an index. Creates it if necessary. */
  of(index: JobIndex): SharedIndexReader {
    const readers = this.#readers
    const place = readers.findIndex(({ index: known }) => known.environmentId === index.environmentId)
    let [entry] = place < 0 ? [] : readers.splice(place, 1)
    if (entry?.index.attachment !== index.attachment) {
      const lockEveryRead = process.arch !== 'x64'
      // Ids start at 1, as in an HTTP thread: 0 in a lock word means that no thread holds the lock.
      const options = { threadId: threadId + 1, lockEveryRead }
      entry = { index, reader: new SharedIndexReader(index.handle, options) }
    }
    readers.unshift(entry!)
    readers.length = Math.min(readers.length, READERS_MAX)
    return entry!.reader
  }

  /**
   * Drops readers of indexes that were replaced or removed. The memory of such an index is freed when no
   * thread references it. V8 ignores shared memory when it schedules collections, and an idle thread never
   * collects. Therefore this method runs the collector explicitly.
   */
  async letGo(): Promise<PoolAnswer<null>> {
    const live = this.#readers.filter(({ index }) => !isGone(index))
    if (live.length < this.#readers.length) {
      this.#readers = live
      // Piscina references jobs that arrived together with this one until they are completed.
      await setImmediate()
      collectGarbage('regular')
    }
    return { value: null }
  }
}

/**
 * Returns the error of a job in a form that can be sent to another thread. Throws the error again if the
 * thread itself failed.
 */
export function failed(error: unknown): PoolAnswer<never> {
  if (error instanceof AuthzError) return { error: errorToData(error) }
  if (error instanceof IndexFault) return { indexFault: inspect(error) }
  throw error
}
