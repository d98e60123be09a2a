/**
 * The threads of a Piscina pool: started when there is something to do, watched, and started anew when one has died. Their
 * owner (`job-pool.ts`, `body-pool.ts`) decides what they do, and in which order.
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
  /** Jobs that a thread takes ahead. */
  readonly jobsAhead: number
  /** Data that the threads have from the start. */
  readonly workerData?: unknown
  /**
   * Ceiling of a thread's heap: above it V8 collects garbage at any price, and then ends the thread. Absent: V8's own
   * ceiling.
   */
  readonly heapMebibytesMax?: number
  /** All threads have started, or a thread has finished a job. */
  onFree(): void
  /** A thread has ended. Piscina does not report whether and when another starts. */
  onCold(): void
}

export class PoolThreads<Job> {
  readonly #options: PoolThreadsOptions
  readonly #pool: Piscina<Job | ThreadJob, PoolAnswer<unknown>>
  readonly #watched = new WeakSet<object>()
  /** Jobs in the pool. Never more than its threads take, so jobs that wait, wait with the owner. */
  #running = 0
  /** Milliseconds that the ended work of all threads took together. */
  #busyMs = 0
  #busyUntil = performance.now()
  #isWarm = false
  /** Aborts the start that is under way; null: no start is. */
  #warmingUp: AbortController | null = null
  #warmUpNotBefore = 0
  #isClosed = false

  constructor(options: PoolThreadsOptions) {
    this.#options = options
    this.#pool = new Piscina({
      filename: options.entry.href,
      // Piscina tries `require` before `import`. A thread that is ended while it requires a module ends the process: V8
      // aborts ("IsGraphAsync") when Node asks it about modules that were not instantiated.
      execArgv: [...workerFlags(), '--no-experimental-require-module'],
      workerData: options.workerData,
      ...(options.heapMebibytesMax === undefined
        ? {}
        : { resourceLimits: { maxOldGenerationSizeMb: options.heapMebibytesMax } }),
      minThreads: 0,
      maxThreads: options.threads,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: options.jobsAhead,
      // An idle thread sleeps in `Atomics.wait` and runs no event loop. That wakes it fastest. It need not hear of anything
      // between jobs, since each job brings its index along (and `letGo` is a job).
      atomics: 'sync',
    })
    this.#pool.on('error', error => {
      // The end of a thread that had started is noticed below. A job for a thread that could not start would wait for ever.
      this.#warmingUp?.abort(error)
    })
    this.#pool.on('workerCreate', () => this.#watchThreads())
  }

  /** Whether all threads have started. Until then none is given a job. */
  get isWarm(): boolean {
    return this.#isWarm
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Jobs that the threads have been given and have not finished. */
  get running(): number {
    return this.#running
  }

  /** Threads that have not ended; some may still be starting. */
  get list(): readonly Worker[] {
    return this.#pool.threads
  }

  /** Milliseconds that all threads have worked until now, together. */
  busyMs(): number {
    this.#changeRunning(0)
    return this.#busyMs
  }

  /**
   * Resolves with the result of the job. Rejects with the `AuthzError` the job threw, with `OVERLOADED` when its thread has
   * died or the pool was closed, and with a fault, already reported, for a broken index. Transferred memory belongs to the
   * pool thread afterwards.
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
      // An `AuthzError` comes from the job itself. Any other error comes from its thread, which was ended on purpose or
      // died.
      if (error instanceof AuthzError) throw error
      throw this.#isClosed ? shuttingDown() : new AuthzError('OVERLOADED', THREAD_ENDED)
    } finally {
      this.#changeRunning(-1)
      queueMicrotask(() => this.#options.onFree())
    }
  }

  /**
   * An index was replaced or taken back: has the threads release it now. By themselves they would do so only at their next
   * job.
   */
  letGo(): void {
    if (this.#pool.threads.length === 0 || this.#isClosed) return
    // Only this many jobs are sure to reach every thread, however busy each is.
    const jobs = Array.from({ length: this.#options.threads * this.#options.jobsAhead }, () => {
      return this.#pool.run({ kind: 'let-go' })
    })
    void Promise.allSettled(jobs)
  }

  /** Starts the threads that have not started. False: a start failed a moment ago, or the pool is closed. */
  warmUp(): boolean {
    if (this.#warmingUp !== null) return true
    if (this.#isClosed || performance.now() < this.#warmUpNotBefore) return false
    const warmingUp = new AbortController()
    this.#warmingUp = warmingUp
    const { signal } = warmingUp
    // The system can refuse a thread, which throws at once. That is no defect of the request that needed the thread.
    const starts = Array.from({ length: this.#options.threads }, async () =>
      this.#pool.run({ kind: 'warm-up' }, { signal }),
    )
    for (const thread of this.#pool.threads) {
      if (this.#watched.has(thread)) continue
      // Piscina does not report a thread that ends by itself before it has started.
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
          // A later job tries again.
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
      // The id is gone from the `Worker` once the thread has ended.
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

/** Figures of the work of pools: what waits and what was done. */
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
