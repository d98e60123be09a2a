/**
 * What a thread of a pool holds between jobs: readers of the indexes that jobs bring along. Also how the thread reports a
 * job that failed.
 */
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import { threadId } from 'node:worker_threads'
import { IndexFault } from '#engine/engine.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { AuthzError, errorToData } from '#model/errors.ts'
import { isGone, type JobIndex, type PoolAnswer } from '#threads/pool/pool-jobs.ts'
import { collectGarbage } from './collect-garbage.ts'

/** Indexes to which a thread stays attached, the last used first. Indexes that it forgets can be freed. */
const READERS_MAX = 16

export class HeldReaders {
  #readers: { readonly index: JobIndex; readonly reader: SharedIndexReader }[] = []

  /** The reader of an index. Makes one if there is none yet. */
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
   * Memory of an index that was replaced or taken back is freed when no thread holds it any more. V8 does not count shared
   * memory when it decides whether to collect, and a sleeping thread never collects: so the thread is told to.
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

/** The error of a job in the form that crosses threads. Throws the error again when the thread itself is at fault. */
export function failed(error: unknown): PoolAnswer<never> {
  if (error instanceof AuthzError) return { error: errorToData(error) }
  if (error instanceof IndexFault) return { indexFault: inspect(error) }
  throw error
}
