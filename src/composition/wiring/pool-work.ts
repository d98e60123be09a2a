/** Runs the jobs of one HTTP thread on a thread of the pool, on the indexes that are passed with the jobs. */
import { setImmediate } from 'node:timers/promises'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { searchWith } from '#decisions/search-job.ts'
import { readWith } from '#decisions/sliced-job.ts'
import { ReadTime } from '#scheduling/read-time.ts'
import { nobodyWaits } from '#scheduling/sliced-reads.ts'
import { decidePart, isOver, type PoolAnswer, type PoolJob } from '#threads/pool/pool-jobs.ts'
import { failed, ReaderCache } from '#composition/process/reader-cache.ts'

/** Duration of a slice. Parts of bulk requests and other reads wait for at most one slice. */
const SLICE_MS = 2

export class PoolWork {
  readonly #readers = new ReaderCache()

  work(job: PoolJob): PoolAnswer<unknown> | Promise<PoolAnswer<unknown>> {
    if (job.kind === 'let-go') return this.#readers.letGo()
    if (job.kind === 'read') return this.#readInSlices(job)
    try {
      return { value: this.#answerOf(job) }
    } catch (error) {
      return failed(error)
    }
  }

  /**
   * Runs a read in slices. The event loop runs between two slices, so that other jobs that have arrived can
   * start.
   */
  async #readInSlices({ index, read, over }: PoolJob & { kind: 'read' }): Promise<PoolAnswer<unknown>> {
    try {
      const reading = readWith(this.#readers.of(index), read)
      const time = new ReadTime()
      for (;;) {
        if (isOver(over)) throw nobodyWaits()
        const start = performance.now()
        do {
          const step = reading.next()
          if (step.done) return moved(step.value)
        } while (performance.now() < start + SLICE_MS)
        time.spend(performance.now() - start)
        await setImmediate()
      }
    } catch (error) {
      return failed(error)
    }
  }

  #answerOf(job: Exclude<PoolJob, { kind: 'let-go' | 'read' }>): unknown {
    if (job.kind === 'warm-up') return null
    const reader = this.#readers.of(job.index)
    if (job.kind === 'search') return searchWith(reader, job.search)
    decidePart(reader, job.bulk, job.part)
    return null
  }
}

/** Transfers bytes instead of copying them. The receiver owns them afterwards. */
function moved(value: unknown): PoolAnswer<unknown> {
  const answer = { value }
  if (!(value instanceof Uint8Array)) return answer
  return move({ [transferableSymbol]: value.buffer, [valueSymbol]: answer } as never) as never
}
