/** Runs the jobs of one HTTP thread on a thread of the pool, on the indexes that are passed with the jobs. */
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { searchWith } from '#decisions/search-job.ts'
import { readWith } from '#decisions/sliced-job.ts'
import { type PauseData, SharedPause } from '#scheduling/shared-pause.ts'
import { READ_MS_MAX, ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import { decidePart, isOver, type PoolAnswer, type PoolJob } from '#threads/pool/pool-jobs.ts'
import { failed, ReaderCache } from '#composition/process/reader-cache.ts'

export class PoolWork {
  readonly #readers = new ReaderCache()
  readonly #pause: SharedPause
  readonly #sliced: ThreadScheduler

  constructor({ pauseCell }: PauseData) {
    this.#pause = new SharedPause(pauseCell)
    this.#sliced = new ThreadScheduler(new TimeBudget('pool'), this.#pause.note)
  }

  work(job: PoolJob): PoolAnswer<unknown> | Promise<PoolAnswer<unknown>> {
    if (job.kind === 'let-go') return this.#readers.letGo()
    if (job.kind === 'read') return this.#readInSlices(job)
    try {
      return { value: this.#pause.during(() => this.#answerOf(job)) }
    } catch (error) {
      return failed(error)
    }
  }

  /** Runs a read in slices, between which other jobs that have arrived can start. */
  async #readInSlices({ index, read, over }: PoolJob & { kind: 'read' }): Promise<PoolAnswer<unknown>> {
    try {
      const work = readWith(this.#readers.of(index), read)
      const waiting = {
        get isGone() {
          return isOver(over)
        },
      }
      return moved(await this.#sliced.run(index.environmentId, { work, waiting, msMax: READ_MS_MAX }))
    } catch (error) {
      return failed(error)
    }
  }

  #answerOf(job: Exclude<PoolJob, { kind: 'let-go' | 'read' }>): unknown {
    if (job.kind === 'warm-up') return null
    const reader = this.#readers.of(job.index)
    if (job.kind === 'search') return searchWith(reader, job.search)
    return decidePart(reader, job.bulk, job.part)
  }
}

/** Transfers bytes instead of copying them. The receiver owns them afterwards. */
function moved(value: unknown): PoolAnswer<unknown> {
  const answer = { value }
  if (!(value instanceof Uint8Array)) return answer
  return move({ [transferableSymbol]: value.buffer, [valueSymbol]: answer } as never) as never
}
