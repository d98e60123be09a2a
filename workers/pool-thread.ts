/** A thread of the pool: does the jobs of one HTTP thread, on the indexes that they bring along. */
import { setImmediate } from 'node:timers/promises'
import { threadId } from 'node:worker_threads'
import { inspect } from 'node:util'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { IndexFault } from '#engine/engine.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import type { SharedIndexHandle } from '#engine/shared-index/regions.ts'
import { AuthzError, errorToData } from '#model/errors.ts'
import { searchWith } from '#services/search-job.ts'
import { readWith } from '#services/sliced-job.ts'
import { nobodyWaits } from '#services/sliced-reads.ts'
import {
  decidePart,
  isGone,
  isOver,
  type JobIndex,
  type PoolAnswer,
  type PoolJob,
} from '#threads/pool-jobs.ts'
import { collectGarbage } from './collect-garbage.ts'

/** Indexes a thread stays attached to, the one used last first: those it forgets can be freed. */
const READERS_MAX = 16
/** How long parts of bulks and others' reads may have to wait for a slice. */
const SLICE_MS = 2
let readers: { readonly index: JobIndex; readonly reader: SharedIndexReader }[] = []

export default function work(job: PoolJob): PoolAnswer<unknown> | Promise<PoolAnswer<unknown>> {
  if (job.kind === 'let-go') return letGo()
  if (job.kind === 'read') return readInSlices(job)
  try {
    return { value: answerOf(job) }
  } catch (error) {
    if (error instanceof AuthzError) return { error: errorToData(error) }
    if (error instanceof IndexFault) return { indexFault: inspect(error) }
    throw error
  }
}

/** Between two slices the loop turns: other jobs that have come are begun. */
async function readInSlices({ index, read, over }: PoolJob & { kind: 'read' }): Promise<PoolAnswer<unknown>> {
  try {
    const reading = readWith(readerOf(index), read)
    for (;;) {
      if (isOver(over)) throw nobodyWaits()
      const until = performance.now() + SLICE_MS
      do {
        const step = reading.next()
        if (step.done) return moved(step.value)
      } while (performance.now() < until)
      await setImmediate()
    }
  } catch (error) {
    if (error instanceof AuthzError) return { error: errorToData(error) }
    if (error instanceof IndexFault) return { indexFault: inspect(error) }
    throw error
  }
}

/** Bytes are not copied: they are the receiver's then. */
function moved(value: unknown): PoolAnswer<unknown> {
  const answer = { value }
  if (!(value instanceof Uint8Array)) return answer
  return move({ [transferableSymbol]: value.buffer, [valueSymbol]: answer } as never) as never
}

function answerOf(job: Exclude<PoolJob, { kind: 'let-go' | 'read' }>): unknown {
  if (job.kind === 'warm-up') return null
  const reader = readerOf(job.index)
  if (job.kind === 'search') return searchWith(reader, job.search)
  decidePart(reader, job.bulk, job.part)
  return null
}

function readerOf(index: JobIndex): SharedIndexReader {
  const place = readers.findIndex(({ index: known }) => known.environmentId === index.environmentId)
  let [entry] = place < 0 ? [] : readers.splice(place, 1)
  if (entry?.index.attachment !== index.attachment) {
    const lockEveryRead = process.arch !== 'x64'
    // As in an HTTP thread: 0 in a lock word means that nobody holds it.
    const options = { threadId: threadId + 1, lockEveryRead }
    entry = { index, reader: new SharedIndexReader(index.handle as SharedIndexHandle, options) }
  }
  readers.unshift(entry!)
  readers.length = Math.min(readers.length, READERS_MAX)
  return entry!.reader
}

/**
 * Memory of an index that was replaced or taken back is free when no thread holds it. Shared memory does not count for when
 * V8 collects garbage, and a thread that sleeps never does: hence it is told to.
 */
async function letGo(): Promise<PoolAnswer<null>> {
  const live = readers.filter(({ index }) => !isGone(index))
  if (live.length < readers.length) {
    readers = live
    // Jobs that came together with this one are held by Piscina until they are answered.
    await setImmediate()
    collectGarbage('regular')
  }
  return { value: null }
}
