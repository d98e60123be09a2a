/**
 * The threads of a Piscina pool: started when there is something to do, watched, started anew when one has died. What they
 * do, and in which order, is up to their owner (`job-pool.ts`, `body-pool.ts`).
 */
import type { Transferable, Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { AuthzError, errorFromData, errorToData } from '#model/errors.ts'
import type { PoolAnswer, ThreadJob } from './pool-jobs.ts'
import { type PoolThreadEvents, workerFlags } from './pool-options.ts'

/** After a failed start, the next one is not tried sooner. */
const WARM_UP_PAUSE_MS = 1_000

export interface PoolThreadsOptions extends PoolThreadEvents {
  /** The module that does the jobs. */
  readonly entry: URL
  readonly threads: number
  /** Jobs that a thread takes at once. */
  readonly jobsAhead: number
  /** What the threads know from the start. */
  readonly workerData?: unknown
  /** Beyond it V8 collects garbage at any price, and then ends the thread. Absent: its own measure. */
  readonly heapMebibytesMax?: number
  /** All threads have started, or one of them is done with a job. */
  onFree(): void
  /** A thread has ended. Whether and when others start is not known: Piscina does not tell of threads that cannot. */
  onCold(): void
}

export class PoolThreads<Job> {
  readonly #options: PoolThreadsOptions
  readonly #pool: Piscina<Job | ThreadJob, PoolAnswer<unknown>>
  readonly #watched = new WeakSet<object>()
  /** Jobs in the pool: never more than its threads take, so that what waits, waits with the owner. */
  #running = 0
  /** Time its threads have worked, all together, up to that moment. */
  #busyMs = 0
  #busyUntil = performance.now()
  #isWarm = false
  /** Of the threads that are being started. */
  #warmingUp: AbortController | null = null
  #warmUpNotBefore = 0
  #isClosed = false

  constructor(options: PoolThreadsOptions) {
    this.#options = options
    this.#pool = new Piscina({
      filename: options.entry.href,
      // Piscina tries `require` before `import`, and a thread that is ended while it requires a module ends the process:
      // V8 aborts ("IsGraphAsync") where Node asks it about modules that were not instantiated.
      execArgv: [...workerFlags(), '--no-experimental-require-module'],
      workerData: options.workerData,
      ...(options.heapMebibytesMax === undefined
        ? {}
        : { resourceLimits: { maxOldGenerationSizeMb: options.heapMebibytesMax } }),
      minThreads: 0,
      maxThreads: options.threads,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: options.jobsAhead,
      // An idle thread sleeps in `Atomics.wait` and runs no event loop: quickest to wake, and it need not hear of anything
      // between jobs, since each brings its index along (and `letGo` is a job).
      atomics: 'sync',
    })
    this.#pool.on('error', error => {
      // The end of a thread that had started is seen as such, below; what waits for one that could not, waits for ever.
      this.#warmingUp?.abort(error)
    })
    this.#pool.on('workerCreate', () => this.#watchThreads())
  }

  /** Whether all have started; until then none is given anything. */
  get isWarm(): boolean {
    return this.#isWarm
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Jobs that they have been given and are not done with. */
  get running(): number {
    return this.#running
  }

  /** Those that have not ended; some may still be starting. */
  get list(): readonly Worker[] {
    return this.#pool.threads
  }

  /** The time they have worked until now, all together. */
  busyMs(): number {
    this.#changeRunning(0)
    return this.#busyMs
  }

  /**
   * Resolves with what the job comes to. Rejects with the `AuthzError` it ended in, with `OVERLOADED` when its thread has died or
   * the pool was closed, and with a fault that is reported for an index that cannot be right. What is transferred is theirs then.
   */
  async run(job: Job, transferList: Transferable[] = []): Promise<unknown> {
    this.#changeRunning(1)
    try {
      const answer = await this.#pool.run(job, { transferList: transferList as never })
      if ('error' in answer) throw errorFromData(answer.error)
      if ('indexFault' in answer) {
        this.#options.onIndexFault(answer.indexFault)
        throw errorFromData({ ...errorToData(null), isReported: true })
      }
      return answer.value
    } catch (error) {
      // What the job itself found. Anything else is of its thread, which was ended on purpose or died.
      if (error instanceof AuthzError) throw error
      throw this.#isClosed ? shuttingDown() : new AuthzError('OVERLOADED', THREAD_ENDED)
    } finally {
      this.#changeRunning(-1)
      queueMicrotask(() => this.#options.onFree())
    }
  }

  /** An index was replaced or taken back: has the threads let go of it, which they would only at their next job. */
  letGo(): void {
    if (this.#pool.threads.length === 0 || this.#isClosed) return
    // Only so many are sure to reach every thread, however much each has to do.
    const jobs = Array.from({ length: this.#options.threads * this.#options.jobsAhead }, () => {
      return this.#pool.run({ kind: 'let-go' })
    })
    void Promise.allSettled(jobs)
  }

  /** Starts those that have not started. False: that failed a moment ago, or the pool is closed. */
  warmUp(): boolean {
    if (this.#warmingUp !== null) return true
    if (this.#isClosed || performance.now() < this.#warmUpNotBefore) return false
    const warmingUp = new AbortController()
    this.#warmingUp = warmingUp
    const { signal } = warmingUp
    // A thread that the system refuses is thrown at once, and is no defect of the request that asked for it.
    const starts = Array.from({ length: this.#options.threads }, async () =>
      this.#pool.run({ kind: 'warm-up' }, { signal }),
    )
    for (const thread of this.#pool.threads) {
      if (this.#watched.has(thread)) continue
      // Piscina does not tell of one that ends by itself before it has started.
      thread.once('exit', code => {
        if (this.#warmingUp !== warmingUp) return
        warmingUp.abort(new Error(`a thread of the pool ended with code ${code} before all had started`))
      })
    }
    Promise.all(starts)
      .then(
        () => {
          this.#isWarm = true
        },
        (error: unknown) => {
          // A job that comes later tries again.
          this.#warmUpNotBefore = performance.now() + WARM_UP_PAUSE_MS
          if (!this.#isClosed) this.#options.onStartFailure(signal.aborted ? signal.reason : error)
        },
      )
      .finally(() => {
        this.#warmingUp = null
        if (this.#isWarm) this.#options.onFree()
      })
    return true
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool.destroy()
  }

  #changeRunning(change: 1 | 0 | -1): void {
    const now = performance.now()
    this.#busyMs += this.#running * (now - this.#busyUntil)
    this.#busyUntil = now
    this.#running += change
  }

  #watchThreads(): void {
    for (const thread of this.#pool.threads) {
      if (this.#watched.has(thread)) continue
      this.#watched.add(thread)
      // It is gone from the thread once it has ended.
      const { threadId } = thread
      let reason: Error = new Error('a thread of the pool ended by itself')
      thread.once('error', error => {
        reason = error as Error
      })
      thread.once('exit', () => {
        if (this.#isClosed) return
        this.#isWarm = false
        this.#options.onThreadEnd(threadId, reason)
        setImmediate(() => this.#options.onCold())
      })
    }
  }
}

/** How much pools have to do, and have done. */
export interface PoolFigures {
  readonly jobs: number
  readonly threads: number
  readonly busySeconds: number
}

export function sumOf(one: PoolFigures, other: PoolFigures): PoolFigures {
  return {
    jobs: one.jobs + other.jobs,
    threads: one.threads + other.threads,
    busySeconds: one.busySeconds + other.busySeconds,
  }
}

const THREAD_ENDED = 'the thread that was at this has ended; try again'

export function shuttingDown(): AuthzError {
  return new AuthzError('OVERLOADED', 'this node is stopping; try another')
}
